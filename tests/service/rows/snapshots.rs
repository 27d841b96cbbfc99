//! All modes of the bazaar serve the same snapshot. A response that can be read only as raw products, or only
//! as prices, is a failed refresh for all modes.

use local::Cloud;
use simulator::Fault;

use crate::provider::NOW;
use crate::support::{
    Response, expect_clean_logs, get_at, line_of, one_instance_each, simulator, start_with,
};
use crate::upstream_faults::expect_failure;

const BAZAAR: &str = "/v2/skyblock/bazaar";
const FULL: &str = "/v1/bazaar?mode=full";
const LIST: &str = "/v1/bazaar?mode=list";
const MODES: [&str; 7] = [
    FULL,
    LIST,
    "/v1/bazaar?mode=item&id=GOOD",
    "/v1/bazaar?mode=flips&limit=1",
    "/v1/bazaar?mode=items&ids=GOOD,BAD",
    "/v1/bazaar?mode=book&id=GOOD",
    "/v1/bazaar?mode=prices",
];

const TTL: i64 = 5_000;

const GOOD: &str = r#"{"success":true,"lastUpdated":1,"products":{"GOOD":{"sell_summary":[],"buy_summary":[],"quick_status":{"sellPrice":60000,"buyPrice":70000,"sellVolume":20000,"buyVolume":30000,"sellMovingWeek":1,"buyMovingWeek":2}}}}"#;

/// Responses that can be read either as raw products or as prices, but not as both.
fn half_readable() -> Vec<String> {
    let products = |products: &str| format!(r#"{{"success":true,"lastUpdated":2,"products":{products}}}"#);
    let raw =
        [r#"{"GOOD":{"quick_status":{"sellPrice":null}}}"#, r#"{"GOOD":null}"#, r#"{"GOOD":{},"BAD":[]}"#];
    let times = ["", r#""lastUpdated":null,"#, r#""lastUpdated":"now","#, r#""lastUpdated":0.5,"#];
    let prices = times.map(|time| GOOD.replace(r#""lastUpdated":1,"#, time));
    raw.map(products).into_iter().chain(prices).collect()
}

fn serve(cloud: &Cloud, body: &str) {
    simulator(cloud).set_fault(BAZAAR, Fault::default().with_body(body));
}

async fn start() -> Cloud {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, GOOD);
    cloud
}

async fn get_all(cloud: &Cloud, now: i64) -> Vec<Response> {
    let mut responses = Vec::new();
    for path in MODES {
        responses.push(get_at(cloud, path, now).await);
    }
    responses
}

#[tokio::test]
async fn after_a_response_that_is_half_readable_the_last_good_one_serves_all_modes() {
    for body in half_readable() {
        let cloud = start().await;
        let earlier = get_all(&cloud, NOW).await;
        serve(&cloud, &body);
        for after in [TTL, 11 * TTL] {
            for (path, earlier) in MODES.iter().zip(&earlier) {
                let stale = get_at(&cloud, path, NOW + after).await;
                stale.expect_replay_of(earlier);
                let line = line_of(&cloud, &stale).await;
                assert_eq!((&line["level"], &line["cached"]), (&"WARN".into(), &true.into()), "{line}");
                assert!(line["cause"].is_string(), "{line}");
            }
        }
        for path in MODES {
            expect_failure(&get_at(&cloud, path, NOW + 11 * TTL + 1).await, &body);
        }
        serve(&cloud, GOOD);
        for (position, response) in get_all(&cloud, NOW + 20 * TTL).await.into_iter().enumerate() {
            assert_eq!(response.cached(), position > 0, "{body}");
        }
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn orders_that_are_not_json_never_pass_through() {
    let broken = GOOD.replacen("[]", r#"[{"amount":,}]"#, 1).replace("70000", "80000");
    let cloud = start().await;
    let earlier = get_at(&cloud, FULL, NOW).await;
    serve(&cloud, &broken);
    get_at(&cloud, FULL, NOW + TTL).await.expect_replay_of(&earlier);
    // Only the modes `full` and `book` read orders. The other modes succeed once the pause after the failure
    // is over.
    let book = MODES[5];
    for path in MODES.into_iter().filter(|path| ![FULL, book].contains(path)) {
        get_at(&cloud, path, NOW + TTL + 10_001).await.data();
    }
    for path in [FULL, book] {
        expect_failure(&get_at(&cloud, path, NOW + TTL + 10_002).await, path);
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 3);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn after_a_timeout_of_one_mode_no_other_waits() {
    let cloud = start().await;
    let earlier = get_all(&cloud, NOW).await;
    simulator(&cloud).set_fault(BAZAAR, Fault::hang());
    get_at(&cloud, FULL, NOW + TTL).await.expect_replay_of(&earlier[0]);
    for (path, earlier) in MODES.iter().zip(&earlier) {
        get_at(&cloud, path, NOW + TTL + 8_000).await.expect_replay_of(earlier);
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 2);
}
