//! The tables of `infra/README.md`.

use std::{iter, thread};

use markdown::{grouped, line};

use crate::assumptions::{FETCHES_PER_S, PROFILE_WINDOW_S, WRITE_UNITS_PER_S};
use crate::deployment::Deployment;
use crate::figures::{digits, percent};
use crate::limits::{Limit, limits};
use crate::managed::compared;
use crate::outcome::Outcome;
use crate::plan::{Plan, Waits};
use crate::prices::Dollars;
use crate::recommended::{LOADS, recommended, unlimited};
use crate::simulation::simulate;
use crate::workload::{KINDS, keys_in_use};

const SEED: u64 = 1;
/// As many requests as are counted at most. The same number comes before, or those of the longest TTL that matters.
const REQUESTS: f64 = 3e6;
const LONGEST_S: f64 = 3_600.0;
const SHORTEST_S: f64 = 900.0;

/// Returns the plan for a load that has been the same for a while.
#[must_use]
pub fn steady(requests_per_s: f64) -> Plan<'static> {
    let measured_s = (REQUESTS / requests_per_s).min(LONGEST_S);
    let warm_up_s = measured_s.max(SHORTEST_S);
    Plan { warm_up_s, measured_s, ..burst(requests_per_s) }
}

/// Returns the same for two windows of the provider's limit at least, for figures that need no longer time.
#[must_use]
pub fn short(requests_per_s: f64) -> Plan<'static> {
    let seconds = (REQUESTS / requests_per_s).clamp(PROFILE_WINDOW_S, 2.0 * PROFILE_WINDOW_S);
    Plan { warm_up_s: seconds, measured_s: seconds, ..steady(requests_per_s) }
}

/// Returns the plan for a minute that begins with everything cold.
#[must_use]
pub fn burst(requests_per_s: f64) -> Plan<'static> {
    Plan {
        kinds: &KINDS,
        requests_per_s,
        keys: keys_in_use(requests_per_s),
        waits: Waits::default(),
        warm_up_s: 0.0,
        measured_s: 60.0,
        seed: SEED,
    }
}

/// Ways to bound what reaches the provider, each in addition to the one before.
fn means(requests_per_s: f64) -> [(&'static str, Deployment); 5] {
    let without_cache = Deployment { stage_cache: false, paced: false, ..unlimited_routes() };
    let until_news = Deployment { paced: false, ..unlimited_routes() };
    let with_cache = Deployment { until_news: false, ..until_news.clone() };
    [
        ("without the stage cache", without_cache),
        ("with it", with_cache),
        ("instances keep the bazaar until there is news", until_news),
        ("fetches of profiles are spread over the window", unlimited_routes()),
        ("the settings above", recommended(requests_per_s)),
    ]
}

fn unlimited_routes() -> Deployment {
    Deployment { route: unlimited().route, ..Deployment::default() }
}

/// What was simulated for one load.
struct Step {
    requests_per_s: f64,
    deployment: Deployment,
    steady: Outcome,
    limits: Vec<Limit>,
    unlimited: Outcome,
    /// Fetches a second in the worst minute, steady and in a burst, for each of the means.
    means: Vec<(&'static str, [f64; 2])>,
}

impl Step {
    fn new(requests_per_s: f64) -> Self {
        let deployment = recommended(requests_per_s);
        let unlimited = simulate(&steady(requests_per_s), &unlimited());
        let players = unlimited.functions.get("profile").map_or(0.0, |work| work.fetches / unlimited.seconds);
        let limits = limits(requests_per_s, &Deployment::default(), &unlimited, players);
        let means = means(requests_per_s).into_iter().map(|(name, deployment)| {
            let plans = [short(requests_per_s), burst(requests_per_s)];
            (name, plans.map(|plan| simulate(&plan, &deployment).fetches_per_s_in_worst_minute()))
        });
        let means = means.collect();
        Self {
            requests_per_s,
            steady: simulate(&steady(requests_per_s), &deployment),
            deployment,
            limits,
            unlimited,
            means,
        }
    }
}

/// Returns the tables by name, as Markdown.
#[must_use]
pub fn tables() -> Vec<(&'static str, String)> {
    let steps: Vec<Step> = thread::scope(|scope| {
        let steps = LOADS.map(|load| scope.spawn(move || Step::new(load)));
        steps.into_iter().filter_map(|step| step.join().ok()).collect()
    });
    vec![
        ("loads", loads(&steps)),
        ("limits", breaking(&steps)),
        ("fetches", fetches(&steps)),
        ("managed", managed(&steps)),
    ]
}

/// A table with a column for each step.
fn table(first: &str, steps: &[Step], rows: Vec<(&str, Vec<String>)>) -> String {
    let loads: Vec<_> = steps.iter().map(|step| grouped(step.requests_per_s, 0)).collect();
    let header: Vec<_> = iter::once(first).chain(loads.iter().map(String::as_str)).collect();
    let rows = rows.into_iter().map(|(name, cells)| iter::once(name.to_owned()).chain(cells).collect());
    markdown::table(&header, &rows.collect::<Vec<_>>())
}

fn loads(steps: &[Step]) -> String {
    let cells = |cell: &dyn Fn(&Step, &Outcome) -> String| {
        steps.iter().map(|step| cell(step, &step.steady)).collect::<Vec<_>>()
    };
    let per_s = |count: f64, outcome: &Outcome| digits(count / outcome.seconds);
    let price = |item: &dyn Fn(&Dollars) -> f64| {
        cells(&|step, outcome| grouped(item(&Dollars::of(outcome, &step.deployment)), 0))
    };
    let rows: Vec<(&str, Vec<String>)> = vec![
        ("keys in use", cells(&|step, _| grouped(f64::from(keys_in_use(step.requests_per_s)), 0))),
        ("answered by the stage cache", cells(&|_, all| percent(all.stage_cache_hits / all.requests))),
        ("invocations a second", cells(&|_, all| per_s(all.invocations(), all))),
        (
            "instances, mean and most",
            cells(&|_, all| format!("{}, {}", grouped(all.instances, 0), grouped(all.most_instances, 0))),
        ),
        ("cold starts a minute", cells(&|_, all| digits(all.cold_starts() / all.seconds * 60.0))),
        (
            "latency within AWS, p50 and p99 in ms",
            cells(&|_, all| [0.5, 0.99].map(|share| grouped(all.latency_ms(share), 0)).join(", ")),
        ),
        (
            "fetches from the provider a second, mean and worst minute",
            cells(&|_, all| {
                format!("{}, {}", digits(all.fetches_per_s()), digits(all.fetches_per_s_in_worst_minute()))
            }),
        ),
        (
            "failed: the key of the provider is used up, no instance",
            cells(&|_, all| {
                [all.failures.provider, all.failures.lambda]
                    .map(|count| percent(count / all.requests))
                    .join(", ")
            }),
        ),
        (
            "read and write units a second",
            cells(&|_, all| format!("{}, {}", per_s(all.read_units, all), digits(WRITE_UNITS_PER_S))),
        ),
        (
            "MB: most in the stage cache, sent a second",
            cells(&|_, all| {
                format!("{}, {}", grouped(all.stage_cache_bytes / 1e6, 0), per_s(all.sent_bytes / 1e6, all))
            }),
        ),
        ("dollars: fixed and stage cache", price(&|dollars| dollars.fixed + dollars.stage_cache)),
        ("dollars: API Gateway and access log", price(&|dollars| dollars.gateway)),
        (
            "dollars: functions and their log, reads",
            cells(&|step, all| {
                let reads = Dollars::of(all, &step.deployment).reads;
                [functions(step, all), reads].map(|dollars| grouped(dollars, 0)).join("; ")
            }),
        ),
        ("dollars: sent", price(&|dollars| dollars.sent)),
        (
            "**dollars a month**",
            cells(&|step, all| {
                let dollars = Dollars::of(all, &step.deployment);
                format!("**{}**", grouped(dollars.sum() - dollars.functions + functions(step, all), 0))
            }),
        ),
    ];
    table("requests a second", steps, rows)
}

/// What the functions cost a month, those on Managed Instances included.
fn functions(step: &Step, outcome: &Outcome) -> f64 {
    let managed: Vec<&str> = step.deployment.managed.keys().copied().collect();
    let [lambda, processes] = compared(outcome, &managed);
    Dollars::of(outcome, &step.deployment).functions - lambda + processes
}

fn breaking(steps: &[Step]) -> String {
    let mut lines = line(&[
        "requests a second",
        "breaks first with the defaults",
        "needed, allowed",
        "moved by",
        "then",
        "settings",
    ]);
    lines += "|--:|---|--:|---|---|---|\n";
    for step in steps {
        let broken: Vec<&Limit> = step.limits.iter().filter(|limit| limit.share() > 1.0).collect();
        let Some(scarcest) = step.limits.first() else { continue };
        let name = if broken.is_empty() {
            format!("nothing; closest: {}", scarcest.name)
        } else {
            scarcest.name.to_owned()
        };
        let then: Vec<_> = broken.iter().skip(1).map(|limit| limit.name).collect();
        let then = if then.is_empty() { "nothing".to_owned() } else { then.join(", ") };
        let needed = format!("{}, {}", digits(scarcest.needed), digits(scarcest.most));
        let load = grouped(step.requests_per_s, 0);
        lines += &line(&[load, name, needed, scarcest.moved_by.to_owned(), then, settings(&step.deployment)]);
    }
    lines
}

/// What differs from the defaults, as the names of parameters.
fn settings(deployment: &Deployment) -> String {
    let default = Deployment::default();
    let mut settings = Vec::new();
    if deployment.route > default.route {
        let [rate, burst] = deployment.route.map(|limit| grouped(limit, 0));
        settings.push(format!("`RouteRateLimit` {rate}, `RouteBurstLimit` {burst}"));
    }
    if deployment.stage_cache_gb > default.stage_cache_gb {
        settings.push(format!("`CacheSize` {}", deployment.stage_cache_gb));
    }
    if let Some(reserved) = deployment.provider_reserved {
        settings.push(format!("`ProviderReservedConcurrency` {reserved}"));
    }
    settings.extend(
        deployment.reserved.iter().map(|(name, reserved)| format!("`{}` {reserved}", parameter(name))),
    );
    settings.extend(
        deployment.managed.keys().map(|name| format!("`{name}` on [Managed Instances](#managed-instances)")),
    );
    if settings.is_empty() { "the defaults".to_owned() } else { settings.join("; ") }
}

/// The parameter with the reservation of this function alone.
#[must_use]
pub fn parameter(function: &str) -> String {
    let first: String = function.chars().take(1).flat_map(char::to_uppercase).collect();
    let rest: String = function.chars().skip(1).collect();
    format!("{first}{rest}ReservedConcurrency")
}

fn fetches(steps: &[Step]) -> String {
    let Some(first) = steps.first() else { return String::new() };
    let rows: Vec<(&str, Vec<String>)> = first
        .means
        .iter()
        .enumerate()
        .map(|(index, (name, _))| {
            let cell = |step: &Step| step.means.get(index).map(|(_, figures)| figures.map(marked).join(", "));
            (*name, steps.iter().filter_map(cell).collect())
        })
        .collect();
    table("fetches a second in the worst minute: steady, and cold", steps, rows)
}

/// The figure, in bold if it is above the bound.
fn marked(figure: f64) -> String {
    if figure < FETCHES_PER_S { digits(figure) } else { format!("**{}**", digits(figure)) }
}

fn managed(steps: &[Step]) -> String {
    let groups: [(&str, &[&str]); 4] = [
        ("`bazaar`", &["bazaar"]),
        ("`auctions`", &["auctions"]),
        ("`bazaar-history` and `bazaar-candles`", &["bazaar-history", "bazaar-candles"]),
        ("`authorizer`", &["authorizer"]),
    ];
    let rows = groups.map(|(name, names)| {
        let cell = |step: &Step| compared(&step.unlimited, names).map(digits).join(", ");
        (name, steps.iter().map(cell).collect())
    });
    table("dollars a month for durations: on Lambda, on Managed Instances", steps, rows.into())
}
