//! Browsers cache the files of the pages permanently, so the address of a file has a hash of all files.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{ASSETS, PAGES, REFERENCE_SCRIPT, assets_folder, between, expect_file, sources, sources_of};
use crate::support::{expect_clean_logs, get, get_raw, invoke, start};

/// The most bytes of a Lambda response.
const LARGEST_RESPONSE: usize = 6 * 1024 * 1024;

fn names() -> BTreeSet<String> {
    let pages = PAGES.map(|(_, name)| name);
    let names = sources().into_keys().filter(|name| !pages.contains(&name.as_str()));
    names.chain([REFERENCE_SCRIPT.to_owned()]).collect()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap() {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        _ => panic!("{name} has an unknown type"),
    }
}

/// Panics unless the served code equals its source without indentation, empty lines and comment lines.
#[track_caller]
fn expect_code(source: &str, served: &str) {
    let mut served_lines = served.lines().peekable();
    let mut is_in_comment = false;
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty()) {
        is_in_comment |= line.starts_with("/*");
        if is_in_comment || line.starts_with("//") {
            is_in_comment &= !line.ends_with("*/");
        } else {
            assert_eq!(served_lines.next(), Some(line));
        }
    }
    assert_eq!((served_lines.next(), is_in_comment), (None, false));
}

/// The files that contain all modules that they import, so a visit loads few files.
const JOINED: [&str; 8] =
    ["hours.js", "item.js", "market.js", "mayor.js", "running.js", "sales.js", "status.js", "tables.js"];

/// The text of a module inside a joined file.
fn inside_of_joined(source: &str) -> String {
    let mut lines = Vec::new();
    let mut is_in_comment = false;
    for line in source.lines().map(str::trim) {
        is_in_comment |= line.starts_with("/*");
        if is_in_comment {
            is_in_comment &= !line.ends_with("*/");
        } else if !line.is_empty() && !line.starts_with("//") && !line.starts_with("import ") {
            lines.push(line.strip_prefix("export ").unwrap_or(line));
        }
    }
    lines.join("\n")
}

#[tokio::test]
async fn every_file_is_served_and_kept_for_ever_under_a_hash_of_all_of_them() {
    let cloud = start().await;
    let folder = assets_folder(&cloud).await;
    let all_sources = sources();
    let own = sources_of(&["docs", "market"]);
    let mut joined = Vec::new();
    let mut hasher = Sha256::new();
    for name in names() {
        let response = get(&cloud, &format!("{folder}/{name}")).await;
        let policy = "default-src 'none'; frame-ancestors 'none'";
        expect_file(&response, content_type(&name), "public, max-age=31536000, immutable", policy);
        if JOINED.contains(&name.as_str()) {
            joined.push(response.text.clone());
        } else if own.contains_key(&name) && ["css", "js"].contains(&name.rsplit('.').next().unwrap()) {
            expect_code(&own[&name], &response.text);
        } else if name != REFERENCE_SCRIPT {
            assert!(response.text == all_sources[&name], "{name} differs");
        }
        hasher.update(format!("{name}\0{}\0{}", response.text.len(), response.text));
    }
    for (name, source) in
        sources_of(&["market"]).iter().filter(|(name, _)| content_type(name).starts_with("text/javascript"))
    {
        let module = inside_of_joined(source);
        let count: usize = joined.iter().map(|file| file.matches(&module).count()).sum();
        assert_eq!(count, 1, "{name} must be in one joined file");
    }
    let mut hash = String::new();
    for byte in &hasher.finalize()[..8] {
        write!(hash, "{byte:02x}").unwrap();
    }
    assert_eq!(folder, format!("/assets/{hash}"));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_largest_file_fits_into_a_response_of_lambda() {
    let cloud = start().await;
    let path = format!("{}/{REFERENCE_SCRIPT}", assets_folder(&cloud).await);
    let hash = path.split('/').nth(2);
    let event = json!({
        "resource": "/assets/{hash}/scalar.js",
        "path": path,
        "httpMethod": "GET",
        "pathParameters": {"hash": hash},
        "requestContext": {},
    });
    let response = invoke(&cloud, "page", event.to_string()).await;
    assert_eq!(response.json()["statusCode"], 200);
    let bytes = response.text.len();
    assert!((4_000_000..LARGEST_RESPONSE).contains(&bytes), "{bytes}");
    let served = get(&cloud, &path).await.text;
    assert_eq!(response.json()["body"].as_str().unwrap(), served);
}

#[tokio::test]
async fn another_version_or_name_is_not_found() {
    let cloud = start().await;
    let folder = assets_folder(&cloud).await;
    let long = "x".repeat(2_000);
    for (target, named) in [
        ("/assets/0123456789abcdef/market.js".to_owned(), "0123456789abcdef/market.js"),
        ("/assets/0123456789abcdef/scalar.js".to_owned(), "0123456789abcdef/scalar.js"),
        (folder.to_uppercase().replace("/ASSETS", "/assets") + "/market.js", "/market.js not found"),
        (format!("{folder}/nothing.js"), "/nothing.js not found"),
        (format!("{folder}/MARKET.JS"), "/MARKET.JS not found"),
        // A page is served only at its own address, not in this folder.
        (format!("{folder}/market.html"), "/market.html not found"),
        (format!("{folder}/README.md"), "/README.md not found"),
        (format!("{folder}/.."), "/.. not found"),
        (format!("{folder}/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), "/../../etc/passwd not found"),
        (format!("{folder}/market.js%00.svg"), "/market.js\\u{0}.svg not found"),
        (format!("{folder}/%3Cimg%20src=x%20onerror=alert(1)%3E"), "/<img src=x onerror=alert(1)> not found"),
        (format!("{folder}/market.js%0d%0aSet-Cookie:%20a=b"), "/market.js\\r\\nSet-Cookie: a=b not found"),
        (format!("{folder}/{long}"), "x… not found"),
        (format!("/assets/{long}/market.js"), "x…/market.js not found"),
    ] {
        let response = get_raw(&cloud, target.as_bytes()).await;
        let message = response.error("NOT_FOUND");
        assert!(message.contains(named) && message.contains("reload"), "{target}: {message}");
        assert!(message.len() < 350, "{message}");
        assert_eq!(response.headers["cache-control"], "no-store", "{target}");
    }
    // These paths belong to no route.
    for target in ["/assets", "/assets/", &folder, &format!("{folder}/a/market.js"), "/assets//market.js"] {
        let message = get_raw(&cloud, target.as_bytes()).await.error("NOT_FOUND");
        assert!(message.starts_with("Route GET /assets"), "{target}: {message}");
    }
    for name in ["%ff", "%", "market.js%2"] {
        get_raw(&cloud, format!("{folder}/{name}").as_bytes()).await.error("BAD_REQUEST");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_name_is_decoded_once_and_a_query_does_not_matter() {
    let cloud = start().await;
    let folder = assets_folder(&cloud).await;
    let script = get(&cloud, &format!("{folder}/market.js")).await.text;
    for target in [
        format!("{folder}/m%61rket%2ejs"),
        format!("{folder}/market.js?file=icon.svg&hash=0&hash=1"),
        format!("{folder}/market.js/"),
    ] {
        let response = get_raw(&cloud, target.as_bytes()).await;
        assert_eq!((response.status.as_u16(), &response.text), (200, &script), "{target}");
    }
    get(&cloud, &format!("{folder}/m%2561rket.js")).await.error("NOT_FOUND");
}

/// Behind a stage, the pages are not at the root, so an absolute path would lead outside the API.
#[test]
fn all_addresses_in_the_pages_and_their_files_are_relative_and_lead_somewhere() {
    let known = names();
    let pages_and_files = sources();
    let pages = [".", "docs", "docs.md", "market", "openapi.json"];
    for (_, name) in PAGES {
        let page = &pages_and_files[name];
        let addresses: Vec<_> = between(page, " src=\"", '"').chain(between(page, " href=\"", '"')).collect();
        assert!(addresses.len() >= 3, "{name}: {addresses:?}");
        for address in addresses {
            let leads_somewhere = match address.strip_prefix(&format!("{ASSETS}/")) {
                Some(file) => known.contains(file),
                None => {
                    pages.contains(&address.split(['?', '#']).next().unwrap())
                        || address.starts_with('#')
                        || address == "{dashboard}"
                        || address.starts_with("{files}/")
                }
            };
            assert!(leads_somewhere, "{name}: {address}");
        }
        assert!(!page.contains("<base"), "{name}");
    }
    // Libraries are not checked: some contain foreign addresses, but the pages' policies let them load
    // nothing from there.
    for (name, text) in sources_of(&["docs", "market"]) {
        let imports = between(&text, "from \"", '"').chain(between(&text, "import \"", '"'));
        for import in imports.chain(between(&text, "import(\"", '"')) {
            let file = import.strip_prefix("./");
            assert!(file.is_some_and(|file| known.contains(file)), "{name} imports {import}");
        }
        for argument in between(&text, "url(", ')') {
            let address = argument.trim_matches(['"', '\'']);
            assert!(known.contains(address) || address.starts_with('#'), "{name}: url({address})");
        }
        for quote in ['"', '\'', '`'] {
            for literal in between(&text, &format!("{quote}/"), quote).filter(|literal| !literal.is_empty()) {
                let is_address =
                    literal.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '/');
                assert!(!is_address, "{name} has the absolute address /{literal:.40}");
            }
        }
        assert!(!text.contains("@import"), "{name}");
        // CSS selectors load nothing.
        let loading = text.replace("a[href^='https://", "").replace("a[href^=\"https://", "");
        for scheme in ["http://", "https://", "ws://", "wss://"] {
            for rest in between(&loading, scheme, ' ') {
                assert!(rest.starts_with("www.w3.org/"), "{name} has the address {scheme}{rest:.40}");
            }
        }
    }
}
