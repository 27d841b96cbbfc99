//! Properties that hold for any input from outside. `cargo test -p fuzz` generates inputs with `proptest`;
//! `cargo fuzz` (`tests/README.md`) searches for harmful bodies of the provider, guided by coverage.

pub mod json;

#[cfg(test)]
mod tests;

use common::request::parameters::PageNumber;
use common::upstream::auctions::{Auction, Listing};
use common::upstream::{Rows, auctions, bazaar, election, ended_auctions, fire_sales, items, profiles};
use common::upstream::{UpstreamError, UpstreamResponse};

/// The most bytes of an error about a body. An error quotes a few hundred characters of the body, which
/// escapes can lengthen.
const LONGEST_ERROR: usize = 4_000;

/// Reads the body as each resource of the provider in turn. The body may be refused if it has another shape,
/// or if most of its rows are invalid.
///
/// # Panics
/// If rows are refused although at most half of them are invalid, rows are served although most are invalid,
/// or a message grows with the body.
pub fn provider_body(data: &[u8]) {
    let Ok(body) = str::from_utf8(data) else { return };
    let response = UpstreamResponse::new("/body", body.to_owned());
    let market = bazaar::market(&response, bazaar::Orders::LeftOut);
    for product in market.iter().flat_map(|market| &market.products.usable) {
        if let Err(error) = bazaar::order_book(&response, product) {
            check_length(&error.to_string());
        }
    }
    check(&response, market.map(|market| market.products));
    let first = PageNumber::default();
    check(&response, auctions::parse::<Auction<'_>>(first, &response).map(|page| page.auctions));
    check(&response, auctions::parse::<Listing<'_>>(first, &response).map(|page| page.auctions));
    check(&response, ended_auctions::parse(&response).map(|(_, rows)| rows));
    check(&response, fire_sales::parse(&response));
    check(&response, election::parse(&response).map(|elections| elections.mayor.perks));
    check(&response, profiles::parse(&response));
    check(&response, items::parse(&response));
}

fn check<T>(response: &UpstreamResponse, rows: Result<Rows<T>, UpstreamError>) {
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return check_length(&error.to_string()),
    };
    let usable = rows.usable.len();
    let skipped = rows.skipped.names.len();
    assert_eq!(rows.skipped.reason.is_some(), skipped > 0);
    check_length(&rows.skipped.first_names());
    match rows.into_usable(response) {
        Ok(rows) => assert!(rows.len() == usable && skipped <= usable),
        Err(error) => {
            assert!(skipped > usable);
            check_length(&error.to_string());
        }
    }
}

fn check_length(text: &str) {
    assert!(text.len() <= LONGEST_ERROR, "{} bytes", text.len());
}
