//! Writes the recorded minutes.

use super::intervals::ONE_MINUTE;
use super::quote::Quotes;
use crate::error::Error;
use crate::item::number;
use crate::recorder::Filing;
use crate::series::marker::{ROWS, of_minute};
use crate::series::rows::{Written, add_rows, put_rows};
use crate::session::Session;

/// Records the quotes of a minute: one row per shard, and then the marker. Recording a minute again replaces its rows, so repeating the
/// call after a failure completes it. A run for the event of another minute writes only missing rows, so it may run at the same time as the
/// run for the event of this minute.
///
/// # Errors
/// If a row was not written before the deadline.
pub async fn record(
    table: Session<'_>,
    filing: impl Into<Filing>,
    quotes: &Quotes,
) -> Result<Written, Error> {
    let filing = filing.into();
    let minute = ONE_MINUTE.at(filing.tick.time());
    let values = quotes.iter().map(|(id, quote)| (id, quote.attribute()));
    let marker = table.put_item().set_item(Some(of_minute(&ONE_MINUTE, filing)));
    let ((rows, write_units), marker) = if filing.is_own() {
        (put_rows(table, minute, values).await?, marker)
    } else {
        let unless_recorded = marker.condition_expression("attribute_not_exists(pk)");
        (add_rows(table, minute, values).await?, unless_recorded)
    };
    table.write("PutItem", marker.item(ROWS, number(rows)).send()).await?;
    Ok(Written { rows, write_units })
}

#[cfg(test)]
mod tests {
    use common::time::{Tick, UnixSeconds};
    use futures_util::future::join;

    use super::*;
    use crate::bazaar::{Candle, Quote};
    use crate::raw_query::tests::{session, table};
    use crate::series::{candles, is_due};

    /// Returns enough products for many rows, all at this price.
    fn quotes_at(price: f64) -> Quotes {
        let quote = || Quote::nearest(price, price, 1, 1).unwrap();
        (0..300).map(|product| (format!("PRODUCT_{product}").parse().unwrap(), quote())).collect()
    }

    /// Expects the recorded minute to have all products at this price.
    async fn expect_price(table: Session<'_>, at: UnixSeconds, price: f64, case: &str) {
        let candles = candles::<Candle>(table, ONE_MINUTE.at(at)).await.unwrap().unwrap();
        assert_eq!(candles.len(), 300, "{case}");
        assert!(candles.values().all(|candle| (candle.sell.close.coins() - price).abs() < 0.001), "{case}");
    }

    #[tokio::test]
    async fn the_event_of_another_minute_neither_replaces_nor_blocks_that_of_the_minute() {
        let at = UnixSeconds::new(1_777_388_400);
        let tick = Tick::of(at);
        let event = Tick::of(UnixSeconds::new(at.get() - 60));
        let own = Filing::from(tick);
        let other = Filing { tick, event };
        let own_quotes = quotes_at(1.0);
        let other_quotes = quotes_at(2.0);
        for case in ["own first", "other first", "at once", "own killed"] {
            let table = table();
            let table = session(&table);
            let record_own = async || record(table, own, &own_quotes).await.unwrap();
            let record_other = async || record(table, other, &other_quotes).await.unwrap();
            let is_due = async |filing: Filing| is_due(table, &ONE_MINUTE, filing, at).await.unwrap();
            match case {
                "own first" => {
                    record_own().await;
                    assert!(!is_due(other).await);
                    record_other().await;
                }
                "other first" => {
                    let written = record_other().await;
                    assert!(written.rows > 50 && written.write_units >= 50.0, "{written:?}");
                    expect_price(table, at, 2.0, case).await;
                    assert!(is_due(own).await && !is_due(other).await);
                    record_own().await;
                }
                "at once" => drop(join(record_other(), record_own()).await),
                _ => {
                    let values = own_quotes.iter().map(|(id, quote)| (id, quote.attribute()));
                    put_rows(table, ONE_MINUTE.at(at), values).await.unwrap();
                    record_other().await;
                }
            }
            expect_price(table, at, 1.0, case).await;
            assert_eq!(is_due(own).await, case == "own killed", "{case}");
        }
    }
}
