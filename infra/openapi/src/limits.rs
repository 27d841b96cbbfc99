//! The limits of accounts, and the limits of routes for all clients together. The limits of accounts are
//! defaults, which an operator can change with the template's parameters.

use std::path::Path;

use common::auth::Tier;
use common::routes::{self, INDEX, OPENAPI, PAGES, TEXTS, VERSION_1};
use local::template::{Document, Template, Throttle};

use crate::error::Error;
use crate::table::{code, table};

/// The defaults of a tier's usage plan.
struct Limit {
    tier: Tier,
    /// Requests per second in the long run.
    rate: f64,
    /// Requests at once after a pause.
    burst: u32,
    /// Requests in a calendar month.
    quota: u32,
}

impl Limit {
    /// Returns the limit as a sentence for clients, without a full stop.
    fn sentence(&self) -> String {
        let Self { tier, rate, burst, quota } = self;
        format!(
            "`{tier}` allows {rate} requests per second, {burst} at once after a pause, and {quota} in a calendar month (UTC)"
        )
    }
}

/// The tier that exists only if the operator offers the free plan.
const FREE: Limit = Limit { tier: Tier::Free, rate: 0.5, burst: 20, quota: 20_000 };

const LIMITS: [Limit; 2] = [
    Limit { tier: Tier::Starter, rate: 2.0, burst: 60, quota: 500_000 },
    Limit { tier: Tier::Pro, rate: 5.0, burst: 150, quota: 1_500_000 },
];

pub(crate) fn sentences() -> String {
    format!(
        "All keys of an account share its limits, which its tier determines. By default, {}; the operator may have chosen other values. \
         If the operator offers it, {}. Profiles have a separate limit for each account, by default one request per second and 10 at once, \
         and so has `/v1/usage`, with one request in ten seconds and 5 at once. \
         Responses from a cache also count. Requests beyond the limit get a 429 with `Retry-After`.",
        LIMITS.map(|limit| limit.sentence()).join(", "),
        FREE.sentence(),
    )
}

pub(crate) fn of_accounts() -> String {
    let rows = LIMITS.into_iter().map(|limit| (limit, "")).chain([(FREE, ", if offered")]);
    let rows = rows.map(|(Limit { tier, rate, burst, quota }, condition)| {
        [format!("{}{condition}", code(tier.name())), rate.to_string(), burst.to_string(), quota.to_string()]
    });
    let columns = ["tier", "requests per second", "burst after a pause", "requests per calendar month (UTC)"];
    table(columns, rows)
}

/// Returns the table of the limits of requests without a key, which all clients share.
///
/// # Errors
/// If the template lacks a limit.
pub(crate) fn of_open_routes(template: &Template) -> Result<String, Error> {
    let mut rows = vec![
        ("preflight requests of all paths but `/`".to_owned(), of_method(template, "OPTIONS", "/{proxy+}")?),
        ("`/` and unknown routes".to_owned(), of_method(template, "*", "/*")?),
    ];
    let open = VERSION_1.into_iter().chain([&OPENAPI]).chain(TEXTS).chain(PAGES);
    for route in open.filter(|route| !route.requires_key) {
        rows.push((code(route.path), of_method(template, "GET", route.path)?));
    }
    let (paths, limits) = of_head(template)?;
    rows.push((format!("`HEAD` of each of the {paths} other paths that answer it"), limits));
    let cells = rows
        .into_iter()
        .map(|(requests, Throttle { rate, burst })| [requests, rate.to_string(), burst.to_string()]);
    Ok(table(["requests", "per second", "burst"], cells))
}

/// Returns the number of paths with a method `HEAD`, and the limits of this method, which are the same for
/// all paths. The root does not count: its `HEAD` is part of its method `ANY`.
///
/// # Errors
/// If the template lacks a limit, or the limits differ.
pub(crate) fn of_head(template: &Template) -> Result<(usize, Throttle), Error> {
    let routes = routes::all().filter(|route| route.answers_head && route.path != INDEX.path);
    let limits =
        routes.map(|route| of_method(template, "HEAD", route.path)).collect::<Result<Vec<_>, _>>()?;
    let of_all = limits.first().filter(|first| limits.iter().all(|other| other == *first)).copied();
    Ok((limits.len(), of_all.ok_or_else(|| Error::NoLimit("HEAD of all paths alike".to_owned()))?))
}

/// Returns the template of the service with the defaults of its parameters. `root` is the folder of the
/// repository.
///
/// # Errors
/// If it cannot be read, or is invalid.
pub(crate) fn template(root: &Path) -> Result<Template, Error> {
    // The only parameter without a default. No limit depends on it.
    let dashboard = ("DashboardUrl".to_owned(), String::new());
    Ok(Document::read(&root.join("template.yaml"))?.evaluate(&[dashboard].into())?)
}

/// Returns the limits of a method of a path in `MethodSettings`: requests per second, and at once.
///
/// # Errors
/// If the template has no limits for this method of the path.
pub(crate) fn of_method(template: &Template, method: &str, path: &str) -> Result<Throttle, Error> {
    let limits = template.api.throttles.get(&(method.to_owned(), path.to_owned()));
    limits.copied().ok_or_else(|| Error::NoLimit(format!("{method} {path}")))
}

/// Returns the text of a file in the folder `root`.
pub(crate) fn read(root: &Path, path: &'static str) -> Result<String, Error> {
    std::fs::read_to_string(root.join(path)).map_err(|cause| Error::Unreadable { path, cause })
}
