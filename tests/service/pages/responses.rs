//! Each page has its content security policy, requires no key, and exists unless the operator has turned the
//! pages off.

use hyper::Method;
use local::Options;

use super::{PAGES, assets_folder, expect_file, sources};
use crate::support::{
    KEY_HEADER, expect_clean_logs, get, send, send_with, simulator, start, start_with, with_parameters,
};

/// The content security policies. `tests/browser` checks that the pages work with them.
const DOCS: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const MARKET: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types library";
const ICON: &str = "default-src 'none'; frame-ancestors 'none'";

#[tokio::test]
async fn a_page_is_kept_for_five_minutes_and_runs_only_scripts_of_this_service() {
    let cloud = start().await;
    let short = "public, max-age=300";
    for (path, policy) in [("/docs", DOCS), ("/market", MARKET)] {
        expect_file(&get(&cloud, path).await, "text/html; charset=utf-8", short, policy);
    }
    let icon = get(&cloud, "/favicon.ico").await;
    expect_file(&icon, "image/svg+xml", short, ICON);
    assert_eq!(icon.text, sources()["icon.svg"]);
    assert_eq!(simulator(&cloud).requests("/*"), 0);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_page_is_its_file_with_the_addresses_of_this_version() {
    let cloud = start().await;
    let folder = assets_folder(&cloud).await;
    for (path, name) in PAGES {
        let dashboard = &cloud.template().parameters["DashboardUrl"];
        let expected = sources()[name]
            .replace(super::ASSETS, folder.trim_start_matches('/'))
            .replace("{dashboard}", dashboard)
            .replace("{files}", "");
        for target in [path.to_owned(), format!("{path}?item=INK_SACK:3&range=7d&range=1h")] {
            let served = get(&cloud, &target).await.text;
            let mut parts = expected.split("{document:");
            let mut rest = served.strip_prefix(parts.next().unwrap()).unwrap();
            // `tests/browser` checks the texts that replace the placeholders `{document:…}`.
            for part in parts {
                let (_, text) = part.split_once('}').unwrap();
                (_, rest) = rest.split_once(text).unwrap_or_else(|| panic!("{target} lacks {text}"));
            }
            assert_eq!(rest, "", "{target}");
        }
    }
}

#[tokio::test]
async fn the_address_of_the_dashboard_cannot_become_markup() {
    let hostile = r#"https://x.example/?a=1&amp;b="><script>alert('\n{assets}ë')</script>"#;
    let cloud = start_with(with_parameters(Options::for_tests(), &[("DashboardUrl", hostile)])).await;
    let page = get(&cloud, "/market").await.text;
    let (_, rest) = page.split_once("<meta name=\"dashboard\" content=\"").unwrap();
    let (attribute, rest) = rest.split_once('"').unwrap();
    assert!(rest.starts_with(">\n<meta ") && !attribute.contains(['<', '\\']), "{attribute}");
    let link = format!("<a href=\"{attribute}\">{attribute}</a>");
    assert!(get(&cloud, "/docs").await.text.contains(&link), "{link}");
    let decoded =
        ["&#60;<", "&#34;\"", "&#92;\\", "&amp;&"].iter().fold(attribute.to_owned(), |text, pair| {
            let (escape, character) = pair.split_at(pair.len() - 1);
            text.replace(escape, character)
        });
    assert_eq!(decoded, hostile);
}

#[tokio::test]
async fn no_key_is_required_and_a_wrong_one_does_not_matter() {
    let cloud = start().await;
    let folder = assets_folder(&cloud).await;
    let file = format!("{folder}/market.js");
    for path in ["/docs", "/market", "/favicon.ico", &file] {
        let without = send(&cloud.url(), Method::GET, path).await;
        assert_eq!(without.status, 200, "{path}");
        for key in ["wrong", "gd_00000000000000000000000000000000000000"] {
            let with = send_with(&cloud.url(), Method::GET, path, &[(KEY_HEADER, key)]).await;
            assert_eq!((with.status, with.text), (without.status, without.text.clone()), "{path}");
        }
    }
    expect_clean_logs(&cloud);
}

/// The market page's policy forbids inline scripts and styles, frames and forms. The API reference's policy
/// allows inline styles.
#[test]
fn the_pages_have_scripts_and_styles_in_files_only() {
    for (_, name) in PAGES {
        let page = &sources()[name];
        for tag in page.split('<').filter(|tag| tag.starts_with("script")) {
            assert!(tag.contains(" src=\"{assets}/") && tag.ends_with('>'), "{name}: <{tag}");
        }
        for forbidden in
            ["<style", " style=", " onclick=", " onload=", " onerror=", "javascript:", "<iframe", "<form"]
        {
            assert!(!page.contains(forbidden), "{name} has {forbidden}");
        }
    }
}

#[tokio::test]
async fn without_pages_their_paths_are_unknown_routes() {
    let cloud = start_with(with_parameters(Options::for_tests(), &[("Pages", "off")])).await;
    assert!(cloud.template().functions.values().all(|function| function.binary != "page"));
    for path in [
        "/docs",
        "/docs/",
        "/market",
        "/market/",
        "/favicon.ico",
        "/assets/0123/market.js",
        "/assets/0123/scalar.js",
    ] {
        let message = get(&cloud, path).await.error("NOT_FOUND");
        assert!(message.starts_with(&format!("Route GET {path} not found.")), "{message}");
    }
    expect_clean_logs(&cloud);
}
