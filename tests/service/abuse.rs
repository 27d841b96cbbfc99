//! What abuse costs an operator at most. The limits of the template bound it, and the table in `infra/README.md`, Limits, has these
//! figures.

use common::routes::{
    ASSETS, DOCS, DOCS_MARKDOWN, FAVICON, LLMS, MARKET, OPENAPI, REFERENCE_SCRIPT, STATUS, VERSION_1,
};
use local::Cloud;

use crate::pages::{PAGES, folder, sources};
use crate::support::{get, in_repository, limits, one_instance_each, start_with};

/// What everything that requires no valid key may cost together in a month, in dollars, with the web ACL of `infra/firewall.yaml`.
const MOST_WITHOUT_KEY: f64 = 300.0;
/// What one key of each tier may cost.
const MOST_BY_TIER: [(&str, &str, f64); 2] =
    [("starter", "StarterMonthlyQuota", 290.0), ("pro", "ProMonthlyQuota", 870.0)];

/// A month has 730 hours. Prices are in dollars, as on `infra/README.md`, Cost.
const SECONDS: f64 = 730.0 * 3_600.0;
/// API Gateway and the access log.
const PER_REQUEST: f64 = 3.50e-6 + PER_ACCESS_LINE;
const PER_ACCESS_LINE: f64 = 0.30e-6;
/// Lambda and the log.
const PER_INVOCATION: f64 = 0.20e-6 + 0.35e-6;
const PER_GB_SECOND: f64 = 0.000_013_333_4;
/// Consistent, of at most 4 KB.
const PER_READ: f64 = 0.125e-6;
const PER_BYTE: f64 = 0.09e-9;
/// AWS WAF.
const PER_INSPECTED_REQUEST: f64 = 0.60e-6;

/// The memory of the functions without a key, rounded up, and how long they take at most for a usual response and for the script of
/// the API reference.
const GIGABYTES: f64 = 0.25;
const SHORT_S: f64 = 0.02;
const LONG_S: f64 = 1.0;
/// The same for a large response of a route with a key.
const LARGE_GIGABYTES: f64 = 0.75;
const LARGE_S: f64 = 0.1;
/// The provider's bazaar of 2026-04-28 15:03 UTC, uncompressed, and the largest response of Lambda, which profiles can have.
const LARGE_RESPONSES: [(&str, usize); 2] =
    [("the complete bazaar", 3_238_625), ("profiles of 6 MB", 6 * 1_024 * 1_024)];
/// The size of the headers.
const HEADERS: usize = 1_000;
/// A 429 or 403 that the gateway generates: its headers and its body.
const REFUSAL: usize = 600;

/// API Gateway may apply the limit of a path with the method `ANY` to each of the seven methods. `GET` of the root and `OPTIONS` of all
/// other paths are methods of their own.
const METHODS_OF_THE_INDEX: f64 = 7.0 + 6.0;

fn amount(number: usize) -> f64 {
    u32::try_from(number).unwrap().into()
}

/// The dollars of one request with a response of this many bytes, which takes a function this long.
fn dollars(bytes: usize, function_s: f64, gigabytes: f64) -> f64 {
    let function = PER_INVOCATION + function_s * gigabytes * PER_GB_SECOND;
    PER_REQUEST + function + amount(bytes + HEADERS) * PER_BYTE
}

/// A row of the table: the kind of abuse, its limits, and its dollars in a month.
struct Row {
    abuse: String,
    rate: String,
    burst: String,
    dollars: f64,
}

impl Row {
    /// All requests of a month that these limits let pass.
    fn at_limits(abuse: &str, [rate, burst]: [String; 2], paths: f64, dollars: f64) -> Self {
        let [per_second, at_once] = [&rate, &burst].map(|limit| limit.parse::<f64>().unwrap());
        let requests = (at_once + per_second * SECONDS) * paths;
        Self { abuse: abuse.to_owned(), rate, burst, dollars: requests * dollars }
    }

    fn on_page(&self) -> String {
        let Self { abuse, rate, burst, dollars } = self;
        format!("| {abuse} | {rate} | {burst} | {dollars:.0} |")
    }
}

/// The default of a parameter.
fn default_of(template: &str, parameter: &str) -> String {
    let source = std::fs::read_to_string(in_repository(template)).unwrap();
    let (_, declaration) = source.split_once(&format!("\n  {parameter}:\n")).unwrap();
    let (_, value) = declaration.split_once("Default: ").unwrap();
    value.lines().next().unwrap().to_owned()
}

/// Requests without a key, each kind at its limit.
async fn open(cloud: &Cloud) -> Vec<Row> {
    let sources = sources();
    let script = get(cloud, &format!("{}/scalar.js", folder(cloud).await)).await.text.len();
    // A client that accepts no compression receives all bytes.
    let is_page = |name: &str| PAGES.iter().any(|(_, page)| *page == name);
    let files = sources.iter().filter(|(name, _)| !is_page(name));
    let largest = files.map(|(_, text)| text.len()).max().unwrap();
    // The addresses in a page are longer than in its file.
    let source = |name: &str| sources[name].len() + 1_000;
    let received = async |path: &str| get(cloud, path).await.text.len();
    let of_get = |path: &str, bytes: usize, seconds: f64| {
        Row::at_limits(&format!("`{path}`"), limits("GET", path), 1.0, dollars(bytes, seconds, GIGABYTES))
    };
    let of_index = dollars(received("/").await.max(received("/unknown").await), SHORT_S, GIGABYTES);
    vec![
        Row::at_limits(
            "preflight requests of all paths",
            limits("OPTIONS", "/{proxy+}"),
            1.0,
            dollars(2, SHORT_S, GIGABYTES),
        ),
        Row::at_limits(
            "`/` and unknown paths, each of 13 methods",
            limits("'*'", "/*"),
            METHODS_OF_THE_INDEX,
            of_index,
        ),
        of_get(OPENAPI.path, received(OPENAPI.path).await, SHORT_S),
        of_get(DOCS_MARKDOWN.path, received(DOCS_MARKDOWN.path).await, SHORT_S),
        of_get(LLMS.path, received(LLMS.path).await, SHORT_S),
        of_get(STATUS.path, received(STATUS.path).await, SHORT_S),
        of_get(DOCS.path, received(DOCS.path).await, SHORT_S),
        of_get(MARKET.path, source("market.html"), SHORT_S),
        of_get(ASSETS.path, largest, SHORT_S),
        of_get(REFERENCE_SCRIPT.path, script, LONG_S),
        of_get(FAVICON.path, source("icon.svg"), SHORT_S),
    ]
}

/// Requests that no limit bounds, 1,000 in each second: those above a limit, and those that a web ACL blocks. API Gateway and Lambda do not
/// charge for them, but each has a line in the access log and a response.
fn refused() -> [Row; 2] {
    let refusal = PER_ACCESS_LINE + amount(REFUSAL) * PER_BYTE;
    let every_second = || ["1000".to_owned(), "0".to_owned()];
    [
        Row::at_limits("requests above the limits (429)", every_second(), 1.0, refusal),
        Row::at_limits(
            "requests that a web ACL blocks",
            every_second(),
            1.0,
            refusal + PER_INSPECTED_REQUEST,
        ),
    ]
}

/// Requests with wrong keys: of all routes at their limits, and of one address that the web ACL limits. API Gateway does not charge for
/// them, but the authorizer runs.
fn with_wrong_keys() -> [Row; 2] {
    let refusal = PER_ACCESS_LINE + PER_INVOCATION + SHORT_S * GIGABYTES * PER_GB_SECOND + PER_READ;
    let routes = VERSION_1.iter().filter(|route| route.requires_key).count();
    let all = ["RouteRateLimit", "RouteBurstLimit"].map(|name| default_of("template.yaml", name));
    let five_minutes: f64 = default_of("infra/firewall.yaml", "RequestsPerAddress").parse().unwrap();
    let one = [format!("{:.1}", five_minutes / 300.0), "0".to_owned()];
    [
        Row::at_limits("wrong keys, without a web ACL, each route", all, amount(routes), refusal),
        Row::at_limits(
            "wrong keys of one address, with `infra/firewall.yaml`",
            one,
            1.0,
            refusal + PER_INSPECTED_REQUEST,
        ),
    ]
}

#[tokio::test]
async fn abuse_without_a_valid_key_costs_less_than_300_dollars_in_a_month_and_the_page_says_how_much() {
    let cloud = start_with(one_instance_each()).await;
    let page = std::fs::read_to_string(in_repository("infra/README.md")).unwrap();
    let (open, [unbounded, of_one_address], refused) = (open(&cloud).await, with_wrong_keys(), refused());
    let total: f64 = open.iter().chain([&of_one_address]).map(|row| row.dollars).sum();
    assert!(total < MOST_WITHOUT_KEY, "{total:.2} dollars: lower a limit in template.yaml");
    let rows = open.iter().chain([&unbounded, &of_one_address]).chain(&refused);
    let mut expected: Vec<_> = rows.map(Row::on_page).collect();
    expected.push(format!("together at most {total:.0} dollars"));
    expected.retain(|text| !page.contains(text));
    assert!(expected.is_empty(), "infra/README.md does not say: {}", expected.join("\n"));
}

#[test]
fn one_key_costs_at_most_what_its_quota_allows_and_the_page_says_how_much() {
    let page = std::fs::read_to_string(in_repository("infra/README.md")).unwrap();
    for (tier, quota, most) in MOST_BY_TIER {
        let quota = default_of("template.yaml", quota);
        for (fetched, bytes) in LARGE_RESPONSES {
            let total = quota.parse::<f64>().unwrap() * dollars(bytes, LARGE_S, LARGE_GIGABYTES);
            assert!(total < most, "{tier}: {total}");
            let row = format!(
                "| one `{tier}` key that fetches {fetched} uncompressed | quota of {quota} | | {total:.0} |"
            );
            assert!(page.contains(&row), "infra/README.md has no row {row}");
        }
    }
}
