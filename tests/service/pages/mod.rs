//! The pages for people: `GET /docs`, `GET /market` and their files. The header of each file states its promise. `tests/browser` opens
//! the pages in a browser.

mod files;
mod redirects;
mod responses;

use std::collections::BTreeMap;

use local::Cloud;

use crate::support::{Response, get, in_repository};

pub(crate) const PAGES: [(&str, &str); 2] = [("/docs", "docs.html"), ("/market", "market.html")];

/// The script of the API reference. The script is in a crate, not in a folder.
const REFERENCE_SCRIPT: &str = "scalar.js";

/// A page's placeholder for the folder of its files.
const ASSETS: &str = "{assets}";

/// The texts of the pages' files, by name.
pub(crate) fn sources() -> BTreeMap<String, String> {
    sources_of(&["docs", "market", "vendor"])
}

/// The texts of the files in these folders, by name.
fn sources_of(folders: &[&str]) -> BTreeMap<String, String> {
    let folder = in_repository("functions/page");
    let files = folders.iter().flat_map(|name| std::fs::read_dir(folder.join(name)).unwrap());
    let texts = files
        .map(Result::unwrap)
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read_to_string(file.path()).unwrap()));
    texts.filter(|(name, _)| name != "README.md").collect()
}

/// The folder of the pages' files, as an absolute path: `/assets/HASH`.
pub(crate) async fn assets_folder(cloud: &Cloud) -> String {
    let page = get(cloud, "/market").await.text;
    let (_, rest) = page.split_once("\"assets/").unwrap();
    let (hash, _) = rest.split_once('/').unwrap();
    format!("/assets/{hash}")
}

/// Panics unless the response is a file with exactly these headers, apart from the gateway's headers.
#[track_caller]
pub(crate) fn expect_file(response: &Response, content_type: &str, cache_control: &str, policy: &str) {
    assert_eq!(response.status, 200, "{:.200}", response.text);
    let expected = BTreeMap::from([
        ("cache-control", cache_control),
        ("content-security-policy", policy),
        ("content-type", content_type),
        ("referrer-policy", "no-referrer"),
        ("strict-transport-security", "max-age=31536000"),
        ("x-content-type-options", "nosniff"),
    ]);
    let received = response.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
    let of_gateway = ["content-length", "date", "x-amzn-requestid"];
    let headers: BTreeMap<_, _> = received.filter(|(name, _)| !of_gateway.contains(name)).collect();
    assert_eq!(headers, expected);
}
