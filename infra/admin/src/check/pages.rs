//! The pages for people: they have their policies, and everything that they load is there and kept for ever.

use std::collections::BTreeSet;

use common::routes::{DOCS, FAVICON, INDEX, MARKET};
use conformance::Mismatch;

use super::inspection::Inspection;
use super::json::at;
use super::report::Report;
use super::request::Request;
use super::response::Response;

/// The `Cache-Control` of pages and the icon, and that of files whose address contains their hash.
const SHORT: &str = "public, max-age=300";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// What the policy of every page and file contains.
const POLICY: [&str; 2] = ["default-src 'none'", "frame-ancestors 'none'"];
/// What the policies of the pages contain besides.
const PAGE_POLICY: [&str; 3] = ["script-src 'self'", "connect-src 'self'", "base-uri 'none'"];
const MARKET_POLICY: [&str; 3] = ["style-src 'self'", "img-src 'self'", "require-trusted-types-for 'script'"];

/// The headers of every page and file, besides those that depend on it.
const HEADERS: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("strict-transport-security", "max-age=31536000"),
];

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    let are_off = are_off(inspection).await;
    for (path, own_policy) in [(DOCS.path, [].as_slice()), (MARKET.path, MARKET_POLICY.as_slice())] {
        let names =
            [format!("page GET {path}"), format!("files of GET {path}"), format!("redirect GET {path}/")];
        if are_off {
            for name in names {
                skip(report, name);
            }
            continue;
        }
        let [page_name, files_name, redirect_name] = names;
        match page(inspection, path, own_policy).await {
            Ok(page) => {
                report.check(page_name, Ok(()));
                report.check(files_name, check_files(inspection, &page).await);
            }
            Err(mismatch) => {
                report.check(page_name, Err(mismatch));
                report.skip(files_name, "there is no such page");
            }
        }
        report.check(redirect_name, check_redirect(inspection, path).await);
    }
    let name = format!("icon GET {}", FAVICON.path);
    if are_off { skip(report, name) } else { report.check(name, check_icon(inspection).await) }
}

fn skip(report: &mut Report, name: String) {
    report.skip(name, "the pages are switched off");
}

/// Whether the operator has switched the pages off: the paths are unknown routes, and the index names another documentation.
async fn are_off(inspection: &Inspection<'_>) -> bool {
    let get = async |path| inspection.client.send(&Request::anonymous(path)).await.ok();
    let is_unknown = get(DOCS.path).await.is_some_and(|page| page.status == 404 && page.has_envelope());
    let index = if is_unknown { get(INDEX.path).await } else { None };
    let index = index.and_then(|index| index.json().ok());
    index.is_some_and(|index| at(&index, "/data/documentation") != DOCS.path)
}

/// The text of the page.
///
/// # Errors
/// The first difference.
async fn page(inspection: &Inspection<'_>, path: &str, own_policy: &[&str]) -> Result<String, Mismatch> {
    let page = inspection.client.send(&Request::anonymous(path)).await?;
    check_headers(&page, "text/html; charset=utf-8", SHORT)?;
    let policy: Vec<_> = POLICY.iter().chain(&PAGE_POLICY).chain(own_policy).copied().collect();
    check_policy(&page, &policy)?;
    if page.text.starts_with("<!doctype html>") {
        Ok(page.text)
    } else {
        Err(Mismatch::new("an HTML page", page.summary()))
    }
}

/// Checks every file whose address is in the page.
///
/// # Errors
/// The first difference.
async fn check_files(inspection: &Inspection<'_>, page: &str) -> Result<(), Mismatch> {
    let files: BTreeSet<_> = page.split('"').filter(|text| text.starts_with("assets/")).collect();
    if files.is_empty() {
        return Err(Mismatch::new("a page that loads files", "a page without any"));
    }
    for file in files {
        let content_type = match file.rsplit_once('.') {
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => return Err(Mismatch::new("a script, a style sheet or an icon", file)),
        };
        // The addresses are relative to the page.
        let response = inspection.client.send(&Request::anonymous(format!("/{file}"))).await?;
        let checked =
            check_headers(&response, content_type, IMMUTABLE).and_then(|()| check_policy(&response, &POLICY));
        checked.map_err(|Mismatch { expected, received }| {
            Mismatch::new(format!("GET /{file}: {expected}"), received)
        })?;
        if response.text.is_empty() {
            return Err(Mismatch::new(format!("GET /{file}: a file"), "an empty body"));
        }
    }
    Ok(())
}

async fn check_icon(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    let icon = inspection.client.send(&Request::anonymous(FAVICON.path)).await?;
    check_headers(&icon, "image/svg+xml", SHORT)?;
    check_policy(&icon, &POLICY)
}

/// Checks that a slash at the end leads to the page, with the query.
async fn check_redirect(inspection: &Inspection<'_>, path: &str) -> Result<(), Mismatch> {
    let request = Request::anonymous(format!("{path}/?range=7d"));
    let response = inspection.client.send(&request).await?;
    let expected = format!("..{path}?range=7d");
    if response.status == 308 && response.header("location") == Some(&expected) {
        return Ok(());
    }
    let received = format!("{} {}", response.status, response.header_text("location"));
    Err(Mismatch::new(format!("308 {expected}"), received))
}

fn check_headers(response: &Response, content_type: &str, cache_control: &str) -> Result<(), Mismatch> {
    if response.status != 200 {
        return Err(Mismatch::new("the status 200", response.summary()));
    }
    for (name, expected) in
        [("content-type", content_type), ("cache-control", cache_control)].into_iter().chain(HEADERS)
    {
        if response.header(name) != Some(expected) {
            return Err(Mismatch::new(format!("the header {name}: {expected}"), response.header_text(name)));
        }
    }
    Ok(())
}

/// Checks that the policy has these directives, and that it allows no other scripts.
fn check_policy(response: &Response, directives: &[&str]) -> Result<(), Mismatch> {
    let name = "content-security-policy";
    let given: Vec<_> = response.header(name).unwrap_or_default().split(';').map(str::trim).collect();
    match directives.iter().find(|directive| !given.contains(directive)) {
        None => Ok(()),
        Some(missing) => {
            Err(Mismatch::new(format!("{missing} in the header {name}"), response.header_text(name)))
        }
    }
}
