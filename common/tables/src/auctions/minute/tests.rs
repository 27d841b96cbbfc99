use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use futures_util::future::join_all;

use super::read::{lowest_auctions, newest};
use super::stored::{MOST_AUCTIONS, ONE_MINUTE, record};
use super::{Minute, Price};
use crate::Table;
use crate::auctions::Coins;
use crate::filing::Filing;
use crate::item::{self, SORT_KEY, text};
use crate::raw_query::tests::{session, table};
use crate::series::keys::slot_key;
use crate::series::rows::Written;

fn time(minute: i64) -> UnixSeconds {
    UnixSeconds::new(1_777_388_400 + 60 * minute)
}

/// Returns the result of a run with this many items, refreshed at `refreshed`, in Unix milliseconds.
fn run(items: u32, refreshed: i64) -> Minute {
    let auction = |number: u8| AuctionId::of_bytes([number; 16]);
    // Prices that do not compress.
    let price = |number: u32| Price {
        lowest: Coins::of_hundredths(crc32fast::hash(&number.to_be_bytes()).into()),
        second: None,
        listings: 1,
    };
    Minute {
        last_updated: UnixMilliseconds::new(refreshed),
        completed_at: None,
        prices: (0..items).map(|at| (format!("ITEM_{at:07}").parse().unwrap(), price(at))).collect(),
        lowest_auctions: (0..items).map(|at| auction(at.to_be_bytes()[3])).collect(),
    }
}

async fn put(table: &Table, minute: i64, run: &Minute) -> Written {
    record(session(table), Tick::of(time(minute)), run).await.unwrap().unwrap_or_default()
}

async fn expect_newest(table: &Table, now: i64, minute: i64, expected: &Minute) {
    let minute_read = newest(session(table), time(now)).await.unwrap().unwrap();
    assert_eq!((minute_read.slot, minute_read.last_updated), (time(minute), expected.last_updated));
    assert!(minute_read.prices == expected.prices);
    let auctions = lowest_auctions(session(table), &minute_read).await.unwrap().unwrap();
    assert!(auctions == expected.lowest_auctions[..expected.lowest_auctions.len().min(MOST_AUCTIONS)]);
}

#[tokio::test]
async fn the_newest_whole_minute_is_read_with_the_auctions_that_fit_it() {
    let table = table();
    let large = run(90_000, 1);
    let other = run(3, 2);
    put(&table, 1, &other).await;
    assert!(put(&table, 2, &large).await.rows > 1, "the content has only one row");
    expect_newest(&table, 2, 2, &large).await;
    // A late run does not change the newest minute.
    put(&table, 0, &other).await;
    expect_newest(&table, 12, 2, &large).await;
    assert_eq!(newest(session(&table), time(13)).await.unwrap(), None);
    // A minute with a missing row is skipped.
    let partition = ONE_MINUTE.partition(0);
    let parts = session(&table).query_between(&partition, slot_key(time(2)), slot_key(time(3)));
    let part = session(&table).rows(parts, 1).await.unwrap().remove(0);
    let key = item::key(partition, text(&part, SORT_KEY).unwrap());
    session(&table).delete_item().set_key(Some(key)).send().await.unwrap();
    expect_newest(&table, 2, 1, &other).await;
}

#[tokio::test]
async fn of_several_results_for_a_minute_the_best_one_stays_in_any_order() {
    let tick = Tick::of(time(0));
    let own = Filing::from(tick);
    let other = Filing { tick, event: Tick::of(time(-1)) };
    let completed = |at, run| Minute { completed_at: Some(UnixMilliseconds::new(at)), ..run };
    // The results in ascending order of rank. Only the first is for another event. Each has a different
    // number of items.
    let results = [
        (other, completed(9, run(1, 9_000))),
        (own, completed(9, run(4, 1))),
        (own, run(5, 20)),
        (own, completed(8, run(6, 20))),
        (own, completed(10, run(7, 20))),
    ];
    let put_result = async |table: &Table, result: usize| {
        let (filing, minute) = &results[result];
        record(session(table), *filing, minute).await.unwrap()
    };
    let pairs = (0..results.len()).flat_map(|one| (0..results.len()).map(move |other| vec![one, other]));
    let rotations = (0..results.len()).map(|first| (first..results.len()).chain(0..first).collect());
    for order in pairs.chain(rotations) {
        let table = table();
        for result in &order {
            put_result(&table, *result).await;
        }
        let best = order.iter().max().unwrap();
        expect_newest(&table, 0, 0, &results[*best].1).await;
    }
    // All results at once.
    let shared = table();
    join_all((0..results.len()).map(|result| put_result(&shared, result))).await;
    expect_newest(&shared, 0, 0, &results[results.len() - 1].1).await;
    // If the results are otherwise equal, the hash decides.
    let mut winners = Vec::new();
    for order in [[3, 4], [4, 3]] {
        let table = table();
        for items in order {
            put(&table, 0, &run(items, 1)).await;
        }
        winners.push(newest(session(&table), time(0)).await.unwrap().unwrap());
    }
    assert_eq!(winners[0], winners[1]);
}
