//! `GET /v1/bazaar/history`: what a product cost over a range of time.

use std::str::FromStr;
use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::{ItemId, Refused};
use common::prices::{spread, spread_percent};
use common::request::Request;
use common::routes::{self, Route};
use common::time::UnixSeconds;
#[cfg(feature = "openapi")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use tables::Table;
use tables::history::bazaar::{self, Point, TIERS, Tier};

/// How much an instance remembers: some hundred charts.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// What a product cost over a range of time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "BazaarHistory"))]
struct Data<'a> {
    /// The product.
    item_id: &'a str,
    /// The range that was asked for.
    #[cfg_attr(feature = "openapi", schemars(extend("enum" = TIERS.each_ref().map(|tier| tier.range))))]
    range: &'static str,
    /// How many points there are.
    #[serde(rename = "dataPoints")]
    count: usize,
    /// The points, oldest first.
    history: Vec<HistoryPoint>,
}

/// What the product cost at a tick (`interface.md`, part 2). Prices are in coins, exact to 0.01; volumes in items.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "BazaarHistoryPoint"))]
struct HistoryPoint {
    /// What one item brought when sold at once, in coins.
    sell_price: f64,
    /// What one item cost when bought at once, in coins.
    buy_price: f64,
    /// How many items the open buy orders wanted.
    sell_volume: i64,
    /// How many items the open sell offers held.
    buy_volume: i64,
    /// `buy_price - sell_price` in coins, not rounded.
    spread: f64,
    /// The spread in per cent of `sell_price`; 0 when that is 0.
    spread_percent: f64,
    /// The minute that was recorded.
    recorded_at: UnixSeconds,
}

impl From<Point> for HistoryPoint {
    fn from(Point { recorded_at, quote }: Point) -> Self {
        let (sell_price, buy_price) = (quote.sell_price.coins(), quote.buy_price.coins());
        Self {
            sell_price,
            buy_price,
            sell_volume: quote.sell_volume,
            buy_volume: quote.buy_volume,
            spread: spread(sell_price, buy_price),
            spread_percent: spread_percent(sell_price, buy_price),
            recorded_at,
        }
    }
}

/// The range that a caller asks for; 24 hours if they say nothing (`interface.md`, part 4).
#[derive(Debug, Clone, Copy)]
struct Range(&'static Tier);

impl Default for Range {
    fn default() -> Self {
        let [_, tier, ..] = &TIERS;
        Self(tier)
    }
}

impl FromStr for Range {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let tier = TIERS.iter().find(|tier| tier.range == text);
        let allowed = || TIERS.each_ref().map(|tier| tier.range).join(", ");
        tier.map(Self).ok_or_else(|| Refused::must_be(format!("one of {}", allowed())))
    }
}

/// The function.
#[derive(Debug)]
pub struct BazaarHistory {
    table: Table,
    charts: Cached<(&'static str, ItemId), Arc<Document>, tables::Error>,
}

impl Function for BazaarHistory {
    const ROUTE: &'static Route = &routes::BAZAAR_HISTORY;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, charts: Cached::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let id: ItemId = request.required("item_id", "")?;
        let Range(tier) = request.parameter("range")?;
        let invocation = request.invocation();
        let fetch = async || {
            let now = invocation.now().into();
            let points = bazaar::points(&self.table, tier, &id, now, invocation.upstream_deadline());
            let points = invocation.waiting_for(points).await?;
            let history: Vec<_> = points.into_iter().map(HistoryPoint::from).collect();
            let (item_id, range) = (id.as_str(), tier.range);
            let data = Data { item_id, range, count: history.len(), history };
            Document::of(&data).map(Arc::new).map_err(tables::Error::unwritable)
        };
        let served = self.charts.get((tier.range, id.clone()), invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}

#[cfg(feature = "openapi")]
impl JsonSchema for Range {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Range".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let Self(default) = Self::default();
        json_schema!({"type": "string", "enum": TIERS.each_ref().map(|tier| tier.range), "default": default.range})
    }
}

#[cfg(feature = "openapi")]
impl Described for BazaarHistory {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE).parameter::<ItemId>("item_id").parameter::<Range>("range")
    }
}
