//! Parses a Markdown page into headings, links, code and tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::support::in_repository;

pub(super) fn repository() -> PathBuf {
    in_repository("")
}

#[track_caller]
pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[derive(Default)]
pub(super) struct MarkdownPage {
    pub(super) headings: Vec<String>,
    pub(super) links: Vec<String>,
    pub(super) codes: Vec<String>,
    tables: Vec<Table>,
    /// The `console` blocks: commands with their output.
    pub(super) consoles: Vec<String>,
}

/// A table without its head.
struct Table {
    /// The heading above the table.
    heading: String,
    rows: Vec<Vec<Cell>>,
}

#[derive(Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// The code spans of the text.
    pub(super) codes: Vec<String>,
}

impl MarkdownPage {
    pub(super) fn read(path: &str) -> Self {
        Self::parse(&read(path))
    }

    pub(super) fn parse(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut in_heading = false;
        let mut in_cell = false;
        let mut in_console = false;
        for event in Parser::new_ext(markdown, pulldown_cmark::Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => {
                    in_heading = true;
                    page.headings.push(String::new());
                }
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) if &*language == "console" => {
                    in_console = true;
                    page.consoles.push(String::new());
                }
                Event::End(TagEnd::CodeBlock) => in_console = false,
                Event::Start(Tag::Table(_)) => {
                    let heading = page.headings.last().cloned().unwrap_or_default();
                    page.tables.push(Table { heading, rows: Vec::new() });
                }
                Event::Start(Tag::TableRow) => page.tables.last_mut().unwrap().rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => {
                    // The cells of the table's head come before the first row, and are ignored.
                    if let Some(row) = page.tables.last_mut().unwrap().rows.last_mut() {
                        in_cell = true;
                        row.push(Cell::default());
                    }
                }
                Event::End(TagEnd::TableCell) => in_cell = false,
                Event::Text(ref text) | Event::Code(ref text) => {
                    if matches!(event, Event::Code(_)) {
                        page.codes.push(text.to_string());
                    }
                    if in_console {
                        page.consoles.last_mut().unwrap().push_str(text);
                    } else if in_heading {
                        page.headings.last_mut().unwrap().push_str(text);
                    } else if in_cell {
                        let row = page.tables.last_mut().unwrap().rows.last_mut().unwrap();
                        let cell = row.last_mut().unwrap();
                        cell.text.push_str(text);
                        if matches!(event, Event::Code(_)) {
                            cell.codes.push(text.to_string());
                        }
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// The anchors of the headings, by GitHub's rules.
    pub(super) fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for heading in &self.headings {
            let kept =
                heading.to_lowercase().replace(|c: char| !c.is_alphanumeric() && !" -_".contains(c), "");
            let anchor = kept.replace(' ', "-");
            let numbered = (1..).map(|number| format!("{anchor}-{number}"));
            let mut candidates = std::iter::once(anchor.clone()).chain(numbered);
            anchors.insert(candidates.find(|candidate| !anchors.contains(candidate)).unwrap());
        }
        anchors
    }

    /// The rows of the table at this index among the tables under the heading.
    #[track_caller]
    pub(super) fn rows(&self, heading: &str, index: usize) -> &[Vec<Cell>] {
        let mut tables = self.tables.iter().filter(|table| table.heading == heading);
        &tables.nth(index).unwrap_or_else(|| panic!("no table {index} under {heading}")).rows
    }

    /// The texts of the cells of each row after its first cell, by the text of the first cell.
    #[track_caller]
    pub(super) fn by_first_cell(&self, heading: &str, index: usize) -> BTreeMap<&str, Vec<&str>> {
        self.rows(heading, index)
            .iter()
            .map(|row| (row[0].text.as_str(), row[1..].iter().map(|cell| cell.text.as_str()).collect()))
            .collect()
    }
}
