//! The texts for language models equal the files in the repository, are short, and are served even if the pages are turned off.

use common::routes::{DOCS_MARKDOWN, LLMS, VERSION_1};
use hyper::Method;
use local::Options;

use super::page::{MarkdownPage, read};
use crate::pages::expect_file;
use crate::support::{expect_clean_logs, send, start_with, with_parameters};

/// The most bytes of a text, because a language model reads all of it.
const LONGEST: usize = 150_000;

#[tokio::test]
async fn the_texts_are_served_without_a_key_and_their_links_lead_somewhere() {
    let cloud = start_with(with_parameters(Options::for_tests(), &[("Pages", "off")])).await;
    let policy = "default-src 'none'; frame-ancestors 'none'";
    for (route, content_type) in [(&DOCS_MARKDOWN, "text/markdown"), (&LLMS, "text/plain")] {
        let response = send(&cloud.url(), Method::GET, route.path).await;
        let content_type = format!("{content_type}; charset=utf-8");
        expect_file(&response, &content_type, "public, max-age=300", policy);
        let checked_in = read(&format!("functions/index{}", route.path));
        assert_eq!(response.text, checked_in, "{}", route.path);
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
