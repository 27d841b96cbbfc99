//! `GET /v1/bazaar/candles`: the prices of a product during intervals of five minutes to a day.

use common::description::{Describe, Description};
use common::error::ApiError;
use common::request::parameters::ItemId;
use common::request::{Request, missing_parameter};
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::{UnixMilliseconds, UnixSeconds};
use handlers::{CandlePages, not_before};
use schemars::JsonSchema;
use serde::Serialize;
use tables::bazaar::{Candle, CandleFields};
use tables::series::{Page, PagedCandle};

/// A page of candles of a product.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarCandles")]
struct CandlePage<'a> {
    /// The product's id.
    item_id: &'a str,
    /// The requested interval.
    interval: &'static str,
    /// The number of candles.
    count: usize,
    /// The candles, oldest first. Intervals in which the product was not recorded have no candle.
    candles: Vec<PageEntry>,
    /// The `before` of the next page, which is older; null if there are no older candles. Even a short or
    /// empty page can have a next page.
    next_before: Option<UnixSeconds>,
}

/// The prices and volumes of a product during one interval. Prices are in coins, rounded to 0.01; volumes are
/// in items.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarCandle")]
struct PageEntry {
    /// The start of the interval.
    opened_at: UnixSeconds,
    /// The prices and volumes.
    #[serde(flatten)]
    fields: CandleFields,
    /// Whether the candle is complete. If not, the interval has not ended or its candle is not built yet, and
    /// further minutes may change the values.
    complete: bool,
}

impl From<PagedCandle<Candle>> for PageEntry {
    fn from(PagedCandle { opened_at, candle, is_complete }: PagedCandle<Candle>) -> Self {
        Self { opened_at, fields: CandleFields::from(&candle), complete: is_complete }
    }
}

#[derive(Debug)]
pub struct BazaarCandles;

impl CandlePages for BazaarCandles {
    const ROUTE: &'static Route = &routes::BAZAAR_CANDLES;

    type Candle = Candle;

    fn id(request: &Request) -> Result<ItemId, ApiError> {
        request.required("item_id", "")
    }

    fn document(
        id: &ItemId,
        interval: &'static str,
        Page { candles, next_before }: Page<Candle>,
    ) -> serde_json::Result<Document> {
        let (item_id, candles) = (id.as_str(), candles.into_iter().map(PageEntry::from).collect::<Vec<_>>());
        Document::of(&CandlePage { item_id, interval, count: candles.len(), candles, next_before })
    }
}

impl Describe for BazaarCandles {
    fn description() -> Description {
        let [january_1, january_2] = [1_767_225_600_000, 1_767_312_000_000].map(UnixMilliseconds::new);
        Description::of::<CandlePage>(Self::ROUTE, include_str!("../example.json"))
            .fails("missing", "/v1/bazaar/candles", missing_parameter("item_id", ""))
            .invalid("item_id", "/v1/bazaar/candles?item_id=ink_sack")
            .invalid("interval", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=2h")
            .invalid("from", "/v1/bazaar/candles?item_id=INK_SACK:3&from=yesterday")
            .invalid("before", "/v1/bazaar/candles?item_id=INK_SACK:3&before=now")
            .fails(
                "reversed",
                "/v1/bazaar/candles?item_id=INK_SACK:3&from=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z",
                not_before(january_2, january_1),
            )
            .invalid("limit", "/v1/bazaar/candles?item_id=INK_SACK:3&limit=0")
    }
}
