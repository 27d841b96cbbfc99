//! Writes the recorded minutes.
//!
//! Runs for the same minute may overlap, and each may be killed at any time. A minute must nevertheless have
//! the rows of one run. A run usually writes its rows in batches, which cost half as much as a transaction,
//! and finds out with its marker whether another run has recorded the minute meanwhile. If so, the batches of
//! both may be mixed: this run then writes all rows again in one transaction. Every other run that still
//! writes batches finds a marker, and does the same.

use super::intervals::ONE_MINUTE;
use super::quote::Quotes;
use crate::error::Error;
use crate::filing::Filing;
use crate::item::{Attributes, PARTITION_KEY, number};
use crate::series::marker::{ROWS, of_minute};
use crate::series::rows::{Written, by_shard, keys, put_rows};
use crate::session::{Condition, Session, TRANSACTION};

/// The condition of the marker of a minute that is not recorded yet.
const UNLESS_RECORDED: &str = "attribute_not_exists(pk)";

/// A transaction has all rows of a minute and its marker.
const _: () = assert!(ONE_MINUTE.shards < TRANSACTION);

/// Records the quotes of a minute: one row per shard, and the marker. Recording a minute again replaces its
/// rows, so repeating the call after a failure completes it. A run for the event of another minute never
/// replaces a recorded minute, and writes everything in one transaction, so it may run at the same time as
/// the run for the event of this minute.
pub async fn record(
    table: Session<'_>,
    filing: impl Into<Filing>,
    quotes: &Quotes,
) -> Result<Written, Error> {
    let filing = filing.into();
    let minute = ONE_MINUTE.at(filing.tick.time());
    let shards = by_shard(minute, quotes.iter().map(|(id, quote)| (id, quote.attribute())));
    let rows = shards.len();
    let mut marker = of_minute(&ONE_MINUTE, filing);
    marker.insert(ROWS.to_owned(), number(rows));
    if !filing.is_own() {
        let condition = Condition::new(UNLESS_RECORDED);
        let written = table.put_at_once(with_marker(shards, marker, Some(condition))).await?;
        return Ok(written
            .map(|write_units| Written { rows, write_units, is_first: true })
            .unwrap_or_default());
    }
    let write_units = put_rows(table, shards.clone()).await?;
    let first = table.put_item().set_item(Some(marker.clone())).condition_expression(UNLESS_RECORDED);
    if table.write("PutItem", first.send()).await?.is_some() {
        return Ok(Written { rows, write_units, is_first: true });
    }
    // Rows of the other run, in shards in which this run has no product.
    let is_other =
        |key: &Attributes| shards.iter().all(|row| row.get(PARTITION_KEY) != key.get(PARTITION_KEY));
    table.delete_all(keys(minute).into_iter().filter(is_other)).await?;
    let again = table.put_at_once(with_marker(shards, marker, None)).await?;
    Ok(Written { rows, write_units: write_units + again.unwrap_or_default(), is_first: false })
}

/// Returns the rows for a transaction, which writes them only if the condition of the marker holds.
fn with_marker(
    shards: Vec<Attributes>,
    marker: Attributes,
    condition: Option<Condition>,
) -> Vec<(Attributes, Option<Condition>)> {
    shards.into_iter().map(|row| (row, None)).chain([(marker, condition)]).collect()
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
                    let mut rows = by_shard(ONE_MINUTE.at(at), values);
                    rows.truncate(rows.len() / 2);
                    put_rows(table, rows).await.unwrap();
                    record_other().await;
                }
            }
            let is_killed = case == "own killed";
            expect_price(table, at, if is_killed { 2.0 } else { 1.0 }, case).await;
            assert_eq!(is_due(own).await, is_killed, "{case}");
        }
    }

    #[tokio::test]
    async fn two_runs_for_the_event_of_a_minute_at_once_leave_the_rows_of_one() {
        let at = UnixSeconds::new(1_777_388_400);
        // With few products, each run has shards that the other one lacks.
        let few = |price, from| quotes_at(price).into_iter().skip(from).take(20).collect::<Quotes>();
        for runs in [[quotes_at(1.0), quotes_at(2.0)], [few(1.0, 0), few(2.0, 10)]] {
            for _ in 0..20 {
                let table = table();
                let table = session(&table);
                let run = async |quotes| record(table, Tick::of(at), quotes).await.unwrap();
                let written = join(run(&runs[0]), run(&runs[1])).await;
                let left = candles::<Candle>(table, ONE_MINUTE.at(at)).await.unwrap().unwrap();
                let is_left = |quotes: &Quotes| {
                    let candles = quotes.iter().map(|(id, quote)| (id.clone(), Candle::of(*quote, at)));
                    left == candles.collect()
                };
                assert!(runs.iter().any(is_left), "a mixture: {written:?}");
            }
        }
    }
}
