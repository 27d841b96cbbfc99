//! Anyone may request the pages and send preflight requests, so their limits bound the operator's cost. The figures are on
//! `infra/README.md`, Limits.

use common::routes::{ASSETS, DOCS, FAVICON, MARKET, REFERENCE_SCRIPT};

use super::{PAGES, folder, sources};
use crate::support::{get, limits, start};

/// What all requests of a month for the pages together may cost, in dollars.
const MOST: f64 = 50.0;

/// A month has 730 hours. Prices are in dollars, as on `infra/README.md`, Cost.
const SECONDS: f64 = 730.0 * 3_600.0;
const PER_REQUEST: f64 = 3.80e-6;
const PER_INVOCATION: f64 = 0.20e-6 + 0.35e-6;
const PER_GB_SECOND: f64 = 0.000_013_333_4;
const PER_BYTE: f64 = 0.09e-9;

/// The memory of the function, rounded up.
const GIGABYTES: f64 = 0.25;
/// How long the function takes at most for a small file and for the script of the API reference.
const SHORT_S: f64 = 0.1;
const LONG_S: f64 = 1.0;
/// The size of the headers.
const HEADERS: usize = 1_000;

/// The dollars of a month in which all requests that the limits of the method let pass receive this many bytes.
fn dollars(method: &str, path: &str, bytes: usize, function_s: f64) -> f64 {
    let [rate, burst] = limits(method, path).map(|limit| limit.parse::<f64>().unwrap());
    let requests = burst + rate * SECONDS;
    let function = PER_INVOCATION + function_s * GIGABYTES * PER_GB_SECOND;
    let bytes = u32::try_from(bytes + HEADERS).unwrap();
    requests * (PER_REQUEST + function + f64::from(bytes) * PER_BYTE)
}

#[tokio::test]
async fn requests_at_the_limits_cost_less_than_50_dollars_in_a_month_and_the_page_says_how_much() {
    let cloud = start().await;
    let sources = sources();
    let script = get(&cloud, &format!("{}/scalar.js", folder(&cloud).await)).await.text.len();
    // A client that accepts no compression receives all bytes.
    let is_page = |name: &str| PAGES.iter().any(|(_, page)| *page == name);
    let largest =
        sources.iter().filter(|(name, _)| !is_page(name)).map(|(_, text)| text.len()).max().unwrap();
    // The addresses in a page are longer than in its file.
    let size = |name: &str| sources[name].len() + 1_000;
    let rows = [
        (DOCS.path, dollars("GET", DOCS.path, size("docs.html"), SHORT_S)),
        (MARKET.path, dollars("GET", MARKET.path, size("market.html"), SHORT_S)),
        (ASSETS.path, dollars("GET", ASSETS.path, largest, SHORT_S)),
        (REFERENCE_SCRIPT.path, dollars("GET", REFERENCE_SCRIPT.path, script, LONG_S)),
        (FAVICON.path, dollars("GET", FAVICON.path, size("icon.svg"), SHORT_S)),
    ];
    let total: f64 = rows.iter().map(|(_, dollars)| dollars).sum();
    assert!(total < MOST, "{total}: {rows:?}");

    let page = std::fs::read_to_string(crate::support::in_repository("infra/README.md")).unwrap();
    for (path, dollars) in rows {
        let [rate, burst] = limits("GET", path);
        let row = format!("| `{path}` | {rate} | {burst} | {dollars:.0} |");
        assert!(page.contains(&row), "infra/README.md has no row {row}");
    }
    let sentence = format!("{total:.0} dollars");
    assert!(page.contains(&sentence), "infra/README.md does not say {sentence}");
}

#[test]
fn preflight_requests_at_their_limit_cost_what_the_page_says() {
    let [rate, burst] = limits("OPTIONS", "/{proxy+}");
    let dollars = dollars("OPTIONS", "/{proxy+}", 2, SHORT_S);
    let page = std::fs::read_to_string(crate::support::in_repository("infra/README.md")).unwrap();
    for text in [
        format!("{rate} preflight requests per second and a burst of {burst}"),
        format!("costs {dollars:.0} dollars. Meanwhile, requests of browsers"),
    ] {
        assert!(page.contains(&text), "infra/README.md does not say {text}");
    }
}
