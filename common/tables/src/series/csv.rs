//! The candles of a slot as CSV.

use common::json::Members;
use serde_json::value::RawValue;

use super::candle::{Candles, SeriesCandle};

/// Returns the candles as CSV, sorted by id. The header line has the names of the fields of
/// [`SeriesCandle::row`]. Each candle has one line, with its values as in JSON, except that `null` becomes an
/// empty value. Nothing is quoted, because ids have no commas. Without candles, the text is empty.
pub fn csv<C: SeriesCandle>(candles: &Candles<C>) -> Result<String, serde_json::Error> {
    let mut csv = String::new();
    for (id, candle) in candles {
        let row = serde_json::to_string(&candle.row(id))?;
        let fields: Members<&str, &RawValue> = serde_json::from_str(&row)?;
        if csv.is_empty() {
            add_line(&mut csv, fields.iter().map(|(name, _)| *name));
        }
        add_line(&mut csv, fields.iter().map(|(_, value)| text(value.get())));
    }
    Ok(csv)
}

/// Returns the text of a number or an id, without quotes.
fn text(json: &str) -> &str {
    if json == "null" { "" } else { json.trim_matches('"') }
}

fn add_line<'a>(csv: &mut String, fields: impl Iterator<Item = &'a str>) {
    for (position, field) in fields.enumerate() {
        if position > 0 {
            csv.push(',');
        }
        csv.push_str(field);
    }
    csv.push('\n');
}

#[cfg(test)]
mod tests {
    use common::routes::{AUCTIONS_COLUMNS, BAZAAR_COLUMNS};
    use common::time::UnixSeconds;

    use super::*;
    use crate::{auctions, bazaar};

    #[test]
    fn a_line_has_the_fields_of_the_json_in_their_order() {
        let [.., day] = &bazaar::INTERVALS;
        let candles = [("INK_SACK:3", ",2.5,2,2.25,,,,7000000000"), ("COAL", "")].map(|(id, best)| {
            let text = format!("1.5,3,1.25,2,5,7.5,0,7,10,5000000000,3,0{best}");
            let candle = bazaar::Candle::of_text(day.at(UnixSeconds::new(0)), &text).unwrap();
            (id.parse().unwrap(), candle)
        });
        let rows = "\
            COAL,1.5,3.0,1.25,2.0,5.0,7.5,0.0,7.0,10,5000000000,3,,,,,,,,\n\
            INK_SACK:3,1.5,3.0,1.25,2.0,5.0,7.5,0.0,7.0,10,5000000000,3,2.5,2.0,2.25,,,,7000000000,\n";
        assert_eq!(csv::<bazaar::Candle>(&candles.into()).unwrap(), format!("{BAZAAR_COLUMNS}\n{rows}"));
        assert_eq!(csv::<bazaar::Candle>(&[].into()).unwrap(), "");
    }

    #[test]
    fn a_price_without_a_listing_or_a_sale_is_empty() {
        let candles = [("SHEEP;4+100", "250,7,2"), ("ICE_RUNE;1", ";1,40")]
            .map(|(id, text)| (id.parse().unwrap(), auctions::Candle::of_text(text).unwrap()));
        let rows = "\
            ICE_RUNE;1,,,,,,,1,1,40.0,40.0,40.0,40.0,0\n\
            SHEEP;4+100,2.5,2.5,2.5,2.5,2.5,7,0,0,,,,,2\n";
        assert_eq!(csv::<auctions::Candle>(&candles.into()).unwrap(), format!("{AUCTIONS_COLUMNS}\n{rows}"));
    }
}
