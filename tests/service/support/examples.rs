//! The example requests of the routes.

use std::sync::{Arc, LazyLock};

use common::routes::{Expiry, Reads, Route, VERSION_1};
use local::Cloud;
use simulator::{Fault, Resource};
use tokio::task::JoinSet;

use crate::provider::parsed;

/// The beginning of the paths of the name service.
pub(crate) const NAME_SERVICE: &str = "/users/";

/// A request to one route, and the upstream requests that it causes. Requests for recorded data cause none.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) route: &'static Route,
    /// The path to request, with its query.
    pub(crate) path: &'static str,
    /// The paths of the upstream requests, in order.
    pub(crate) upstream: Vec<String>,
}

/// The example requests in the descriptions of the functions. A route with several kinds of responses has
/// several examples.
static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let requests = openapi::requests().unwrap().into_iter().filter(|(_, path)| path.starts_with("/v1/"));
    requests
        .map(|(route, path)| {
            let last_segment = path.rsplit('/').next().unwrap();
            let upstream = route.reads.paths().iter().map(|path| path.replace("{username}", last_segment));
            Example { route, path, upstream: upstream.collect() }
        })
        .collect()
});

/// One request to every route under `/v1`.
pub(crate) fn examples() -> impl Iterator<Item = &'static Example> {
    VERSION_1.into_iter().map(|route| {
        let example = EXAMPLES.iter().find(|example| example.route.path == route.path);
        example.unwrap_or_else(|| panic!("{} has no example", route.path))
    })
}

/// One request to every route that sends requests to an upstream.
pub(crate) fn live_examples() -> impl Iterator<Item = &'static Example> {
    examples().filter(|example| !example.upstream.is_empty())
}

/// One request to every route that passes on the content of a resource, and that resource.
pub(crate) fn passing_examples() -> impl Iterator<Item = (&'static Example, Resource)> {
    examples().filter_map(|example| match example.route.reads {
        Reads::Passed(path) => Some((example, Resource::at(path).unwrap())),
        _ => None,
    })
}

/// Requests to every route of recorded data whose responses go stale, for every kind of response.
pub(crate) fn recorded_requests() -> impl Iterator<Item = &'static str> {
    let recorded = |Route { reads, expiry, .. }: &Route| *reads == Reads::History && *expiry == Expiry::Stale;
    EXAMPLES.iter().filter(move |example| recorded(example.route)).map(|example| example.path)
}

/// A request with these pairs for a query parameter, such as `limit=5`. The other parameters are from an
/// example that has this parameter.
pub(crate) fn request_with(route: &Route, parameter: &str, pairs: &str) -> String {
    let has_parameter = |pair: &&str| pair.split('=').next() == Some(parameter);
    let examples = EXAMPLES.iter().filter(|example| example.route.path == route.path);
    let mut queries = examples.filter_map(|example| example.path.split_once('?').map(|(_, query)| query));
    let query = queries.find(|query| query.split('&').any(|pair| has_parameter(&pair))).unwrap();
    let others = query.split('&').filter(|pair| !has_parameter(pair));
    format!("{}?{}", route.path, others.chain([pairs]).collect::<Vec<_>>().join("&"))
}

/// Makes the upstream serve bodies with one row, except where a path has its own fault. A function counts the
/// time of a fetch as part of the data's age, so tests of exact times need fetches below a second. Usual
/// bodies take seconds on a busy machine.
pub(crate) fn serve_small_bodies(cloud: &Cloud) {
    for resource in parsed().filter(|resource| resource.route.is_some()) {
        let body = resource.body(&resource.usual("A"));
        cloud
            .simulator()
            .unwrap()
            .set_fault(&format!("{}*", resource.path), Fault::default().with_body(body));
    }
}

/// Runs `check` for all live routes at the same time.
pub(crate) async fn for_every_live_route<F>(
    cloud: &Arc<Cloud>,
    check: impl Fn(Arc<Cloud>, &'static Example) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let checks: JoinSet<()> = live_examples().map(|example| check(Arc::clone(cloud), example)).collect();
    checks.join_all().await;
}
