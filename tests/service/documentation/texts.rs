//! The texts for language models equal the files in the repository, are short, and are served even if the
//! pages are turned off. They, the API reference and the index lead to the public files and to the example
//! clients.

use common::routes::{AUCTIONS_COLUMNS, BAZAAR_COLUMNS, DOCS, DOCS_MARKDOWN, INDEX, LLMS, VERSION_1};
use hyper::Method;
use local::{Cloud, Options};

use super::page::{MarkdownPage, read};
use crate::pages::expect_file;
use crate::support::{expect_clean_logs, get, record_prices, send, start_with, with_parameters};

/// The most bytes of a text, because a language model reads all of it.
const LONGEST: usize = 150_000;

/// The placeholder for the address of the public files.
const FILES: &str = "{files}";

async fn text(cloud: &Cloud, path: &str) -> String {
    let response = send(&cloud.url(), Method::GET, path).await;
    assert_eq!(response.status, 200, "{path}");
    response.text
}

#[tokio::test]
async fn every_description_names_the_public_files_and_their_columns_and_links_the_examples() {
    let cloud = start_with(Options { public_files: true, ..Options::for_tests() }).await;
    let address = cloud.files_url().unwrap();
    for (route, address) in
        [(&INDEX, address), (&DOCS_MARKDOWN, address), (&LLMS, address), (&DOCS, "public/prices.json")]
    {
        let text = text(&cloud, route.path).await;
        for part in [address, BAZAAR_COLUMNS, AUCTIONS_COLUMNS, "#examples"] {
            assert!(text.contains(part), "{} lacks {part}", route.path);
        }
    }
    let index = send(&cloud.url(), Method::GET, "/").await.data();
    assert_eq!(index["public_files"], address);
    let examples = index["examples"].as_str().unwrap();
    assert_eq!(examples, format!("{}#examples", DOCS_MARKDOWN.path));
    let reference = text(&cloud, DOCS_MARKDOWN.path).await;
    assert!(reference.contains("\n## Examples\n"));
    for client in ["discord_price.py", "mcp_server.py", "prices.gs"] {
        let code = read(&format!("functions/examples/{client}"));
        assert!(reference.contains(code.trim_end()), "{client}");
    }
    expect_clean_logs(&cloud);
}

/// What clients asked for in vain: the rhythm of the bazaar, several ids from two libraries, and recipes.
#[tokio::test]
async fn the_reference_says_when_news_come_how_to_send_ids_and_where_recipes_are() {
    let cloud = start_with(Options::for_tests()).await;
    let plain = |text: String| text.replace("<code>", "`").replace("</code>", "`").replace("&quot;", "\"");
    for path in [DOCS_MARKDOWN.path, DOCS.path] {
        let reference = plain(text(&cloud, path).await);
        for part in [
            "The bazaar's next prices can come 20 s after its `lastUpdated`",
            "`params={\"ids\": \",\".join(ids)}` with Python's requests",
            "`params: { ids: ids.join(\",\") }` with axios",
            "The provider sends no recipes",
        ] {
            assert!(reference.contains(part), "{path} lacks {part}");
        }
    }
    // `requests` sends a list as repeated parameters, and axios as `ids[]`.
    get(&cloud, "/v1/bazaar?mode=items&ids=COAL&ids=WHEAT").await.error("BAD_REQUEST");
    record_prices(&cloud, cloud.clock().now_ms()).await;
    get(&cloud, "/v1/auctions/prices?ids=COAL&ids=WHEAT").await.error("BAD_REQUEST");
    let all = get(&cloud, "/v1/auctions/prices?ids%5B%5D=COAL&ids%5B%5D=WHEAT").await.data();
    assert!(all["items"].as_array().unwrap().len() > 2, "{all}");
    let comma = get(&cloud, "/v1/auctions/prices?ids=COAL%2CWHEAT").await.data();
    assert_eq!(comma["unknown"], serde_json::json!(["COAL", "WHEAT"]));
}

#[tokio::test]
async fn the_texts_are_served_without_a_key_and_their_links_lead_somewhere() {
    let cloud = start_with(with_parameters(Options::for_tests(), &[("Pages", "off")])).await;
    let policy = "default-src 'none'; frame-ancestors 'none'";
    for (route, content_type) in [(&DOCS_MARKDOWN, "text/markdown"), (&LLMS, "text/plain")] {
        let response = send(&cloud.url(), Method::GET, route.path).await;
        let content_type = format!("{content_type}; charset=utf-8");
        expect_file(&response, &content_type, "public, max-age=300", policy);
        let checked_in = read(&format!("functions/index{}", route.path));
        assert_eq!(checked_in.matches(FILES).count(), 1, "{}", route.path);
        assert_eq!(response.text, checked_in.replace(FILES, "none"), "{}", route.path);
        assert!(checked_in.len() < LONGEST, "{} has {} bytes", route.path, checked_in.len());
    }
    let reference = MarkdownPage::read("functions/index/docs.md");
    for route in VERSION_1 {
        let heading = format!("GET {}", route.path);
        assert!(reference.headings.contains(&heading), "docs.md has no section {heading}");
    }
    let summary = MarkdownPage::read("functions/index/llms.txt");
    assert!(summary.links.len() > VERSION_1.len());
    for link in &summary.links {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = format!("/{}", path.trim_start_matches('.'));
        assert_eq!(send(&cloud.url(), Method::GET, &path).await.status, 200, "{link}");
        assert!(anchor.is_empty() || reference.anchors().contains(anchor), "{link}");
    }
    expect_clean_logs(&cloud);
}
