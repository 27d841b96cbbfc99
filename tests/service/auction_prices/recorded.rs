//! `record-auctions` stores complete minutes, even if runs are killed, repeated or overlap, or pages are
//! missing.

use std::sync::Arc;
use std::time::Duration;

use common::time::UnixSeconds;
use local::{Cloud, Fault as TableFault};
use serde_json::json;
use simulator::Fault;
use tables::auctions::{Coins, List, lowest_auctions, newest};

use super::house::{AUCTIONS, ENDED, RECORDER, item_bytes, listing, lists, minutes, serve, table};
use crate::history::interrupted::{record_and_kill, writes};
use crate::history::table::{clear, dump, dump_with_heartbeats, expect_same};
use crate::history::{MINUTE, START, event, failure, record, recorded, start, start_with_instances};
use crate::support::{expect_clean_logs, invoke, line_of, simulator};

const START_MS: i64 = START * 1_000;

/// Serves two auctions of an item, the lower one at this price, an auction of another item, and a sale.
fn serve_price(cloud: &Cloud, price: u64) {
    let rows = [("HYPERION", price + 7), ("HYPERION", price), ("LOG:2", 1)];
    let rows: Vec<_> = (0..).zip(rows).map(|(at, (id, price))| listing(at, id, price, START_MS)).collect();
    let sale = json!({
        "auction_id": "f".repeat(32), "seller": "SELLER", "seller_profile": "SELLER", "buyer": "BUYER",
        "buyer_profile": "BUYER", "timestamp": START_MS - 5, "price": 3_015_293_760_u64, "bin": true,
        "item_bytes": item_bytes("TERMINATOR"),
    });
    serve(cloud, START_MS, &rows, &json!([sale]));
}

/// Returns the lowest price of the first item in the newest minute, or `None` without a recorded minute.
/// Panics unless the minute is complete.
async fn lowest(cloud: &Cloud) -> Option<f64> {
    let history = table(cloud);
    let session = history.with_timeout(Duration::from_mins(1));
    let minute = newest(session, UnixSeconds::new(START)).await.unwrap()?;
    let auctions = lowest_auctions(session, &minute).await.unwrap().unwrap();
    let numbers: Vec<_> = auctions.iter().map(|auction| auction.bytes()[15]).collect();
    assert_eq!(numbers, [1, 2]);
    let [(_, hyperion), (log, one)] = &minute.prices[..] else { panic!("{minute:?}") };
    assert_eq!((log.as_str(), one.lowest.coins(), one.second, one.listings), ("LOG-2", 1.0, None, 1));
    let [second, lowest] = [hyperion.second.unwrap(), hyperion.lowest].map(Coins::coins);
    assert_eq!((second - lowest, hyperion.listings), (7.0, 2));
    Some(lowest)
}

#[tokio::test]
async fn a_run_killed_after_any_write_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    serve_price(&cloud, 500);
    let before = writes(&cloud);
    let outcome = record(&cloud, RECORDER, START).await;
    let needed = writes(&cloud) - before;
    assert_eq!(
        needed, 6,
        "writes: list of sales, prices, lowest auctions, marker, note of a late minute, heartbeat"
    );
    let expected = json!({
        "pages": 1, "auctions": 3, "items": 2, "sales": 1, "left_out": 0, "rows": 1, "write_units": 2.0,
    });
    assert_eq!(outcome, expected);
    let clean = dump_with_heartbeats(&cloud).await;
    let text = format!("{clean:?}");
    assert!(!text.contains("SELLER") && !text.contains("BUYER"));
    for done in 0..needed {
        clear(&cloud).await;
        // An instance does not write a list again.
        cloud.kill(RECORDER).await.unwrap();
        record_and_kill(&cloud, RECORDER, START, done).await;
        assert_eq!(lowest(&cloud).await, (done >= 4).then_some(500.0), "after {done} writes");
        let lists = lists(&cloud, START).await;
        assert_eq!(lists.len(), usize::from(done >= 1), "the list is written first");
        if let [List { auctions, .. }] = &lists[..] {
            let sold: Vec<_> =
                auctions.iter().map(|sold| (sold.sale.price, sold.items[0].as_str())).collect();
            assert_eq!(sold, [(3_015_293_760, "TERMINATOR")]);
        }
        record(&cloud, RECORDER, START).await;
        expect_same(&dump_with_heartbeats(&cloud).await, &clean, &format!("killed after {done} writes"));
    }
}

#[tokio::test]
async fn the_log_has_the_number_of_rows_and_of_those_that_are_left_out() {
    let cloud = start().await;
    for (minute, bins) in [(0, 3), (1, 4)] {
        let time = START + minute * MINUTE;
        let time_ms = time * 1_000;
        let mut rows: Vec<_> = (0..bins).map(|at| listing(at, "HYPERION", 5, time_ms)).collect();
        rows[1]["item_bytes"] = "AAAA".into();
        // An auction with bids is not counted.
        rows.push(listing(9, "HYPERION", 5, time_ms));
        rows[bins]["bin"] = false.into();
        rows.push(json!({"uuid": "odd"}));
        serve(&cloud, time_ms, &rows, &json!([]));
        let response = invoke(&cloud, RECORDER, event(time)).await;
        assert_eq!(response.json()["recorded"]["left_out"], 2);
        let line = line_of(&cloud, &response).await;
        assert_eq!(line["message"], "recorded", "{line}");
        // The numbers in the line include rows that an earlier run has read.
        assert_eq!((&line["rows_read"], &line["left_out"]), (&json!(bins + 1), &json!(2)), "{line}");
        assert_eq!(line["complete_reading"], minute == 0, "only the first run reads all pages: {line}");
    }
}

#[tokio::test]
async fn a_repeated_run_and_two_at_once_leave_what_one_leaves() {
    let cloud = start_with_instances(2).await;
    serve_price(&cloud, 500);
    record(&cloud, RECORDER, START).await;
    let clean = dump(&cloud).await;
    for _ in 0..2 {
        clear(&cloud).await;
        cloud.kill(RECORDER).await.unwrap();
        cloud.dynamodb().set_fault(TableFault::delay(Duration::from_millis(60)));
        let run = || invoke(&cloud, RECORDER, event(START));
        let (one, other) = tokio::join!(run(), run());
        cloud.dynamodb().clear_faults();
        for response in [one, other] {
            recorded(&response, START);
        }
        expect_same(&dump(&cloud).await, &clean, "two at once");
    }
    // A repeated run does not replace the prices, although they have changed.
    serve_price(&cloud, 400);
    assert_eq!(record(&cloud, RECORDER, START).await["items"], 0);
    expect_same(&dump(&cloud).await, &clean, "repeated");
    assert_eq!(lowest(&cloud).await, Some(500.0));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn of_two_instances_that_overlap_the_later_refresh_stays() {
    let cloud = Arc::new(start_with_instances(2).await);
    for refreshes in [[0, 20_000], [20_000, 0]] {
        clear(&cloud).await;
        cloud.kill(RECORDER).await.unwrap();
        cloud.dynamodb().set_fault(TableFault::delay(Duration::from_millis(300)));
        let mut runs = Vec::new();
        for refreshed in refreshes.map(|after| START_MS + after) {
            serve(&cloud, refreshed, &[listing(1, "HYPERION", 5, START_MS)], &json!([]));
            let before = writes(&cloud);
            runs.push(tokio::spawn({
                let cloud = Arc::clone(&cloud);
                async move { invoke(&cloud, RECORDER, event(START)).await }
            }));
            // After its list of sales, a run writes only when it has read all pages.
            while writes(&cloud) < before + 2 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        for run in runs {
            recorded(&run.await.unwrap(), START);
        }
        cloud.dynamodb().clear_faults();
        assert_eq!(minutes(&cloud, START).await[0].last_updated.get(), START_MS + 20_000, "{refreshes:?}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_lost_page_fails_the_run_and_lost_sales_do_not() {
    let cloud = start().await;
    serve_price(&cloud, 500);
    simulator(&cloud).set_fault(ENDED, Fault::status(404));
    assert_eq!(record(&cloud, RECORDER, START).await["sales"], json!(null));
    simulator(&cloud).set_fault(AUCTIONS, Fault::status(404));
    let message = failure(&cloud, RECORDER, event(START + MINUTE)).await;
    assert!(message.starts_with("1 of 1 pages were not read: the upstream responded"), "{message}");
    serve_price(&cloud, 500);
    assert_eq!(record(&cloud, RECORDER, START + 2 * MINUTE).await["sales"], 1);
    assert_eq!((minutes(&cloud, START).await.len(), lists(&cloud, START).await.len()), (2, 1));
    expect_clean_logs(&cloud);
}
