//! A page's address with a trailing slash redirects to the address without it. With the slash, the page would
//! load its files from a missing folder.

use percent_encoding::percent_decode_str;

use crate::support::{Response, expect_clean_logs, get, get_raw, start};

/// Returns the target of a redirect. Panics if the redirect has a body.
#[track_caller]
fn location(response: &Response) -> &str {
    assert_eq!((response.status.as_u16(), response.text.as_str()), (308, ""));
    assert_eq!(response.headers["cache-control"], "no-store");
    response.headers["location"].to_str().unwrap()
}

#[tokio::test]
async fn a_slash_at_the_end_leads_to_the_page_and_the_query_stays() {
    let cloud = start().await;
    for (target, expected, query) in [
        ("/docs/", "../docs", ""),
        ("/market/", "../market", ""),
        ("/market/?", "../market", ""),
        ("/market/?item=INK_SACK:3&range=7d", "../market", "item=INK_SACK:3&range=7d"),
        ("/market/?item=INK_SACK%3A3", "../market", "item=INK_SACK:3"),
        ("/market/?item=A&item=B&item=A&range=1h", "../market", "item=A&item=B&item=A&range=1h"),
        ("/docs/?empty=&x=a+b%26c%3Dd%23e", "../docs", "empty=&x=a b&c=d#e"),
        ("/docs/?a%26b=%C3%AB", "../docs", "a&b=ë"),
        // The location repeats no part of the requested path.
        ("/d%6fcs/", "../docs", ""),
        (
            "/market/?next=//evil.example/%0d%0aSet-Cookie:%20a=b",
            "../market",
            "next=//evil.example/\r\nSet-Cookie: a=b",
        ),
    ] {
        let response = get_raw(&cloud, target.as_bytes()).await;
        let address = location(&response);
        let (path, given) = address.split_once('?').unwrap_or((address, ""));
        assert_eq!(path, expected, "{target}");
        assert_eq!(address.contains('?'), !query.is_empty(), "{address}");
        // An encoded value cannot become another parameter, a fragment or a header.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "%=&".contains(c);
        assert!(given.chars().all(is_plain), "{address}");
        assert_eq!(percent_decode_str(given).decode_utf8().unwrap(), query, "{target}");
        // `../market` is `/market` relative to `/market/`, and `/live/market` relative to `/live/market/`.
        let page = get(&cloud, &address.replacen("..", "", 1)).await;
        assert!(page.status == 200 && page.text.starts_with("<!doctype html>"), "{address}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn no_other_path_is_redirected() {
    let cloud = start().await;
    for target in [
        "//evil.example/docs/",
        "//evil.example/..%2fmarket/",
        "/docs//",
        "/market/x/",
        "/docs/../",
        "/%2fevil.example/market/",
        "/docs%2f",
        "/docs%2f/",
        "/docs;/",
    ] {
        let response = get_raw(&cloud, target.as_bytes()).await;
        assert!(!response.headers.contains_key("location"), "{target}");
        assert!(response.error("NOT_FOUND").starts_with("Route GET /"), "{target}");
    }
    expect_clean_logs(&cloud);
}
