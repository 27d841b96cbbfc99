//! The Markdown pages are true: their links work, and their examples and tables agree with the service, the
//! code and the templates. After a change of a TTL, a bound, a parameter or an alarm, these tests fail until
//! the page is updated.

mod contract;
mod operations;
mod page;
mod texts;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use self::page::{MarkdownPage, read, repository};

const CONTRACT: &str = "functions/README.md";
/// The page for operators.
const OPERATIONS: &str = "infra/README.md";
/// The pages for contributors, which name many files.
const CONTRIBUTORS: [&str; 3] = ["CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md"];

/// The paths of the files that Git tracks, relative to the root of the repository.
fn tracked_files() -> BTreeSet<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    list.split_terminator('\0').map(str::to_owned).collect()
}

/// Whether the path names a tracked file or a folder with tracked files.
fn is_tracked(files: &BTreeSet<String>, path: &str) -> bool {
    files.contains(path) || files.iter().any(|file| file.starts_with(&format!("{path}/")))
}

fn tracked_texts() -> Vec<(String, String)> {
    let texts = tracked_files().into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(repository().join(&path)).ok()?;
        Some((path, text))
    });
    texts.collect()
}

/// The target of `link` in the page `from`, relative to the root of the repository. `None` if the target is
/// outside the repository.
fn resolved(from: &str, link: &str) -> Option<String> {
    let mut segments: Vec<&str> = from.split('/').collect();
    segments.pop();
    for segment in link.trim_end_matches('/').split('/') {
        match segment {
            "." => {}
            ".." => drop(segments.pop()?),
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

#[test]
fn every_link_leads_to_a_tracked_file_and_every_anchor_to_a_heading() {
    let files = tracked_files();
    let mut broken = Vec::new();
    let mut checked = 0;
    let is_page = |path: &&String| Path::new(path).extension().is_some_and(|extension| extension == "md");
    for from in files.iter().filter(is_page) {
        for link in MarkdownPage::read(from).links {
            if link.contains("://") {
                continue;
            }
            checked += 1;
            let (path, anchor) =
                link.split_once('#').map_or((&*link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { Some(from.clone()) } else { resolved(from, path) };
            let leads_somewhere = target.is_some_and(|target| match anchor {
                Some(anchor) => {
                    files.contains(&target) && MarkdownPage::read(&target).anchors().contains(anchor)
                }
                None => is_tracked(&files, &target),
            });
            if !leads_somewhere {
                broken.push(format!("{from}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "these links are broken: {broken:#?}");
    assert!(checked > 50, "only {checked} links were found");
}

#[test]
fn every_path_on_the_pages_for_contributors_exists() {
    let files = tracked_files();
    let extensions = [".rs", ".js", ".md", ".toml", ".yaml"];
    let is_path = |code: &str| {
        let is_file = extensions.iter().any(|extension| code.ends_with(extension));
        !code.starts_with('/') && !code.contains(' ') && (code.contains('/') || is_file)
    };
    let codes = CONTRIBUTORS.into_iter().flat_map(|page| MarkdownPage::read(page).codes);
    let paths: BTreeSet<_> = codes.filter(|code| is_path(code)).collect();
    let missing: Vec<_> = paths.iter().filter(|path| !is_tracked(&files, path)).collect();
    assert!(missing.is_empty(), "these paths do not exist: {missing:#?}");
    assert!(paths.len() > 50, "only {} paths were found", paths.len());
}

#[test]
fn the_changelog_has_a_section_for_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    let headings = MarkdownPage::read("CHANGELOG.md").headings;
    assert!(headings.iter().any(|heading| heading == version), "CHANGELOG.md has no section {version}");
}

#[test]
fn an_anchor_is_what_github_makes_of_a_heading() {
    let page = MarkdownPage::parse("# `mode=full`, and more!\n## Über uns\n## Über uns\n### meta.cached\n");
    let expected = ["modefull-and-more", "über-uns", "über-uns-1", "metacached"];
    assert_eq!(page.anchors(), expected.map(str::to_owned).into());
}

#[test]
fn the_first_page_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 130, "README.md has {lines} lines");
}

#[test]
fn what_the_code_cites_is_a_heading_of_the_page() {
    let mut citations = 0;
    for (file, text) in tracked_texts() {
        for page in [CONTRACT, OPERATIONS] {
            let headings = MarkdownPage::read(page).headings;
            for (place, _) in text.match_indices(page) {
                let rest = text[place + page.len()..].trim_start_matches('`');
                let Some(rest) = rest.strip_prefix(',') else { continue };
                // The citation may continue on the next line of a comment.
                let cited = rest.trim_start_matches(|c: char| c.is_whitespace() || "/!#*\"".contains(c));
                if cited.starts_with(char::is_uppercase) {
                    let is_heading = headings.iter().any(|heading| cited.starts_with(heading.as_str()));
                    assert!(is_heading, "{file} cites {page}, {cited:.40}");
                    citations += 1;
                }
            }
        }
    }
    assert!(citations > 0, "no citation was found");
}

#[test]
fn no_file_names_a_page_that_is_not_in_the_repository() {
    let elsewhere = ["interface", "design"].map(|name| format!("{name}.md"));
    let names_one = |text: &str| elsewhere.iter().any(|page| text.contains(page.as_str()));
    let named: Vec<_> = tracked_texts().into_iter().filter(|(_, text)| names_one(text)).collect();
    assert!(named.is_empty(), "{:#?}", named.iter().map(|(file, _)| file).collect::<Vec<_>>());
}
