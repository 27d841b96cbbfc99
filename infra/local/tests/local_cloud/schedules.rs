//! Schedules run by the cloud's clock, with a function that logs its events (`examples/parrot.rs`).

use std::time::{Duration, Instant};

use local::{Cloud, Options};

const TEMPLATE: &str = r#"
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: live}}
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties:
      Timeout: 60
      EventInvokeConfig: {MaximumEventAgeInSeconds: 120, MaximumRetryAttempts: 1}
      Events:
        Tick:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: rate(10 minutes)
            Input: '{"say":"note","time":"<aws.scheduler.scheduled-time>"}'
"#;

/// A cloud just after a multiple of ten minutes, so that the next event is due only after the test advances
/// the clock.
async fn start(test: &str, template: &str) -> Cloud {
    start_with(crate::support::options(test, template)).await
}

/// Starts a cloud with these options just after a multiple of ten minutes.
async fn start_with(options: Options) -> Cloud {
    let period_ms = 600_000;
    let into_ms = options.clock.now_ms() % period_ms;
    options.clock.advance(Duration::from_millis(u64::try_from(period_ms - into_ms).unwrap()));
    Cloud::start(Options { schedules: true, ..options }).await.unwrap()
}

fn lines(cloud: &Cloud, word: &str) -> Vec<String> {
    cloud.logs().into_iter().filter(|line| line.contains(word)).collect()
}

async fn await_lines(cloud: &Cloud, word: &str, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let found = lines(cloud, word);
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < Duration::from_mins(3), "{:#?}", cloud.logs());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The scheduled time in the latest event that is due by `minutes` from now.
fn time_in(cloud: &Cloud, minutes: u64) -> String {
    let now_s = cloud.clock().now_ms() / 1000 + i64::try_from(minutes).unwrap() * 60;
    jiff::Timestamp::from_second(now_s - now_s % 600).unwrap().to_string()
}

#[tokio::test]
async fn an_event_is_sent_at_full_multiples_and_carries_its_time() {
    let cloud = start("due", TEMPLATE).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(lines(&cloud, "noted"), Vec::<String>::new());
    let due = time_in(&cloud, 10);
    cloud.clock().advance(Duration::from_mins(11));
    let noted = await_lines(&cloud, "noted", 1).await;
    assert!(noted[0].contains(&format!("\"time\":\"{due}\"")) && due.ends_with("0:00Z"), "{noted:?}");
    // Recorders compare the time of an event with the system's clock, unless the event is marked as a
    // backfill.
    assert!(noted[0].contains("\"backfill\":true"), "{noted:?}");
    // Of all the events that the clock jumps over, only the latest one is sent.
    let due = time_in(&cloud, 90 * 24 * 60);
    cloud.clock().advance(Duration::from_hours(90 * 24));
    let noted = await_lines(&cloud, "noted", 2).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(lines(&cloud, "noted"), noted);
    assert!(noted[1].contains(&due), "{noted:?}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_event_without_a_time_is_sent_unchanged() {
    let template = TEMPLATE.replace(",\"time\":\"<aws.scheduler.scheduled-time>\"", "");
    let cloud = start("untimed", &template).await;
    cloud.clock().advance(Duration::from_mins(10));
    assert_eq!(await_lines(&cloud, "noted", 1).await, ["noted {\"say\":\"note\"}"]);
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_event_can_be_sent_once_at_the_start_also_by_a_schedule_of_every_minute() {
    for expression in ["rate(10 minutes)", "rate(1 minute)", "cron(* * * * ? *)"] {
        let template = TEMPLATE.replace("rate(10 minutes)", expression);
        let options = crate::support::options("start", &template);
        let cloud = start_with(Options { schedules_at_start: true, ..options }).await;
        let noted = await_lines(&cloud, "noted", 1).await;
        assert!(noted[0].contains(&format!("\"time\":\"{}\"", time_in(&cloud, 0))), "{noted:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(lines(&cloud, "noted"), noted);
        cloud.shutdown().await;
    }
    // While the clock shows the system's time, the event is not marked as a backfill.
    let options = crate::support::options("start", TEMPLATE);
    let options = Options { schedules: true, schedules_at_start: true, ..options };
    let cloud = Cloud::start(options).await.unwrap();
    let noted = await_lines(&cloud, "noted", 1).await;
    assert!(!noted[0].contains("backfill"), "{noted:?}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_failed_event_is_retried_unchanged_and_then_given_up() {
    let cloud = start("retry", &TEMPLATE.replace("\"note\"", "\"note and fail\"")).await;
    cloud.clock().advance(Duration::from_mins(10));
    let given_up = await_lines(&cloud, "is given up", 1).await;
    let noted = await_lines(&cloud, "noted", 2).await;
    assert_eq!(noted.len(), 2, "{noted:?}");
    assert_eq!(noted[0], noted[1]);
    let event = noted[0].strip_prefix("noted ").unwrap();
    let time = event.split("\"time\":\"").nth(1).unwrap().trim_end_matches("\"}");
    assert!(
        given_up[0].starts_with("local: parrot: schedule Tick: ") && given_up[0].contains(time),
        "{given_up:?}"
    );
    assert!(given_up[0].contains("after 2 attempts"), "{given_up:?}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_event_that_is_too_old_is_not_retried() {
    let cloud = start("age", &TEMPLATE.replace("\"note\"", "\"note and fail\"").replace("120", "60")).await;
    cloud.clock().advance(Duration::from_mins(12));
    let given_up = await_lines(&cloud, "is given up", 1).await;
    assert!(given_up[0].contains("after 1 attempts"), "{given_up:?}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn events_for_a_hanging_function_are_skipped() {
    let cloud = start("hanging", &TEMPLATE.replace("\"note\"", "\"hang\"")).await;
    // The number of steps is not fixed: a schedule that is late skips events.
    while lines(&cloud, "skips").is_empty() {
        cloud.clock().advance(Duration::from_mins(10));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let skipped = &lines(&cloud, "skips")[0];
    assert!(skipped.starts_with("local: parrot: schedule Tick: skips "), "{skipped}");
    assert!(skipped.ends_with(": 4 earlier events are still running"), "{skipped}");
    cloud.shutdown().await;
}
