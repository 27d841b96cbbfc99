//! The page about adding a route lists every file that a new route changes.

use std::collections::BTreeSet;

use super::page::{MarkdownPage, read};
use super::tracked_texts;

const PAGE: &str = "docs/add-a-route.md";

/// The most files outside the function's folder that a new route changes.
const MOST: usize = 8;

/// Files that `cargo generate` or Cargo writes, and pages that name the example route for another reason.
const LEFT_OUT: [&str; 7] = [
    "Cargo.lock",
    "docs/add-a-route.md",
    "docs/measurements.md",
    "README.md",
    "events/",
    "functions/index/",
    "infra/simulator/README.md",
];

/// The route that the page names as an example.
fn example() -> String {
    let text = read(PAGE);
    let (before, _) = text.split_once("` is such a route").unwrap();
    before.rsplit('`').next().unwrap().to_owned()
}

/// Whether the text names the route. `std::collections` has the name of the example, but does not count.
fn names(text: &str, route: &str) -> bool {
    text.to_lowercase().replace("std::collections", "").contains(route)
}

/// Whether the place is the file or a folder around it.
fn is_at(file: &str, place: &str) -> bool {
    file == place || place.ends_with('/') && file.starts_with(place)
}

#[test]
fn the_page_about_a_new_route_lists_the_files_that_name_one() {
    let route = example();
    let naming: BTreeSet<_> = tracked_texts()
        .into_iter()
        .filter(|(file, text)| names(&format!("{file} {text}"), &route))
        .map(|(file, _)| file)
        .filter(|file| !LEFT_OUT.iter().any(|place| is_at(file, place)))
        .collect();
    let outside = naming.iter().filter(|file| !file.starts_with(&format!("functions/{route}/"))).count();
    assert!(outside <= MOST, "{outside} files outside the folder: {naming:#?}");
    let page = MarkdownPage::read(PAGE);
    let listed: Vec<_> = page
        .rows("Add a route", 0)
        .iter()
        .flat_map(|row| row[0].codes.iter().map(|place| place.replace("NAME", &route)))
        .collect();
    for place in &listed {
        assert!(naming.iter().any(|file| is_at(file, place)), "{place} does not name {route}");
    }
    for file in &naming {
        let places = listed.iter().filter(|place| is_at(file, place)).count();
        assert_eq!(places, 1, "{file} names {route}, so the page must list it once");
    }
}
