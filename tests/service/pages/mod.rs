//! The pages for people: `GET /docs`, `GET /market` and their files. The header of each file states its
//! promise. `tests/browser` opens the pages in a browser.

mod files;
mod floors;
mod redirects;
mod responses;

use std::collections::BTreeMap;
use std::path::Path;

use local::Cloud;

use crate::support::{Response, get, in_repository};

pub(crate) const PAGES: [(&str, &str); 2] = [("/docs", "docs.html"), ("/market", "market.html")];

/// The script of the API reference. The script is in a crate, not in a folder.
const REFERENCE_SCRIPT: &str = "scalar.js";

/// A page's placeholder for the folder of its files.
const ASSETS: &str = "{assets}";

/// The texts of the pages' files, by name, with imports from one folder.
pub(crate) fn sources() -> BTreeMap<String, String> {
    sources_of(&["docs", "market", "vendor"])
}

/// The texts of the files in these folders, by name, with imports from one folder.
fn sources_of(folders: &[&str]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for name in folders {
        read(&in_repository("functions/page").join(name), &mut texts);
    }
    texts.remove("README.md");
    texts
}

fn read(folder: &Path, texts: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, texts);
        } else {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            texts.insert(name, in_one_folder(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The text with `"./name"` in place of every relative path in quotation marks.
fn in_one_folder(text: &str) -> String {
    let is_relative = |part: &str| part.starts_with("./") || part.starts_with("../");
    let parts = text.split('"').map(|part| match part.rsplit_once('/') {
        Some((_, name)) if is_relative(part) => format!("./{name}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("\"")
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

/// The texts between `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: char) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).map(move |rest| rest.split(after).next().unwrap())
}
