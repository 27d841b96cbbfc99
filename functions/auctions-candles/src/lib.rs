//! `GET /v1/auctions/candles`: the lowest prices of an item in auctions during hours or days, and the prices
//! of its sales.

use common::description::{Describe, Description};
use common::error::ApiError;
use common::request::auction_item_id::AuctionItemId;
use common::request::split::split_id;
use common::request::{Request, missing_parameter};
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::{UnixMilliseconds, UnixSeconds};
use handlers::{CandlePages, not_before};
use schemars::JsonSchema;
use serde::Serialize;
use tables::auctions::{Candle, CandleFields};
use tables::series::{Page, PagedCandle};

/// A page of candles of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsCandles")]
struct CandlePage<'a> {
    /// The item's id.
    id: &'a str,
    /// The requested interval.
    interval: &'static str,
    /// The number of candles.
    count: usize,
    /// The candles, oldest first. Intervals in which the item was neither listed nor sold have no candle.
    candles: Vec<PageEntry>,
    /// The `before` of the next page, which is older; null if there are no older candles. Even a short or
    /// empty page can have a next page.
    next_before: Option<UnixSeconds>,
}

/// The prices of an item during one interval, in coins, exact to 0.01. All prices are per item, even for
/// stacks. `lowest_` prices are null if the item was not listed, and `sale_` prices if it was not sold.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsCandle")]
struct PageEntry {
    /// The start of the interval.
    opened_at: UnixSeconds,
    /// The prices, and the numbers of auctions and sales.
    #[serde(flatten)]
    fields: CandleFields,
    /// Whether the candle is complete. If not, the day has not ended or its candle is not built yet, and this
    /// candle is computed from hours.
    complete: bool,
}

impl From<PagedCandle<Candle>> for PageEntry {
    fn from(PagedCandle { opened_at, candle, is_complete }: PagedCandle<Candle>) -> Self {
        Self { opened_at, fields: CandleFields::from(&candle), complete: is_complete }
    }
}

#[derive(Debug)]
pub struct AuctionsCandles;

impl CandlePages for AuctionsCandles {
    const ROUTE: &'static Route = &routes::AUCTIONS_CANDLES;

    type Candle = Candle;

    fn id(request: &Request) -> Result<AuctionItemId, ApiError> {
        let id = request.required("id", "")?;
        request.refuse_split("id").map(|()| id)
    }

    fn document(
        id: &AuctionItemId,
        interval: &'static str,
        Page { candles, next_before }: Page<Candle>,
    ) -> serde_json::Result<Document> {
        let (id, candles) = (id.as_str(), candles.into_iter().map(PageEntry::from).collect::<Vec<_>>());
        Document::of(&CandlePage { id, interval, count: candles.len(), candles, next_before })
    }
}

impl Describe for AuctionsCandles {
    fn description() -> Description {
        let [january_1, january_2] = [1_767_225_600_000, 1_767_312_000_000].map(UnixMilliseconds::new);
        Description::of::<CandlePage>(Self::ROUTE, include_str!("../example.json"))
            .fails("missing", "/v1/auctions/candles", missing_parameter("id", ""))
            .invalid("id", "/v1/auctions/candles?id=hyperion")
            .invalid("interval", "/v1/auctions/candles?id=HYPERION&interval=5m")
            .invalid("from", "/v1/auctions/candles?id=HYPERION&from=yesterday")
            .invalid("before", "/v1/auctions/candles?id=HYPERION&before=now")
            .fails(
                "reversed",
                "/v1/auctions/candles?id=HYPERION&from=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z",
                not_before(january_2, january_1),
            )
            .invalid("limit", "/v1/auctions/candles?id=HYPERION&limit=0")
            .fails("semicolon", "/v1/auctions/candles?id=GOLDEN_DRAGON;4", split_id("id", "4"))
    }
}
