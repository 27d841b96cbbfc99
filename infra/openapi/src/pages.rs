//! The parts of pages that repeat the code, between the comments `<!-- NAME: begin -->` and `<!-- NAME: end
//! -->`.

use std::path::Path;
use std::time::Duration;

use common::routes::{INDEX, OPENAPI, PAGES, Parameter, Route, TEXTS, VERSION_1};
use serde_json::Value;
use simulator::RESOURCES;

use crate::error::Error;
use crate::events::{self, Event};
use crate::limits::{self, read};
use crate::reference::Reference;
use crate::table::{code, table};

const CONTRACT: &str = "functions/README.md";

/// Returns the pages with their generated parts, by path from the root of the repository. `abuse` is the
/// table of the cost of abuse.
///
/// # Errors
/// If a page cannot be read or has no place for a part, or a part cannot be generated.
pub(crate) fn all(
    root: &Path,
    document: &Value,
    abuse: String,
    events: &[Event],
) -> Result<Vec<(&'static str, String)>, Error> {
    let reference = Reference(document);
    let parts = vec![
        ("routes".to_owned(), routes(&read(root, CONTRACT)?)),
        ("parameters".to_owned(), parameters()),
        ("errors".to_owned(), table(["status", "code", "description"], reference.errors().into_iter())),
        ("limits of accounts".to_owned(), limits::of_accounts()),
        ("limits of open routes".to_owned(), limits::of_open_routes(&limits::template(root)?)?),
    ];
    Ok(vec![
        (CONTRACT, filled(root, CONTRACT, parts)?),
        ("infra/README.md", filled(root, "infra/README.md", vec![("abuse".to_owned(), abuse)])?),
        (
            "infra/simulator/README.md",
            filled(root, "infra/simulator/README.md", vec![("resources".to_owned(), resources())])?,
        ),
        (
            "events/README.md",
            filled(root, "events/README.md", vec![("events".to_owned(), events::table(events))])?,
        ),
    ])
}

/// Returns the page with these generated parts, each a name and a content.
fn filled(root: &Path, path: &'static str, parts: Vec<(String, String)>) -> Result<String, Error> {
    let mut page = read(root, path)?;
    for (name, part) in parts {
        page = markdown::replace(&page, &name, &part).ok_or(Error::NoPlace { path, name })?;
    }
    Ok(page)
}

/// Returns the table of the routes, with links to their sections.
fn routes(page: &str) -> String {
    let others = [&INDEX, &OPENAPI].into_iter().chain(TEXTS).chain(PAGES);
    let rows = VERSION_1.into_iter().chain(others).map(|route| {
        let name = code(&format!("GET {}", route.path));
        let section = section_of(page, route.path);
        let name = section.map_or_else(|| name.clone(), |section| format!("[{name}](#{section})"));
        let key = if route.requires_key { "" } else { "; no key required" };
        let head = if route.answers_head { "; also `HEAD`" } else { "" };
        let ttl = if route.cache.is_zero() { "–".to_owned() } else { written(route.cache) };
        [name, format!("{}{key}{head}", route.summary), ttl]
    });
    table(["route", "purpose", "TTL"], rows)
}

/// Returns the anchor of the section that links the fields of the route in the reference.
fn section_of(page: &str, path: &str) -> Option<String> {
    let name = path.replace(|character: char| !character.is_ascii_alphanumeric() && character != '-', "");
    let (before, _) = page.split_once(&format!("(index/docs.md#get-{name})"))?;
    let heading = before.lines().rev().find_map(|line| line.strip_prefix("### "))?;
    Some(heading.to_lowercase().replace(' ', "-"))
}

fn parameters() -> String {
    let all = VERSION_1
        .into_iter()
        .flat_map(|route| route.parameters.iter().map(move |parameter| (route, parameter)));
    let rows = all.map(|(route, parameter): (&Route, &Parameter)| {
        let required = if parameter.required { "; required" } else { "" };
        [code(route.path), code(parameter.name), format!("{}{required}", parameter.description())]
    });
    table(["route", "parameter", "meaning and allowed values"], rows)
}

/// Returns the table of the simulated game's resources that have no parameters.
fn resources() -> String {
    let rows = RESOURCES.into_iter().map(|resource| {
        let refresh = Duration::from_millis(resource.refresh_ms.unsigned_abs());
        [code(resource.path), written(refresh), resource.summary.to_owned()]
    });
    table(["path", "refreshed every", "content"], rows)
}

/// Returns a duration as the pages write it.
fn written(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
