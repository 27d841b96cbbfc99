//! The parameter `mode`.

use std::str::FromStr;

use common::request::parameters::{Allowed, InvalidValue, Value};
use common::routes::BAZAAR_MODES;

/// What a request asks of the bazaar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// All products as the provider gives them.
    #[default]
    Full,
    /// The ids of the active products.
    List,
    /// One product with its spread.
    Item,
    /// The products with the highest spreads.
    Flips,
    /// Many products with their spreads.
    Items,
    /// The open orders of one product.
    Book,
    /// All products with the prices of their best orders.
    Prices,
}

impl Value for Mode {
    const ALLOWED: Allowed = BAZAAR_MODES;
}

impl FromStr for Mode {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "full" => Ok(Self::Full),
            "list" => Ok(Self::List),
            "item" => Ok(Self::Item),
            "flips" => Ok(Self::Flips),
            "items" => Ok(Self::Items),
            "book" => Ok(Self::Book),
            "prices" => Ok(Self::Prices),
            _ => Err(InvalidValue::of::<Self>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_are_those_of_the_table_of_routes() {
        let Allowed::OneOf { words, default } = BAZAAR_MODES else { panic!("modes are words") };
        let modes: Result<Vec<Mode>, _> = words.iter().map(|word| word.parse()).collect();
        let one = [Mode::Full, Mode::List, Mode::Item, Mode::Flips];
        let all = [one.as_slice(), &[Mode::Items, Mode::Book, Mode::Prices]].concat();
        assert_eq!(modes, Ok(all));
        assert_eq!(default.parse(), Ok(Mode::default()));
        for text in ["", "FULL", "Full", " full", "full ", "fullflips", "history"] {
            assert!(text.parse::<Mode>().is_err(), "{text:?}");
        }
    }
}
