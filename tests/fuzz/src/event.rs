//! From a proxy event to the parameters of a request.

use common::lambda::invocation::Invocation;
use common::request::parameters::{Before, ItemId, PageNumber, Username};
use common::request::{ProxyEvent, Request};
use common::response::error::{ApiError, Code};
use common::routes::{self, AuctionIds, CandlesLimit, FireSalesLimit, FlipsLimit, MayorsLimit, Route};

/// Longer than any message, even if it repeats values of control characters, which are escaped.
const LONGEST_MESSAGE: usize = 600;

/// Reads an event as a request to each route that has parameters. Every error is a 400 with a short message.
///
/// # Panics
/// If an error is another one.
pub fn event_to_request(data: &[u8]) {
    read(data, &routes::PROFILE, |request| request.required::<Username>("username", "").map(drop));
    read(data, &routes::BAZAAR, |request| request.parameter::<FlipsLimit>("limit").map(drop));
    read(data, &routes::BAZAAR_HISTORY, |request| request.required::<ItemId>("item_id", "").map(drop));
    read(data, &routes::BAZAAR_CANDLES, |request| {
        request.required::<ItemId>("item_id", "").map(drop)?;
        request.parameter::<Before>("before").map(drop)?;
        request.parameter::<CandlesLimit>("limit").map(drop)
    });
    read(data, &routes::AUCTIONS, |request| request.parameter::<PageNumber>("page").map(drop));
    read(data, &routes::AUCTIONS_PRICES, |request| request.optional::<AuctionIds>("ids").map(drop));
    read(data, &routes::MAYOR_HISTORY, |request| request.parameter::<MayorsLimit>("limit").map(drop));
    read(data, &routes::FIRE_SALES_HISTORY, |request| request.parameter::<FireSalesLimit>("limit").map(drop));
}

fn read(data: &[u8], route: &'static Route, parameters: impl Fn(&Request) -> Result<(), ApiError>) {
    let Ok(event) = serde_json::from_slice::<ProxyEvent>(data) else { return };
    let time = event.time();
    assert!(time.http_date().ends_with(" GMT"));
    let request = Request::new(event, route, Invocation::new(time, tokio::time::Instant::now()));
    // It becomes a part of the header `Location`.
    let query = request.query();
    assert!(query.chars().all(|c| c.is_ascii_alphanumeric() || "%=&".contains(c)), "{query:?}");
    for result in [request.refuse_conflicts(), parameters(&request)] {
        let Err(error) = result else { continue };
        assert_eq!(error.code(), Code::BadRequest);
        let message = error.message();
        assert!(message.len() <= LONGEST_MESSAGE && !message.chars().any(char::is_control), "{message:?}");
    }
}
