//! If the table fails, clients get the last good response or the 500 envelope, in time. Recorders retry or
//! fail, and the same event completes the tick.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{join, join_all};
use local::{Cloud, Fault, Options, Refusal};
use serde_json::{Value, json};

use super::market::{Market, RECORDER, quote};
use super::{HOUR, MINUTE, ROUTES, START, cause, event, failure, record, recorded, rfc3339, start, table};
use crate::support::{
    await_logs, cache_authorization, expect_clean_logs, get, get_at, invoke, line_of, log_lines,
    one_instance_each, simulator, start_with,
};
use crate::upstream_faults::expect_failure;

/// Lasting faults of the table, each with a word that the log must contain.
fn faults() -> [(&'static str, Fault, &'static str); 6] {
    [
        ("missing", Fault::missing_table(), "ResourceNotFoundException: "),
        ("throttled", Fault::throttled(), "ProvisionedThroughputExceededException: "),
        ("broken", Fault::refusal(Refusal::InternalServerError), "InternalServerError: "),
        ("hanging up", Fault::close(), "connection"),
        ("slow", Fault::delay(Duration::from_secs(15)), "in time"),
        ("silent", Fault::hang(), "in time"),
    ]
}

/// Panics unless the cause names the table and the operation, and contains the word.
#[track_caller]
fn expect_cause(cause: &Value, operation: &str, word: &str) {
    let text = cause.as_str().unwrap();
    let table = format!("the table {}", table::NAME);
    for part in [&table, operation, word] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    // A cause of `record-candles` can name two failed series.
    assert!(text.len() < 500, "{text}");
}

#[tokio::test]
async fn every_fault_of_the_table_is_the_500_envelope_with_its_cause_in_the_log() {
    let mut checks = Vec::new();
    for (what, fault, word) in faults() {
        checks.push(async move {
            let cloud = start().await;
            cache_authorization(&cloud).await;
            cloud.dynamodb().set_fault(fault.on("Query"));
            join_all(ROUTES.map(async |path| expect_failure(&get(&cloud, path).await, what))).await;
            for path in ROUTES {
                let route = path.split('?').next().unwrap();
                let lines = await_logs(&cloud, 1, |line| line["route"] == route).await;
                assert_eq!((&lines[0]["level"], &lines[0]["status"]), (&"ERROR".into(), &500.into()));
                expect_cause(&lines[0]["cause"], "Query", word);
            }
            cloud.dynamodb().clear_faults();
            for path in ROUTES {
                assert!(!get(&cloud, path).await.cached(), "{what}: {path} must recover");
            }
            expect_clean_logs(&cloud);
        });
    }
    join_few(checks).await;
}

/// Runs four checks at a time: functions have deadlines, and a busy machine cannot start the clouds of all
/// checks in time.
async fn join_few(checks: Vec<impl Future<Output = ()>>) {
    futures_util::stream::iter(checks).buffer_unordered(4).collect::<()>().await;
}

/// Records a row for every route of history.
async fn record_something(cloud: &Cloud) {
    Market::of("INK_SACK:3", quote("1.0", "2.0", 3, 4)).record(cloud, START).await;
    record(cloud, "record-mayor", START).await;
    record(cloud, "record-fire-sales", START).await;
}

#[tokio::test]
async fn while_the_table_fails_a_stale_response_serves_for_ten_further_ttls() {
    let cloud = start().await;
    record_something(&cloud).await;
    let mut good = Vec::new();
    for path in ROUTES {
        good.push(get_at(&cloud, path, START * 1_000).await);
        assert!(!good.last().unwrap().cached());
    }
    cloud.dynamodb().set_fault(Fault::missing_table().on("Query"));
    // The TTL is five minutes. A stale response serves for ten further TTLs.
    for (seconds, serves) in
        [(299, true), (300, true), (20 * MINUTE, true), (55 * MINUTE, true), (55 * MINUTE + 1, false)]
    {
        for (path, good) in ROUTES.iter().zip(&good) {
            let response = get_at(&cloud, path, (START + seconds) * 1_000).await;
            if serves {
                response.expect_replay_of(good);
            } else {
                expect_failure(&response, path);
            }
        }
    }
    let stale = |line: &Value| line["level"] == "WARN" && line["cached"] == true && line["status"] == 200;
    for line in await_logs(&cloud, 12, stale).await {
        expect_cause(&line["cause"], "Query", "ResourceNotFoundException");
    }
    assert_eq!(
        log_lines(&cloud).iter().filter(|line| stale(line)).count(),
        12,
        "a response within its TTL must log no warning"
    );
    cloud.dynamodb().clear_faults();
    for path in ROUTES {
        assert!(!get_at(&cloud, path, (START + HOUR) * 1_000).await.cached(), "{path}");
    }
    expect_clean_logs(&cloud);
}

/// The recorders, each with the operations that it uses.
const OPERATIONS: [(&str, &str); 13] = [
    (RECORDER, "BatchWriteItem"),
    (RECORDER, "PutItem"),
    (RECORDER, "GetItem"),
    (RECORDER, "UpdateItem"),
    (BUILDER, "Query"),
    (BUILDER, "GetItem"),
    (BUILDER, "UpdateItem"),
    (BUILDER, "PutItem"),
    ("record-mayor", "PutItem"),
    ("record-mayor", "GetItem"),
    ("record-fire-sales", "UpdateItem"),
    ("record-fire-sales", "GetItem"),
    ("record-fire-sales", "PutItem"),
];

const BUILDER: &str = "record-candles";

/// The log's words about a batch that was not completed.
const UNDONE: &str = "throttling left a part of the batch undone";

/// A market of forty products, which are more than one batch.
fn market() -> Market {
    (0..40).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{number}.5"), "50.25", number, 7))
    })
}

/// Makes the provider serve data for every recorder. The clock stops, so that every run finds the same
/// election.
fn show_something(cloud: &Cloud) {
    cloud.clock().stop();
    market().show(cloud);
    let sales = json!([
        {"item_id": "A", "start": START * 1_000, "end": START * 1_000 + 1, "amount": 1, "price": 2},
        {"item_id": "B", "start": START * 1_000, "end": START * 1_000 + 1, "amount": 3, "price": 4},
    ]);
    let body = json!({"success": true, "sales": sales}).to_string();
    simulator(cloud).set_fault("/v2/skyblock/firesales", ::simulator::Fault::default().with_body(body));
}

/// Empties the table, and prepares data for the recorder.
async fn prepare(cloud: &Cloud, recorder: &str) {
    table::clear(cloud).await;
    show_something(cloud);
    if recorder == BUILDER {
        record(cloud, RECORDER, START - 7 * MINUTE).await;
    }
}

/// Sends the recorder the event at `START`, and returns its report. Panics if it fails.
async fn run(cloud: &Cloud, recorder: &str) -> Value {
    // The tick of candles is the end of the latest complete interval.
    let tick = if recorder == BUILDER { START - 5 * MINUTE } else { START };
    recorded(&invoke(cloud, recorder, event(START)).await, tick)
}

#[tokio::test]
async fn every_fault_of_the_table_fails_a_recorder_and_the_same_event_completes_the_tick() {
    // Checks with a silent table mostly wait, so all of them run at once.
    let mut waiting = Vec::new();
    let mut checks = Vec::new();
    for (what, fault, word) in faults() {
        for (recorder, operation) in OPERATIONS {
            // Another test covers a throttled batch, which is retried until the deadline. A slow table fails
            // like a silent table.
            if (what, operation) == ("throttled", "BatchWriteItem") || what == "slow" {
                continue;
            }
            let fault = fault.clone().on(operation);
            let checks = if what == "silent" { &mut waiting } else { &mut checks };
            checks.push(async move {
                let cloud = start().await;
                prepare(&cloud, recorder).await;
                cloud.dynamodb().set_fault(fault);
                let response = invoke(&cloud, recorder, event(START)).await;
                let line = line_of(&cloud, &response).await;
                assert_eq!(line["message"], "not recorded", "{what}");
                assert_eq!(
                    (&line["cause"], &line["tick"]),
                    (&cause(&response).into(), &rfc3339(START).into()),
                    "{what}"
                );
                expect_cause(&line["cause"], operation, word);

                cloud.dynamodb().clear_faults();
                run(&cloud, recorder).await;
                let completed = table::dump_with_heartbeats(&cloud).await;
                prepare(&cloud, recorder).await;
                run(&cloud, recorder).await;
                let clean = table::dump_with_heartbeats(&cloud).await;
                assert!(!clean.is_empty());
                table::expect_same(
                    &completed,
                    &clean,
                    &format!("{recorder} after the fault {what} at {operation}"),
                );
                expect_clean_logs(&cloud);
            });
        }
    }
    join(join_all(waiting), join_few(checks)).await;
}

#[tokio::test]
async fn a_short_fault_of_the_table_is_retried() {
    let cloud = start().await;
    for (recorder, faults) in [
        (
            RECORDER,
            vec![
                ("GetItem", Fault::throttled().times(3)),
                // More faults than the SDK itself retries.
                ("BatchWriteItem", Fault::throttled().times(40)),
                ("BatchWriteItem", Fault::unprocessed_after(24)),
                ("BatchWriteItem", Fault::close().times(2)),
                ("BatchWriteItem", Fault::refusal(Refusal::InternalServerError).times(3)),
                ("BatchWriteItem", Fault::hang().after(1).times(1)),
                ("PutItem", Fault::throttled().times(3)),
            ],
        ),
        (
            BUILDER,
            vec![
                ("Query", Fault::throttled().times(3)),
                ("Query", Fault::close().after(2).times(2)),
                ("UpdateItem", Fault::throttled().times(3)),
            ],
        ),
        ("record-mayor", vec![("PutItem", Fault::throttled().times(3)), ("PutItem", Fault::hang().times(1))]),
        (
            "record-fire-sales",
            vec![
                ("UpdateItem", Fault::throttled().times(3)),
                ("UpdateItem", Fault::close().after(1).times(2)),
            ],
        ),
    ] {
        prepare(&cloud, recorder).await;
        let outcome = run(&cloud, recorder).await;
        let clean = table::dump_with_heartbeats(&cloud).await;
        for (operation, fault) in faults {
            prepare(&cloud, recorder).await;
            let what = format!("{recorder}: {fault:?}");
            let before = cloud.dynamodb().requests(operation);
            cloud.dynamodb().set_fault(fault.on(operation));
            assert_eq!(run(&cloud, recorder).await, outcome, "{what}");
            let requests = cloud.dynamodb().requests(operation) - before;
            cloud.dynamodb().clear_faults();
            table::expect_same(&table::dump_with_heartbeats(&cloud).await, &clean, &what);
            prepare(&cloud, recorder).await;
            let before = cloud.dynamodb().requests(operation);
            run(&cloud, recorder).await;
            assert!(requests > cloud.dynamodb().requests(operation) - before, "{what} needs more requests");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn rows_that_are_not_written_before_the_deadline_fail_the_invocation_and_the_retry_writes_them() {
    // Shortens the deadline, which is 50 s otherwise.
    let options = Options { longest_timeout: Duration::from_secs(8), ..one_instance_each() };
    let cloud = start_with(options).await;
    show_something(&cloud);
    record(&cloud, RECORDER, START).await;
    let clean = table::dump(&cloud).await;
    // DynamoDB writes at most one row per request. With the growing pauses between requests, all rows take
    // longer than the timeout.
    for processed in [0, 1] {
        table::clear(&cloud).await;
        cloud.dynamodb().set_fault(Fault::unprocessed_after(processed).on("BatchWriteItem"));
        let cause = failure(&cloud, RECORDER, event(START)).await;
        expect_cause(&cause.into(), "BatchWriteItem", UNDONE);
        cloud.dynamodb().clear_faults();
        let partial = table::dump(&cloud).await;
        assert_eq!(partial.is_empty(), processed == 0, "{} rows", partial.len());
        assert!(partial.len() < clean.len(), "{} rows", partial.len());
        for (key, row) in &partial {
            assert_eq!(Some(row), clean.get(key), "a row of the failed invocation is wrong");
        }
    }
    record(&cloud, RECORDER, START).await;
    table::expect_same(&table::dump(&cloud).await, &clean, "after the retry");
}
