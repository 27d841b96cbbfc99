//! The errors that some routes return and others do not, each with a request that causes it. The messages are those of the code.
//! Tests send the requests.

use auctions::unknown_page;
use bazaar::{BOOK_ID_CONDITION, ID_CONDITION, IDS_CONDITION, unknown_item};
use bazaar_candles_all::{not_a_start, not_ended, not_kept};
use common::request::parameters::{InvalidValue, OpenedAt};
use common::request::split::split_id;
use common::request::{invalid_parameter, missing_parameter};
use common::response::error::{ApiError, Code};
use common::routes::{
    AUCTIONS, AUCTIONS_AVERAGES, AUCTIONS_CANDLES, AUCTIONS_PRICES, BAZAAR, BAZAAR_CANDLES,
    BAZAAR_CANDLES_ALL, BAZAAR_HISTORY, FIRE_SALES_HISTORY, MAYOR_HISTORY, PROFILE, Route,
};
use profile::unknown_player;
use tables::bazaar::INTERVALS;
use tables::series::Interval;

use crate::error::Error;

/// A request that fails.
pub(crate) struct Failure {
    /// The name of the example.
    pub(crate) name: &'static str,
    /// Path and query.
    pub(crate) request: &'static str,
    /// The kind of error.
    pub(crate) code: Code,
    /// The message for the client.
    pub(crate) message: String,
}

/// A request that fails with `error`.
fn failure(name: &'static str, request: &'static str, error: &ApiError) -> Failure {
    Failure { name, request, code: error.code(), message: error.message().to_owned() }
}

/// A request in which the parameter has this value, which is not allowed.
fn invalid(
    route: &Route,
    parameter: &'static str,
    value: &str,
    request: &'static str,
) -> Result<Failure, Error> {
    let declared = route.parameter(parameter).ok_or(Error::NoFailure(request))?;
    let error = invalid_parameter(parameter, InvalidValue { allowed: declared.allowed }, value);
    Ok(failure(parameter, request, &error))
}

/// Returns requests to the route of `function` that fail.
///
/// # Errors
/// If one of them cannot be built from the table of routes.
pub(crate) fn of(function: &str) -> Result<Vec<Failure>, Error> {
    Ok(match function {
        "mayor-history" => vec![
            invalid(&MAYOR_HISTORY, "limit", "0", "/v1/mayor/history?limit=0")?,
            invalid(&MAYOR_HISTORY, "before", "now", "/v1/mayor/history?before=now")?,
        ],
        "fire-sales-history" => {
            vec![
                invalid(&FIRE_SALES_HISTORY, "limit", "201", "/v1/fire-sales/history?limit=201")?,
                invalid(&FIRE_SALES_HISTORY, "before", "now", "/v1/fire-sales/history?before=now")?,
            ]
        }
        "bazaar" => vec![
            invalid(&BAZAAR, "mode", "best", "/v1/bazaar?mode=best")?,
            failure("id", "/v1/bazaar?mode=item", &missing_parameter("id", ID_CONDITION)),
            invalid(&BAZAAR, "limit", "0", "/v1/bazaar?mode=flips&limit=0")?,
            failure("missing_ids", "/v1/bazaar?mode=items", &missing_parameter("ids", IDS_CONDITION)),
            invalid(&BAZAAR, "ids", "COAL,,COBBLESTONE", "/v1/bazaar?mode=items&ids=COAL,,COBBLESTONE")?,
            failure("book_id", "/v1/bazaar?mode=book", &missing_parameter("id", BOOK_ID_CONDITION)),
            failure("item", "/v1/bazaar?mode=item&id=NO_SUCH_ITEM", &unknown_item("NO_SUCH_ITEM")),
            failure("book", "/v1/bazaar?mode=book&id=NO_SUCH_ITEM", &unknown_item("NO_SUCH_ITEM")),
        ],
        "bazaar-candles" => vec![
            failure("missing", "/v1/bazaar/candles", &missing_parameter("item_id", "")),
            invalid(&BAZAAR_CANDLES, "item_id", "ink_sack", "/v1/bazaar/candles?item_id=ink_sack")?,
            invalid(&BAZAAR_CANDLES, "interval", "2h", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=2h")?,
            invalid(&BAZAAR_CANDLES, "before", "now", "/v1/bazaar/candles?item_id=INK_SACK:3&before=now")?,
            invalid(&BAZAAR_CANDLES, "limit", "0", "/v1/bazaar/candles?item_id=INK_SACK:3&limit=0")?,
        ],
        "bazaar-candles-all" => of_all_candles()?,
        "bazaar-history" => vec![
            failure("missing", "/v1/bazaar/history", &missing_parameter("item_id", "")),
            invalid(&BAZAAR_HISTORY, "item_id", "ink_sack", "/v1/bazaar/history?item_id=ink_sack")?,
            invalid(&BAZAAR_HISTORY, "range", "2h", "/v1/bazaar/history?item_id=INK_SACK:3&range=2h")?,
        ],
        "auctions" => {
            let request = "/v1/auctions?page=9999";
            let page = "9999".parse().map_err(|_| Error::NoFailure(request))?;
            vec![
                invalid(&AUCTIONS, "page", "-1", "/v1/auctions?page=-1")?,
                failure("page", request, &unknown_page(page)),
            ]
        }
        "auctions-prices" => vec![
            invalid(
                &AUCTIONS_PRICES,
                "ids",
                "HYPERION,,TERMINATOR",
                "/v1/auctions/prices?ids=HYPERION,,TERMINATOR",
            )?,
            failure("semicolon", "/v1/auctions/prices?ids=GOLDEN_DRAGON;4", &split_id("ids", "4")),
        ],
        "auctions-averages" => vec![
            invalid(&AUCTIONS_AVERAGES, "window", "2d", "/v1/auctions/averages?window=2d")?,
            invalid(&AUCTIONS_AVERAGES, "ids", "HYPERION,", "/v1/auctions/averages?ids=HYPERION,")?,
        ],
        "auctions-candles" => vec![
            failure("missing", "/v1/auctions/candles", &missing_parameter("id", "")),
            invalid(&AUCTIONS_CANDLES, "id", "hyperion", "/v1/auctions/candles?id=hyperion")?,
            invalid(&AUCTIONS_CANDLES, "interval", "5m", "/v1/auctions/candles?id=HYPERION&interval=5m")?,
            invalid(&AUCTIONS_CANDLES, "before", "now", "/v1/auctions/candles?id=HYPERION&before=now")?,
            invalid(&AUCTIONS_CANDLES, "limit", "0", "/v1/auctions/candles?id=HYPERION&limit=0")?,
            failure("semicolon", "/v1/auctions/candles?id=GOLDEN_DRAGON;4", &split_id("id", "4")),
        ],
        "profile" => {
            let request = "/v1/profile/nobody_here";
            let username = "nobody_here".parse().map_err(|_| Error::NoFailure(request))?;
            vec![
                invalid(&PROFILE, "username", "not.a.name", "/v1/profile/not.a.name")?,
                failure("player", request, &unknown_player(&username)),
            ]
        }
        _ => Vec::new(),
    })
}

/// Requests to the route with the candles of all products that fail.
fn of_all_candles() -> Result<Vec<Failure>, Error> {
    let request = "/v1/bazaar/candles/all?opened_at=2026-01-01T00:40:00Z";
    let [.., hour, _, day] = &INTERVALS;
    let time = |text: &str| text.parse::<OpenedAt>().map_err(|_| Error::NoFailure(request));
    let start = time("2026-01-01T00:40:00Z")?;
    let slot =
        |interval: &'static Interval, text: &str| Ok::<_, Error>(interval.at(time(text)?.time().into()));
    Ok(vec![
        failure("missing", "/v1/bazaar/candles/all", &missing_parameter("opened_at", "")),
        failure("opened_at", request, &not_a_start(hour, &start)),
        invalid(
            &BAZAAR_CANDLES_ALL,
            "interval",
            "5m",
            "/v1/bazaar/candles/all?interval=5m&opened_at=2026-01-01T00:00:00Z",
        )?,
        invalid(
            &BAZAAR_CANDLES_ALL,
            "format",
            "xml",
            "/v1/bazaar/candles/all?opened_at=2026-01-01T00:00:00Z&format=xml",
        )?,
        failure(
            "not_complete",
            "/v1/bazaar/candles/all?interval=1d&opened_at=2226-01-01T00:00:00Z",
            &not_ended(slot(day, "2226-01-01T00:00:00Z")?),
        ),
        failure(
            "too_old",
            "/v1/bazaar/candles/all?opened_at=2020-01-01T00:00:00Z",
            &not_kept(slot(hour, "2020-01-01T00:00:00Z")?),
        ),
    ])
}
