//! The highest cost of abuse for an operator: the table in `infra/README.md`, Worst-case cost. The limits in
//! `template.yaml` bound the cost.

use std::path::Path;

use common::description::{Describe, Description};
use common::routes::{
    ASSETS, DOCS, DOCS_MARKDOWN, FAVICON, LLMS, MARKET, OPENAPI, REFERENCE_SCRIPT, Route, STATUS, VERSION_1,
};
use local::template::{Document, Template, Throttle};
use serde_json::Value;
use status::Status;

use crate::error::Error;
use crate::examples::Example;
use crate::limits::{self, of_head, of_method};
use crate::table::{code, table as markdown_table};

/// The most that all requests without a valid key may cost in a month, in dollars, with the web ACL of
/// `infra/firewall.yaml`.
const MOST_WITHOUT_KEY: f64 = 300.0;
/// The most that one customer may cost in a month, in dollars.
const MOST_OF_A_CUSTOMER: f64 = 1_160.0;
/// The parameters of the quotas of the tiers that always exist, and of the tier that exists only if
/// `FreePlan` is on.
const QUOTAS: [&str; 2] = ["StarterMonthlyQuota", "ProMonthlyQuota"];
const FREE_QUOTA: &str = "FreeMonthlyQuota";
const IS_ON: &str = "on";

/// A month has 730 hours. Prices are in dollars, as in `infra/README.md`, Cost.
const SECONDS: f64 = 730.0 * 3_600.0;
/// API Gateway and the access log.
const PER_REQUEST: f64 = 3.50e-6 + PER_ACCESS_LINE;
const PER_ACCESS_LINE: f64 = 0.30e-6;
/// Lambda and the log.
const PER_INVOCATION: f64 = 0.20e-6 + 0.35e-6;
const PER_GB_SECOND: f64 = 0.000_013_333_4;
/// A consistent read of at most 4 KB.
const PER_READ: f64 = 0.125e-6;
/// Data transfer to the internet.
const PER_BYTE: f64 = 0.09e-9;
/// AWS WAF.
const PER_INSPECTED_REQUEST: f64 = 0.60e-6;

/// The memory of the functions that require no key, rounded up, and their longest durations: for a usual
/// response, and for the script of the API reference.
const GIGABYTES: f64 = 0.25;
const SHORT_S: f64 = 0.02;
const LONG_S: f64 = 1.0;
/// The memory and the duration for a large response of a route with a key.
const LARGE_GIGABYTES: f64 = 0.75;
const LARGE_S: f64 = 0.1;
/// The provider's bazaar of 2026-04-28 15:03 UTC, uncompressed, and Lambda's largest response, which profiles
/// can reach.
const LARGE_RESPONSES: [(&str, usize); 2] =
    [("the complete bazaar", 3_238_625), ("profiles of 6 MB", 6 * 1_024 * 1_024)];
/// An address of the public files, as long as that of a distribution without a domain.
const FILES: &str = "https://d111111abcdef8.cloudfront.net";
/// The size of an envelope without its data, in bytes, rounded up.
const ENVELOPE: usize = 100;
/// The size of a response's headers, in bytes.
const HEADERS: usize = 1_000;
/// The size of a 429 or 403 that the gateway generates, with its headers, in bytes.
const REFUSAL: usize = 600;

/// API Gateway may apply the limit of a path with the method `ANY` to each of its methods: to all seven
/// methods of the root, and to six of unknown paths, whose `OPTIONS` has another limit.
const METHODS_OF_THE_INDEX: f64 = 7.0 + 6.0;

/// A kind of abuse with its limits and its cost.
struct Abuse {
    kind: String,
    rate: String,
    burst: String,
    /// The cost of a month.
    dollars: f64,
}

impl Abuse {
    /// Returns the abuse that sends as many requests in a month as the limits allow, to each of `paths`
    /// paths. A request costs `dollars`.
    fn at_limits(kind: &str, limits: Throttle, paths: f64, dollars: f64) -> Self {
        let Throttle { rate, burst } = limits;
        let requests = (f64::from(burst) + rate * SECONDS) * paths;
        Self {
            kind: kind.to_owned(),
            rate: rate.to_string(),
            burst: burst.to_string(),
            dollars: requests * dollars,
        }
    }
}

/// Returns a parameter's default as a number.
fn number(text: &str) -> Result<f64, Error> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| Error::NoLimit(text.to_owned()))
}

fn amount(number: usize) -> f64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

/// Returns the cost of one request, in dollars. Its response has `bytes` bytes, and the function runs for
/// `function_s` seconds.
fn dollars(bytes: usize, function_s: f64, gigabytes: f64) -> f64 {
    let function = PER_INVOCATION + function_s * gigabytes * PER_GB_SECOND;
    PER_REQUEST + function + amount(bytes + HEADERS) * PER_BYTE
}

/// Returns the table. `document` is the OpenAPI document, and `texts` are the generated files of the index,
/// by name.
///
/// # Errors
/// If a template lacks a limit, or its limits let abuse cost more than allowed.
pub(crate) fn table(
    root: &Path,
    document: &Value,
    texts: &[(&'static str, String)],
) -> Result<String, Error> {
    let template = &limits::template(root)?;
    let open_requests = open(template, document, texts)?;
    let [unbounded, of_one_address] = with_wrong_keys(root, template)?;
    let together: f64 = open_requests.iter().chain([&of_one_address]).map(|row| row.dollars).sum();
    if together > MOST_WITHOUT_KEY {
        return Err(Error::CostsTooMuch {
            abuse: "requests without a valid key".to_owned(),
            dollars: together,
        });
    }
    let customer = of_a_customer(template)?;
    let rows = open_requests.into_iter().chain([of_one_address, unbounded]).chain(refused()).chain(customer);
    let cells = rows.map(|row| [row.kind, row.rate, row.burst, format!("{:.0}", row.dollars)]);
    let table = markdown_table(["abuse", "requests per second", "burst", "dollars"], cells);
    Ok(format!(
        "{table}With `infra/firewall.yaml`, these limits and one address with wrong keys cost at most {together:.0} dollars together."
    ))
}

/// Returns the requests without a key, each kind at its limit.
fn open(
    template: &Template,
    document: &Value,
    texts: &[(&'static str, String)],
) -> Result<Vec<Abuse>, Error> {
    let of_get = |route: &Route, bytes: usize, seconds: f64| {
        let limits = of_method(template, "GET", route.path)?;
        Ok::<_, Error>(Abuse::at_limits(&code(route.path), limits, 1.0, dollars(bytes, seconds, GIGABYTES)))
    };
    let text = |route: &Route| {
        let text = texts.iter().find(|(name, _)| route.path.trim_start_matches('/') == *name);
        text.map_or(0, |(_, text)| text.len())
    };
    let endpoints =
        index::endpoints(OPENAPI.path, Some(FILES)).map_err(|error| Error::NoEndpoints(error.to_string()))?;
    let Description { route, kinds, .. } = Status::description();
    let statuses = kinds.iter().map(|kind| Ok(Example::of(route, kind)?.data));
    let status = statuses.collect::<Result<Value, Error>>()?;
    let file = |name: &str| page::files().find(|file| file.name == name).map_or(0, |file| file.bytes);
    let script = REFERENCE_SCRIPT.path.rsplit('/').next().unwrap_or_default();
    let (paths, head_limits) = of_head(template)?;
    let largest = page::files().filter(|file| file.name != script).map(|file| file.bytes).max();
    Ok(vec![
        Abuse::at_limits(
            "preflight requests of all paths",
            of_method(template, "OPTIONS", "/{proxy+}")?,
            1.0,
            dollars(2, SHORT_S, GIGABYTES),
        ),
        Abuse::at_limits(
            "`/` and unknown paths, each of 13 methods",
            of_method(template, "*", "/*")?,
            METHODS_OF_THE_INDEX,
            dollars(endpoints.envelope_bytes(false), SHORT_S, GIGABYTES),
        ),
        of_get(&OPENAPI, document.to_string().len(), SHORT_S)?,
        of_get(&DOCS_MARKDOWN, text(&DOCS_MARKDOWN), SHORT_S)?,
        of_get(&LLMS, text(&LLMS), SHORT_S)?,
        of_get(&STATUS, status.to_string().len() + ENVELOPE, SHORT_S)?,
        of_get(&DOCS, file("docs.html"), SHORT_S)?,
        of_get(&MARKET, file("market.html"), SHORT_S)?,
        of_get(&ASSETS, largest.unwrap_or_default(), SHORT_S)?,
        of_get(&REFERENCE_SCRIPT, file(script), LONG_S)?,
        of_get(&FAVICON, file("icon.svg"), SHORT_S)?,
        Abuse::at_limits(
            &format!("`HEAD`, each of {paths} paths"),
            head_limits,
            amount(paths),
            dollars(0, SHORT_S, GIGABYTES),
        ),
    ])
}

/// Returns the requests that no limit bounds, at 1,000 per second: requests above a limit, and requests that
/// a web ACL blocks. API Gateway and Lambda do not charge for them, but each has a line in the access log and
/// a response.
fn refused() -> [Abuse; 2] {
    let refusal = PER_ACCESS_LINE + amount(REFUSAL) * PER_BYTE;
    let inspected = refusal + PER_INSPECTED_REQUEST;
    let every_second = Throttle { rate: 1_000.0, burst: 0 };
    [
        Abuse::at_limits("requests above the limits (429)", every_second, 1.0, refusal),
        Abuse::at_limits("requests that a web ACL blocks", every_second, 1.0, inspected),
    ]
}

/// Returns the requests with wrong keys: all routes at their limits, and one address at the limit of the web
/// ACL. API Gateway does not charge for them, but the authorizer runs.
fn with_wrong_keys(root: &Path, template: &Template) -> Result<[Abuse; 2], Error> {
    let refusal = PER_ACCESS_LINE + PER_INVOCATION + SHORT_S * GIGABYTES * PER_GB_SECOND + PER_READ;
    let routes = VERSION_1.iter().filter(|route| route.requires_key);
    let limits = routes.map(|route| of_method(template, "GET", route.path)).collect::<Result<Vec<_>, _>>()?;
    let of_each = limits.first().copied().ok_or_else(|| Error::NoLimit("routes with a key".to_owned()))?;
    let five_minutes = Document::read(&root.join("infra/firewall.yaml"))?.default_of("RequestsPerAddress");
    let five_minutes = number(&five_minutes.unwrap_or_default())?;
    let of_one_address = Throttle { rate: (five_minutes / 30.0).round() / 10.0, burst: 0 };
    let inspected = refusal + PER_INSPECTED_REQUEST;
    Ok([
        Abuse::at_limits("wrong keys, without a web ACL, each route", of_each, amount(limits.len()), refusal),
        Abuse::at_limits(
            "wrong keys of one address, with `infra/firewall.yaml`",
            of_one_address,
            1.0,
            inspected,
        ),
    ])
}

/// Returns the cost of one customer who fetches large responses until the quotas of all tiers are used up.
/// The keys of an account share its limits, so their number does not matter, but each tier that the account
/// has in the month has its own quota.
fn of_a_customer(template: &Template) -> Result<Vec<Abuse>, Error> {
    let default = |parameter: &str| {
        let value = template.parameters.get(parameter);
        value.map(String::as_str).ok_or_else(|| Error::NoLimit(parameter.to_owned()))
    };
    let free = (default("FreePlan")? == IS_ON).then_some(FREE_QUOTA);
    let quotas = free.into_iter().chain(QUOTAS).map(default).collect::<Result<Vec<_>, _>>()?;
    let requests = quotas.iter().map(|quota| number(quota)).sum::<Result<f64, _>>()?;
    let row = |(fetched, bytes): (&str, usize)| {
        let total = requests * dollars(bytes, LARGE_S, LARGE_GIGABYTES);
        let kind = format!(
            "one customer, with 20 keys and a change of tier in the month, who fetches {fetched} uncompressed"
        );
        if total > MOST_OF_A_CUSTOMER {
            return Err(Error::CostsTooMuch { abuse: kind, dollars: total });
        }
        let rate = format!("quotas of {}", quotas.join(" and "));
        Ok(Abuse { kind, rate, burst: String::new(), dollars: total })
    };
    LARGE_RESPONSES.into_iter().map(row).collect()
}
