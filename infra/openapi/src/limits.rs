//! The limits of accounts, and the limits of routes for all clients together. The limits of accounts are defaults, which an operator can
//! change with the template's parameters.

use std::path::Path;

use common::auth::Tier;
use common::routes::{self, INDEX, OPENAPI, PAGES, TEXTS, VERSION_1};

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

/// Returns the limits as sentences for clients.
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

/// Returns the table of the limits of accounts.
pub(crate) fn of_accounts() -> String {
    let rows = LIMITS.into_iter().map(|limit| (limit, "")).chain([(FREE, ", if offered")]);
    let rows = rows.map(|(Limit { tier, rate, burst, quota }, condition)| {
        [format!("{}{condition}", code(tier.name())), rate.to_string(), burst.to_string(), quota.to_string()]
    });
    let columns = ["tier", "requests per second", "burst after a pause", "requests per calendar month (UTC)"];
    table(columns, rows)
}

/// Returns the table of the limits of requests without a key, which all clients share. `root` is the folder of the repository.
///
/// # Errors
/// If the template lacks a limit.
pub(crate) fn of_open_routes(root: &Path) -> Result<String, Error> {
    let mut rows = vec![
        ("preflight requests of all paths but `/`".to_owned(), of_method(root, "OPTIONS", "/{proxy+}")?),
        ("`/` and unknown routes".to_owned(), of_method(root, "'*'", "/*")?),
    ];
    let open = VERSION_1.into_iter().chain([&OPENAPI]).chain(TEXTS).chain(PAGES);
    for route in open.filter(|route| !route.requires_key) {
        rows.push((code(route.path), of_method(root, "GET", route.path)?));
    }
    let (paths, limits) = of_head(root)?;
    rows.push((format!("`HEAD` of each of the {paths} other paths that answer it"), limits));
    let cells = rows.into_iter().map(|(requests, [rate, burst])| [requests, rate, burst]);
    Ok(table(["requests", "per second", "burst"], cells))
}

/// Returns the number of paths with a method `HEAD`, and the limits of this method, which are the same for all paths. The root does not
/// count: its `HEAD` is part of its method `ANY`.
///
/// # Errors
/// If the template lacks a limit, or the limits differ.
pub(crate) fn of_head(root: &Path) -> Result<(usize, [String; 2]), Error> {
    let routes = routes::all().filter(|route| route.answers_head && route.path != INDEX.path);
    let limits = routes.map(|route| of_method(root, "HEAD", route.path)).collect::<Result<Vec<_>, _>>()?;
    let of_all = limits.first().filter(|first| limits.iter().all(|other| other == *first)).cloned();
    Ok((limits.len(), of_all.ok_or_else(|| Error::NoLimit("HEAD of all paths alike".to_owned()))?))
}

/// Returns the default of a parameter of the template at `template`, a path from the folder `root`.
///
/// # Errors
/// If the template has no such default.
pub(crate) fn default_of(root: &Path, template: &'static str, parameter: &str) -> Result<String, Error> {
    let source = read(root, template)?;
    let declaration = source.split_once(&format!("\n  {parameter}:\n"));
    let lines = declaration.into_iter().flat_map(|(_, rest)| rest.lines());
    // The next declaration begins with two blanks.
    let value = lines
        .take_while(|line| line.starts_with("    "))
        .find_map(|line| line.trim().strip_prefix("Default: "));
    value.map(str::to_owned).ok_or_else(|| Error::NoLimit(parameter.to_owned()))
}

/// Returns the limits in `template.yaml` for a method of a path, as they are written: requests per second, and at once.
///
/// # Errors
/// If the template has no limits for this method of the path.
pub(crate) fn of_method(root: &Path, method: &str, path: &str) -> Result<[String; 2], Error> {
    let source = read(root, "template.yaml")?;
    let missing = || Error::NoLimit(format!("{method} {path}"));
    let (front, rest) = path.split_at_checked(1).ok_or_else(missing)?;
    let written = if rest == "*" { path.to_owned() } else { format!("{front}~1{}", rest.replace('/', "~1")) };
    let mut entries = source.split("ResourcePath: ").skip(1);
    let head = format!("{written}\nHttpMethod: {method}\n");
    let found = entries.find_map(|entry| {
        let lines = entry.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        lines.starts_with(&head).then_some(lines)
    });
    let entry = found.ok_or_else(missing)?;
    let limit = |name: &str| {
        let value = entry.lines().find_map(|line| line.strip_prefix(name));
        value.map(str::to_owned).ok_or_else(missing)
    };
    Ok([limit("ThrottlingRateLimit: ")?, limit("ThrottlingBurstLimit: ")?])
}

/// Returns the text of a file in the folder `root`.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(root: &Path, path: &'static str) -> Result<String, Error> {
    std::fs::read_to_string(root.join(path)).map_err(|cause| Error::Unreadable { path, cause })
}
