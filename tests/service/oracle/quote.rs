//! Reads the quotes of charts.

use serde_json::Value;

/// The recorded prices and volumes of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quote {
    pub(crate) sell_price: f64,
    pub(crate) buy_price: f64,
    pub(crate) sell_volume: i64,
    pub(crate) buy_volume: i64,
}

impl Quote {
    /// Reads the quote in a point of a chart. The point's other fields must follow from the quote.
    ///
    /// # Errors
    /// The reason why the point is wrong.
    pub(crate) fn of_point(point: &Value) -> Result<Self, String> {
        let number = |field: &str| point[field].as_f64().ok_or(format!("{field} in {point}"));
        let whole = |field: &str| point[field].as_i64().ok_or(format!("{field} in {point}"));
        let sell_price = number("sell_price")?;
        let buy_price = number("buy_price")?;
        let is_right = number("spread")?.to_bits() == (buy_price - sell_price).to_bits()
            && number("spread_percent")?.to_bits() == percent(sell_price, buy_price).to_bits();
        if !is_right || point.as_object().is_none_or(|point| point.len() != 7) {
            return Err(format!("the point {point} is inconsistent"));
        }
        Ok(Self {
            sell_price,
            buy_price,
            sell_volume: whole("sell_volume")?,
            buy_volume: whole("buy_volume")?,
        })
    }
}

/// The spread in per cent of the sell price.
pub(crate) fn percent(sell: f64, buy: f64) -> f64 {
    if sell == 0.0 { 0.0 } else { (buy - sell) / sell * 100.0 }
}
