//! One request to every route.

use std::sync::Arc;

use common::routes::{self, Route};
use local::Cloud;
use simulator::{Fault, Resource};
use tokio::task::JoinSet;

/// The functions that pass on the content of one resource of the provider, byte for byte.
const PASSING: [&str; 1] = ["collections"];

/// The candles of all products of a day, which `record_prices` records.
const ALL_CANDLES: &str = "/v1/bazaar/candles/all?interval=1d&opened_at=2026-01-01T00:00:00Z";

/// The beginning of the paths of the name service.
pub(crate) const NAME_SERVICE: &str = "/users/";

/// A request to one route, and the upstream requests that it causes: none if the route serves history.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) route: &'static Route,
    /// The path to request, with its query.
    pub(crate) path: &'static str,
    /// The upstream paths, in the order in which they are requested.
    pub(crate) upstream: &'static [&'static str],
}

/// One request to every route under `/v1`.
pub(crate) fn examples() -> impl Iterator<Item = Example> {
    routes::VERSION_1.into_iter().map(|route| {
        let (path, upstream): (_, &[_]) = match route.function {
            "mayor" => ("/v1/mayor", &["/v2/resources/skyblock/election"]),
            "mayor-history" => ("/v1/mayor/history", &[]),
            "fire-sales-history" => ("/v1/fire-sales/history", &[]),
            "bazaar-history" => ("/v1/bazaar/history?item_id=INK_SACK:3", &[]),
            "bazaar-candles" => ("/v1/bazaar/candles?item_id=INK_SACK:3", &[]),
            "bazaar-candles-all" => (ALL_CANDLES, &[]),
            "fire-sales" => ("/v1/fire-sales", &["/v2/skyblock/firesales"]),
            "bazaar" => ("/v1/bazaar", &["/v2/skyblock/bazaar"]),
            "auctions" => ("/v1/auctions", &["/v2/skyblock/auctions"]),
            "auctions-averages" => ("/v1/auctions/averages", &[]),
            "auctions-candles" => ("/v1/auctions/candles?id=GOLDEN_DRAGON%3B4", &[]),
            "auctions-prices" => ("/v1/auctions/prices", &[]),
            "collections" => ("/v1/collections", &["/v2/resources/skyblock/collections"]),
            "items" => ("/v1/items", &["/v2/resources/skyblock/items"]),
            "status" => ("/v1/status", &[]),
            "profile" => ("/v1/profile/Notch", &["/users/profiles/minecraft/Notch", "/v2/skyblock/profiles"]),
            other => panic!("{other} is a new route: add its upstream requests here"),
        };
        Example { route, path, upstream }
    })
}

/// One request to every route that requests something from an upstream.
pub(crate) fn live_examples() -> impl Iterator<Item = Example> {
    examples().filter(|example| !example.upstream.is_empty())
}

/// One request to every route that passes on the content of a resource, with this resource.
pub(crate) fn passing_examples() -> impl Iterator<Item = (Example, Resource)> {
    let passing = examples().filter(|example| PASSING.contains(&example.route.function));
    passing.map(|example| {
        let resource = Resource::at(example.upstream[0]).unwrap();
        (example, resource)
    })
}

/// The smallest bazaar: one without a price is not served.
const BAZAAR: &str = r#""products":{"A":{"quick_status":{"sellPrice":1,"buyPrice":2,"sellVolume":3,"buyVolume":4,"sellMovingWeek":5,"buyMovingWeek":6}}}"#;

/// Makes the upstream serve small bodies, unless another fault is set for a path. The usual ones take seconds on a busy machine, and
/// a function counts the time of a fetch as part of the age: tests of exact times need fetches below a second.
pub(crate) fn serve_small_bodies(cloud: &Cloud) {
    for (path, rest) in [
        ("/v2/skyblock/auctions*", r#""page":0,"totalPages":1,"totalAuctions":0,"auctions":[]"#),
        ("/v2/skyblock/bazaar*", BAZAAR),
        ("/v2/skyblock/profiles*", r#""profiles":null"#),
        ("/v2/resources/skyblock/items*", r#""items":[]"#),
    ] {
        let body = format!(r#"{{"success":true,"lastUpdated":1777388578000,{rest}}}"#);
        cloud.simulator().unwrap().set_fault(path, Fault::default().with_body(body));
    }
}

/// Runs `check` for every live route, all at the same time.
pub(crate) async fn for_every_live_route<F>(cloud: &Arc<Cloud>, check: impl Fn(Arc<Cloud>, Example) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let checks: JoinSet<()> = live_examples().map(|example| check(Arc::clone(cloud), example)).collect();
    checks.join_all().await;
}
