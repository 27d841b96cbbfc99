//! The Markdown pages are true: links lead somewhere, and tables agree with the code, the templates and the OpenAPI document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use common::routes::VERSION_1;
use local::Options;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::Value;
use tables::history::bazaar::TIERS;

use crate::support::template;

const CONTRACT: &str = "functions/README.md";
const OPERATIONS: &str = "infra/README.md";
const MONITORING: &str = "infra/monitoring.yaml";

/// How much older than its TTL a cached response may become while refreshes fail: this many TTLs …
const STALE_TTLS: u32 = 10;
/// … and at most this.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// A Markdown page.
#[derive(Default)]
struct Page {
    headings: Vec<String>,
    links: Vec<String>,
    tables: Vec<Table>,
}

/// A table without its head.
struct Table {
    /// The heading above the table.
    heading: String,
    rows: Vec<Vec<Cell>>,
}

#[derive(Default)]
struct Cell {
    text: String,
    /// The code spans of the text.
    codes: Vec<String>,
}

impl Page {
    fn read(path: &str) -> Self {
        Self::parse(&read(path))
    }

    fn parse(markdown: &str) -> Self {
        let mut page = Self::default();
        let (mut in_heading, mut in_cell) = (false, false);
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
                Event::Start(Tag::Table(_)) => {
                    let heading = page.headings.last().cloned().unwrap_or_default();
                    page.tables.push(Table { heading, rows: Vec::new() });
                }
                Event::Start(Tag::TableRow) => page.tables.last_mut().unwrap().rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => {
                    // There is no row yet in the table's head.
                    if let Some(row) = page.tables.last_mut().unwrap().rows.last_mut() {
                        in_cell = true;
                        row.push(Cell::default());
                    }
                }
                Event::End(TagEnd::TableCell) => in_cell = false,
                Event::Text(ref text) | Event::Code(ref text) => {
                    if in_heading {
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

    /// The anchors of the headings, by the rules of GitHub.
    fn anchors(&self) -> BTreeSet<String> {
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

    /// The rows of the table number `index` under the heading.
    #[track_caller]
    fn rows(&self, heading: &str, index: usize) -> &[Vec<Cell>] {
        let mut tables = self.tables.iter().filter(|table| table.heading == heading);
        &tables.nth(index).unwrap_or_else(|| panic!("no table {index} under {heading}")).rows
    }

    /// The rows of a table by their first cell: the texts of the other cells.
    #[track_caller]
    fn by_first_cell(&self, heading: &str, index: usize) -> BTreeMap<&str, Vec<&str>> {
        self.rows(heading, index)
            .iter()
            .map(|row| (row[0].text.as_str(), row[1..].iter().map(|cell| cell.text.as_str()).collect()))
            .collect()
    }
}

fn repository() -> PathBuf {
    Options::default().template.parent().unwrap().to_owned()
}

#[track_caller]
fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files that Git tracks, from the root of the repository.
fn tracked_files() -> BTreeSet<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    list.split_terminator('\0').map(str::to_owned).collect()
}

/// The tracked files that are text, with their text.
fn tracked_texts() -> Vec<(String, String)> {
    let texts = tracked_files().into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(repository().join(&path)).ok()?;
        Some((path, text))
    });
    texts.collect()
}

/// The path that `link` in the page `from` leads to, from the root of the repository; `None` outside of it.
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

/// A duration as the pages write it.
fn written(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// The OpenAPI document, which other tests compare with the code.
fn openapi() -> Value {
    serde_json::from_str(&read("functions/index/openapi.json")).unwrap()
}

#[test]
fn every_link_leads_to_a_tracked_file_and_every_anchor_to_a_heading() {
    let files = tracked_files();
    let is_folder = |path: &str| files.iter().any(|file| file.starts_with(&format!("{path}/")));
    let mut broken = Vec::new();
    let mut checked = 0;
    for from in files.iter().filter(|path| path.ends_with(".md")) {
        for link in Page::read(from).links {
            if link.contains("://") {
                continue;
            }
            checked += 1;
            let (path, anchor) =
                link.split_once('#').map_or((&*link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { Some(from.clone()) } else { resolved(from, path) };
            let leads_somewhere = target.is_some_and(|target| match anchor {
                Some(anchor) => files.contains(&target) && Page::read(&target).anchors().contains(anchor),
                None => files.contains(&target) || is_folder(&target),
            });
            if !leads_somewhere {
                broken.push(format!("{from}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere: {broken:#?}");
    assert!(checked > 50, "only {checked} links were found");
}

#[test]
fn an_anchor_is_what_github_makes_of_a_heading() {
    let page = Page::parse("# `mode=full`, and more!\n## Über uns\n## Über uns\n### meta.cached\n");
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
            let headings = Page::read(page).headings;
            for (place, _) in text.match_indices(page) {
                let rest = text[place + page.len()..].trim_start_matches('`');
                let Some(rest) = rest.strip_prefix(',') else { continue };
                // The citation may go on in the next line of a comment.
                let cited = rest.trim_start_matches(|c: char| c.is_whitespace() || "/!#*\"".contains(c));
                if cited.starts_with(char::is_uppercase) {
                    let is_heading = headings.iter().any(|heading| cited.starts_with(heading.as_str()));
                    assert!(is_heading, "{file} cites {page}, {:.40}", cited);
                    citations += 1;
                }
            }
        }
    }
    assert!(citations > 0, "no citation was found");
}

#[test]
fn no_file_names_a_page_that_is_not_in_the_repository() {
    let elsewhere = ["interface", "decisions", "design"].map(|name| format!("{name}.md"));
    let names_one = |text: &str| elsewhere.iter().any(|page| text.contains(page.as_str()));
    let named: Vec<_> = tracked_texts().into_iter().filter(|(_, text)| names_one(text)).collect();
    assert!(named.is_empty(), "{:#?}", named.iter().map(|(file, _)| file).collect::<Vec<_>>());
}

#[test]
fn the_table_of_routes_has_the_routes_and_their_ttls() {
    let page = Page::read(CONTRACT);
    let expected: Vec<_> =
        VERSION_1.iter().map(|route| (format!("GET {}", route.path), written(route.cache))).collect();
    let rows = page.rows("Routes", 0).iter().map(|row| (row[0].text.clone(), row[2].text.clone()));
    let rows: Vec<_> = rows.filter(|(route, _)| route.starts_with("GET /v1/")).collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_table_of_ages_follows_from_the_ttls() {
    let page = Page::read(CONTRACT);
    let rows = page.by_first_cell("Caching", 0);
    assert_eq!(rows.len(), VERSION_1.len());
    for route in VERSION_1 {
        let ttl = route.cache;
        let failing = ttl + (ttl * STALE_TTLS).min(LONGEST_STALE);
        // A stage cache may store a response just before it expires.
        let expected = [ttl, 2 * ttl, failing, failing + ttl].map(written);
        assert_eq!(rows[route.path], expected, "{}", route.path);
    }
}

#[test]
fn the_table_of_parameters_has_every_parameter_with_its_bounds_and_default() {
    let page = Page::read(CONTRACT);
    let document = openapi();
    let rows = page.rows("Parameters", 0);
    let mut expected = Vec::new();
    for route in VERSION_1 {
        let described = document["paths"][route.path]["get"]["parameters"].as_array();
        for (parameter, described) in route.parameters.iter().zip(described.into_iter().flatten()) {
            assert_eq!(described["name"], parameter.name);
            expected.push((route.path, parameter, &described["schema"]));
        }
    }
    assert_eq!(rows.len(), expected.len());
    for (row, (path, parameter, schema)) in rows.iter().zip(expected) {
        let [route, name, allowed, default] = row.as_slice() else { panic!("four cells") };
        assert_eq!((route.text.as_str(), name.text.as_str()), (path, parameter.name));
        let context = format!("{path} {}", parameter.name);
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<_> = values.iter().map(|value| value.as_str().unwrap()).collect();
            assert_eq!(allowed.codes, values, "{context}");
        } else if let Some(pattern) = schema["pattern"].as_str() {
            let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
            assert_eq!(allowed.text, pattern, "{context}");
        } else if schema["type"] == "integer" {
            assert_eq!(allowed.text, format!("{} to {}", schema["minimum"], schema["maximum"]), "{context}");
        }
        match &schema["default"] {
            Value::Null => assert!(default.text.starts_with("required"), "{context}"),
            Value::String(text) => assert_eq!(&default.text, text, "{context}"),
            other => assert_eq!(default.text, other.to_string(), "{context}"),
        }
    }
}

#[test]
fn the_table_of_errors_has_every_status_with_its_code() {
    let page = Page::read(CONTRACT);
    let rows: BTreeSet<_> =
        page.rows("Errors", 0).iter().map(|row| (row[0].text.clone(), row[1].text.clone())).collect();
    let document = openapi();
    let mut described = BTreeSet::new();
    for operation in document["paths"].as_object().unwrap().values() {
        for (status, response) in operation["get"]["responses"].as_object().unwrap() {
            let reference = response["$ref"].as_str();
            let response =
                reference.map_or(response, |place| document.pointer(place.trim_start_matches('#')).unwrap());
            let examples = response["content"]["application/json"]["examples"].as_object().unwrap();
            let codes = examples.values().filter_map(|example| example["value"]["error"]["code"].as_str());
            described.extend(codes.map(|code| (status.clone(), code.to_owned())));
        }
    }
    assert_eq!(rows, described);
}

#[test]
fn the_table_of_limits_has_the_defaults_of_the_template() {
    let page = Page::read(CONTRACT);
    let parameters = template().parameters;
    let rows = page.by_first_cell("Limits", 0);
    let expected = BTreeMap::from([("starter", "Starter"), ("pro", "Pro")].map(|(tier, prefix)| {
        let limit = |kind: &str| parameters[&format!("{prefix}{kind}Limit")].as_str();
        (tier, vec![limit("Rate"), limit("Burst")])
    }));
    assert_eq!(rows, expected);
}

#[test]
fn the_table_of_resolutions_has_the_tiers() {
    let page = Page::read(CONTRACT);
    let rows = page.by_first_cell("Resolution of history", 0);
    assert_eq!(rows.len(), TIERS.len());
    for tier in &TIERS {
        let interval = match tier.interval.as_secs() / 60 {
            1 => "minute".to_owned(),
            60 => "hour".to_owned(),
            minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
            minutes => format!("{minutes} minutes"),
        };
        assert_eq!(rows[tier.range], [interval, tier.slots.to_string()], "{}", tier.range);
    }
}

#[test]
fn the_operators_page_has_every_parameter_of_the_template_with_its_default() {
    let page = Page::read(OPERATIONS);
    let rows = page.by_first_cell("Configuration", 0);
    let parameters = template().parameters;
    let expected: BTreeMap<_, _> = parameters
        .iter()
        .map(|(name, default)| {
            let default = match (name.as_str(), default.as_str()) {
                ("DashboardUrl", _) => "required",
                (_, "") => "empty",
                (_, default) => default,
            };
            (name.as_str(), default)
        })
        .collect();
    let rows: BTreeMap<_, _> = rows.into_iter().map(|(name, cells)| (name, cells[0])).collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_operators_page_has_every_parameter_and_every_alarm_of_the_monitoring() {
    let page = Page::read(OPERATIONS);
    let first_codes = |heading, index| -> BTreeSet<String> {
        page.rows(heading, index).iter().flat_map(|row| row[0].codes.iter().cloned()).collect()
    };
    let text = read(MONITORING);
    let parameters = text.split("\nParameters:\n").nth(1).unwrap().split("\nConditions:\n").next().unwrap();
    let names = parameters.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: BTreeSet<_> = names.filter(|name| !name.starts_with(' ')).map(str::to_owned).collect();
    assert_eq!(first_codes("Configuration", 1), names);
    let alarms = text.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("AlarmName: !Sub '${Service} ")?.strip_suffix('\'')?;
        Some(name.to_owned())
    });
    let alarms: BTreeSet<_> = alarms.collect();
    assert_eq!(first_codes("Alarms", 0), alarms);
    assert!(alarms.len() > 5, "{alarms:?}");
}
