//! The numbers of a quote or a candle, in rows and exports.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    Coins(f64),
    Count(i64),
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coins(coins) => coins.fmt(formatter),
            Self::Count(count) => count.fmt(formatter),
        }
    }
}

/// Numbers in a fixed order, without missing numbers at the end.
pub type Numbers = Vec<Option<Number>>;

pub(super) fn trimmed(numbers: impl IntoIterator<Item = Option<Number>>) -> Numbers {
    let mut numbers: Numbers = numbers.into_iter().collect();
    numbers.truncate(numbers.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    numbers
}
