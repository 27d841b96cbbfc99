//! `GET /v1/bazaar/candles/all`: the candles of all products in one complete interval.

mod query;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::{Request, missing_parameter};
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::{UnixMilliseconds, UnixSeconds};
use schemars::JsonSchema;
use serde::Serialize;
use tables::bazaar::{Candle, Candles, INTERVALS, ProductCandle};
use tables::series::{Slot, SlotCandles, csv, slot_candles};
use tables::{Error, ResponseError, Table};

use self::query::{Format, Query, not_a_start, not_complete, not_kept};

/// Room for about fifteen intervals.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// The candles of all products in one interval.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarCandlesAll")]
struct AllCandles<'a> {
    /// The requested interval.
    #[schemars(extend("enum" = query::INTERVAL_NAMES))]
    interval: &'static str,
    /// The start of the interval.
    opened_at: UnixSeconds,
    /// The number of candles.
    count: usize,
    /// The candles, sorted by `item_id`. Products that were not recorded in the interval have no candle.
    candles: Vec<ProductCandle<'a>>,
}

#[derive(Debug)]
pub struct BazaarCandlesAll {
    table: Table,
    documents: Cache<(&'static str, UnixSeconds, Format), Arc<Document>>,
}

impl Handler for BazaarCandlesAll {
    const ROUTE: &'static Route = &routes::BAZAAR_CANDLES_ALL;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, documents: Cache::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let invocation = request.invocation();
        let now = invocation.now().into();
        let Query { slot, format } = Query::of(request, now)?;
        let fetch = async || match slot_candles::<Candle>(self.table.during(invocation), slot).await? {
            SlotCandles::Built(candles) if !candles.is_empty() => document(slot, format, &candles)
                .map(Arc::new)
                .map_err(|error| Error::unwritable(error).into()),
            SlotCandles::Built(_) | SlotCandles::NotRecorded => {
                Err(ResponseError::Nothing(not_recorded(slot)))
            }
            SlotCandles::NotBuilt => Err(ResponseError::Nothing(not_built(slot, now))),
        };
        let key = (slot.interval.name, slot.start, format);
        Ok(self.documents.get(key, invocation, fetch).await?.into())
    }
}

fn document(slot: Slot, format: Format, candles: &Candles) -> serde_json::Result<Document> {
    if format == Format::Csv {
        return csv::<Candle>(candles).map(Document::csv);
    }
    let candles: Vec<_> = candles.iter().map(|(id, candle)| ProductCandle::of(id, candle)).collect();
    let interval = slot.interval.name;
    let opened_at = slot.start;
    Document::of(&AllCandles { interval, opened_at, count: candles.len(), candles })
}

/// The error for an interval that has ended, but whose candles are not built.
fn not_built(slot: Slot, now: UnixSeconds) -> ApiError {
    if now < slot.built_by() {
        return not_complete(slot);
    }
    ApiError::not_found(format!(
        "The candles of {slot} are late: they are not built yet. Try again in five minutes; the feed 'candles' of /v1/status shows the end of \
         the newest candles."
    ))
}

fn not_recorded(slot: Slot) -> ApiError {
    ApiError::not_found(format!("Nothing was recorded in the interval {slot}."))
}

impl Describe for BazaarCandlesAll {
    fn description() -> Description {
        let [.., hour, _, day] = &INTERVALS;
        let invalid_start = "2026-01-01T00:40:00Z";
        let invalid_start_ms = UnixMilliseconds::new(1_767_228_000_000);
        // 2226-01-01T00:00:00Z and 2020-01-01T00:00:00Z.
        let future_day = day.at(UnixSeconds::new(8_078_572_800));
        let old_hour = hour.at(UnixSeconds::new(1_577_836_800));
        Description::of::<AllCandles<'_>>(Self::ROUTE, include_str!("../example.json"))
            .or_csv()
            .fails("missing", "/v1/bazaar/candles/all", missing_parameter("opened_at", ""))
            .fails(
                "opened_at",
                "/v1/bazaar/candles/all?opened_at=2026-01-01T00:40:00Z",
                not_a_start(hour, invalid_start_ms, invalid_start),
            )
            .invalid("interval", "/v1/bazaar/candles/all?interval=5m&opened_at=2026-01-01T00:00:00Z")
            .invalid("format", "/v1/bazaar/candles/all?opened_at=2026-01-01T00:00:00Z&format=xml")
            .fails(
                "not_complete",
                "/v1/bazaar/candles/all?interval=1d&opened_at=2226-01-01T00:00:00Z",
                not_complete(future_day),
            )
            .fails("too_old", "/v1/bazaar/candles/all?opened_at=2020-01-01T00:00:00Z", not_kept(old_hour))
    }
}
