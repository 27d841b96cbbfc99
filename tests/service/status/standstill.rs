//! `data_changed_at` says when the provider's data last changed. A market whose data do not change for ten
//! minutes is unhealthy and sets off an alarm.

use local::Cloud;
use serde_json::{Value, json};
use simulator::{Fault as UpstreamFault, election};

use super::{
    DAY, FEEDS, HOUR, MINUTE, START, delete_heartbeats, entry, get_status, heartbeat, put, record, rfc3339,
    start, unhealthy,
};
use crate::auction_prices::house;
use crate::history::market::{Market, quote};
use crate::support::{await_logs, expect_clean_logs, in_repository, simulator};

const MESSAGE: &str = "the data of the provider have not changed";

/// Makes the provider serve data of the feed, refreshed at this time in Unix seconds. A different value of
/// `data` means different data.
fn show(cloud: &Cloud, feed: &str, data: i64, refreshed_at: i64) {
    let time_ms = refreshed_at * 1_000;
    let number = usize::try_from(data).unwrap();
    if feed == "bazaar" {
        Market::of("A", quote(data, "2.0", 3, 4)).show_refreshed(cloud, time_ms);
    } else {
        // The auction runs until after the test's last time.
        let listing = house::listing(number, "A", 1, START * 1_000 + 4 * DAY * 1_000);
        house::serve(cloud, time_ms, &[listing], &json!([]));
    }
}

/// Runs a new instance of the recorder, which knows only the table.
async fn record_anew(cloud: &Cloud, feed: &str, time: i64) {
    cloud.kill(&format!("record-{feed}")).await.unwrap();
    record(cloud, feed, time).await;
}

async fn data_changed_at(cloud: &Cloud, feed: &str, now: i64) -> Value {
    entry(&get_status(cloud, now).await, feed)["data_changed_at"].clone()
}

#[tokio::test]
async fn a_market_is_unhealthy_when_nothing_has_changed_for_ten_minutes_until_something_does() {
    let cloud = start().await;
    let mut warnings = 0;
    for (day, (feed, is_advancing)) in
        (0..).zip([("bazaar", false), ("bazaar", true), ("auctions", false), ("auctions", true)])
    {
        let begin = START + day * DAY;
        let at = |minute: i64| begin + minute * MINUTE;
        let case = format!("{feed}, lastUpdated advances: {is_advancing}");
        delete_heartbeats(&cloud).await;
        // Heartbeats of an earlier version of the service, without `data_changed_at`.
        for (other, _) in FEEDS {
            put(&cloud, &heartbeat(other, at(-1), at(-1), &[])).await;
        }
        let before = get_status(&cloud, at(0)).await;
        assert_eq!(unhealthy(&before), [""; 0], "{case}");
        assert_eq!(entry(&before, feed)["data_changed_at"], Value::Null, "{case}");
        let run = async |minute: i64, data: i64, refreshed_at: i64| {
            for (other, _) in FEEDS.into_iter().filter(|(other, _)| *other != feed) {
                put(&cloud, &heartbeat(other, at(minute), at(minute), &[])).await;
            }
            show(&cloud, feed, data, refreshed_at);
            record_anew(&cloud, feed, at(minute)).await;
            get_status(&cloud, at(minute)).await
        };
        let expect = |status: &Value, changed_at: i64, is_healthy: bool| {
            assert_eq!(entry(status, feed)["data_changed_at"], rfc3339(changed_at), "{case}");
            assert_eq!(unhealthy(status), if is_healthy { vec![] } else { vec![feed] }, "{case}");
        };
        for minute in [0, 1, 9, 10, 11] {
            let refreshed_at = if is_advancing { at(minute) } else { begin };
            expect(&run(minute, 1, refreshed_at).await, begin, minute < 10);
        }
        // The alarm counts these lines.
        let recorder = format!("record-{feed}");
        let is_counted = |line: &Value| line["message"] == MESSAGE && line["function"] == *recorder;
        warnings = if is_advancing { warnings + 2 } else { 2 };
        let lines = await_logs(&cloud, warnings, is_counted).await;
        assert_eq!(lines[warnings - 1]["since"], rfc3339(begin), "{case}");

        expect(&run(12, 2, at(12)).await, at(12), true);
        // An older response from a cache, and a repeated event, change nothing.
        expect(&run(13, 1, at(11)).await, at(12), true);
        record_anew(&cloud, feed, at(0)).await;
        expect(&run(14, 2, at(14)).await, at(12), true);
        assert_eq!(await_logs(&cloud, warnings, is_counted).await.len(), warnings);
        expect(&run(15, 1, at(15)).await, at(15), true);
    }
    let monitoring = std::fs::read_to_string(in_repository("infra/monitoring.yaml")).unwrap();
    assert!(monitoring.contains(&format!("FilterPattern: '{{ $.message = \"{MESSAGE}\" }}'")));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_refresh_of_the_future_counts_as_one_of_the_present() {
    let cloud = start().await;
    let time = jiff::Timestamp::now().as_second();
    let event = || json!({"time": rfc3339(time)}).to_string();
    show(&cloud, "bazaar", 1, time + 30 * DAY);
    crate::support::invoke(&cloud, "record-bazaar", event()).await;
    let changed_at = data_changed_at(&cloud, "bazaar", time).await;
    let changed_at: jiff::Timestamp = changed_at.as_str().unwrap().parse().unwrap();
    assert!((time + 2 * MINUTE..time + 10 * MINUTE).contains(&changed_at.as_second()), "{changed_at}");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_election_changes_with_its_votes_and_fire_sales_have_no_time() {
    let cloud = start().await;
    let record_at = async |time: i64| {
        let body = election::body(1, time * 1_000);
        let path = "/v2/resources/skyblock/election";
        simulator(&cloud).set_fault(path, UpstreamFault::default().with_body(body));
        record_anew(&cloud, "mayor", time).await;
        data_changed_at(&cloud, "mayor", time).await
    };
    let year = election::seated_year(START * 1_000);
    let closed = election::closes_at(year) / 1_000 + HOUR;
    let first = record_at(closed).await;
    assert_eq!(first, rfc3339(closed - closed % MINUTE));
    assert_eq!(record_at(closed + HOUR).await, first);
    // The provider may hide the votes on the first day of an election, so this is the second day.
    let open = election::opens_at(year + 1) / 1_000 + 30 * HOUR;
    for time in [open, open + HOUR] {
        assert_eq!(record_at(time).await, rfc3339(time - time % MINUTE));
    }
    let sales = json!({"success": true, "sales": []}).to_string();
    simulator(&cloud).set_fault("/v2/skyblock/firesales", UpstreamFault::default().with_body(sales));
    record(&cloud, "fire-sales", START).await;
    assert_eq!(data_changed_at(&cloud, "fire-sales", START).await, Value::Null);
    expect_clean_logs(&cloud);
}
