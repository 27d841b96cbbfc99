//! The query of a request: the mode, and the values of its parameters.

use std::str::FromStr;

use common::error::ApiError;
use common::excerpt::Excerpt;
use common::request::Request;
use common::request::parameters::{Allowed, InvalidValue, Value};
use common::routes::BazaarIds;

use crate::flips::Rules;

/// A request to this route, with the parameters of its mode.
#[derive(Debug)]
pub enum Query {
    /// All products as the provider gives them.
    Full,
    /// The ids of the active products.
    List,
    Item(ProductId),
    /// The products with the highest spreads.
    Flips(Rules),
    Items(BazaarIds),
    /// The open orders of the product with this id.
    Book(ProductId),
    /// All products with the prices of their best orders.
    Prices,
}

impl Query {
    /// Parses the parameters of the request.
    pub(crate) fn of(request: &Request) -> Result<Self, ApiError> {
        Ok(match request.word("mode")? {
            "full" => Self::Full,
            "list" => Self::List,
            "item" => Self::Item(request.required("id", ID_CONDITION)?),
            "items" => Self::Items(request.required("ids", IDS_CONDITION)?),
            "book" => Self::Book(request.required("id", BOOK_ID_CONDITION)?),
            "flips" => Self::Flips(Rules {
                limit: request.limit("limit")?,
                min_price: request.number("min_price")?,
                min_volume: request.number("min_volume")?,
            }),
            "prices" => Self::Prices,
            other => return Err(ApiError::internal(format!("mode '{other}' has no response"))),
        })
    }
}

/// The end of the error for a missing `id` in `mode=item`.
pub(crate) const ID_CONDITION: &str = " with mode=item";

/// The end of the error for missing `ids` in `mode=items`.
pub(crate) const IDS_CONDITION: &str = " with mode=items";

/// The end of the error for a missing `id` in `mode=book`.
pub(crate) const BOOK_ID_CONDITION: &str = " with mode=book";

/// The id in a request: any text. If no product has the id, the response is a 404.
#[derive(Debug)]
pub struct ProductId(String);

impl ProductId {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for ProductId {
    const ALLOWED: Allowed = Allowed::AnyText;
}

impl FromStr for ProductId {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() { Err(InvalidValue::of::<Self>()) } else { Ok(Self(text.to_owned())) }
    }
}

pub(crate) fn unknown_item(id: &str) -> ApiError {
    let id = Excerpt::of(id);
    ApiError::not_found(format!(
        "No bazaar item has the id '{id}'. Use mode=list to get the ids of all active items."
    ))
}
