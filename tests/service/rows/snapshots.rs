//! The modes of the bazaar share one snapshot, but one that a mode cannot be served from does not replace an earlier one for
//! that mode.

use local::Cloud;
use serde_json::Value;
use simulator::Fault;

use super::table::{START, expect_failure};
use crate::support::{Response, await_logs, get_at, one_instance_each, simulator, start_with};

const BAZAAR: &str = "/v2/skyblock/bazaar";
const FULL: &str = "/v1/bazaar?mode=full";
const BOOK: &str = "/v1/bazaar?mode=book&id=GOOD";
const MARKET: [&str; 5] = [
    "/v1/bazaar?mode=list",
    "/v1/bazaar?mode=item&id=GOOD",
    "/v1/bazaar?mode=flips&limit=1",
    "/v1/bazaar?mode=items&ids=GOOD,BAD",
    BOOK,
];

/// A TTL.
const TTL: i64 = 5_000;

/// A response that every mode can be served from.
const GOOD: &str = r#"{"success":true,"lastUpdated":1,"products":{"GOOD":{"sell_summary":[],"buy_summary":[],"quick_status":{"sellPrice":60000,"buyPrice":70000,"sellVolume":20000,"buyVolume":30000,"sellMovingWeek":1,"buyMovingWeek":2}}}}"#;

/// Responses that only `mode=full` can be served from.
const ONLY_FULL: [&str; 3] = [
    r#"{"success":true,"lastUpdated":2,"products":{"GOOD":{"quick_status":{"sellPrice":null}}}}"#,
    r#"{"success":true,"lastUpdated":2,"products":{"GOOD":null}}"#,
    r#"{"success":true,"lastUpdated":2,"products":{"GOOD":{},"BAD":[]}}"#,
];

/// A response that every mode but `mode=full` and `mode=book` can be served from.
fn only_market() -> String {
    GOOD.replace(r#""lastUpdated":1,"#, "")
}

fn serve(cloud: &Cloud, body: &str) {
    simulator(cloud).set_fault(BAZAAR, Fault::default().with_body(body));
}

async fn start() -> Cloud {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, GOOD);
    cloud
}

async fn get_all(cloud: &Cloud, paths: &[&str], now: i64) -> Vec<Response> {
    let mut responses = Vec::new();
    for path in paths {
        responses.push(get_at(cloud, path, now).await);
    }
    responses
}

#[tokio::test]
async fn after_a_response_that_only_mode_full_can_read_the_other_modes_go_on() {
    for body in ONLY_FULL {
        let cloud = start().await;
        let earlier = get_all(&cloud, &MARKET, START).await;
        serve(&cloud, body);
        let full = get_at(&cloud, FULL, START + TTL).await;
        assert_eq!((full.cached(), &full.data()["lastUpdated"]), (false, &2.into()), "{body}");
        // Within the TTL of the new response and after it, up to the end of the stale one.
        for after in [TTL, 2 * TTL - 1, 2 * TTL, 11 * TTL] {
            for (path, earlier) in MARKET.iter().zip(&earlier) {
                get_at(&cloud, path, START + after).await.expect_replay_of(earlier);
            }
        }
        for path in MARKET {
            expect_failure(&get_at(&cloud, path, START + 11 * TTL + 1).await);
        }
        let stale = |line: &Value| line["status"] == 200 && line["cause"].is_string();
        for line in await_logs(&cloud, 20, stale).await {
            assert_eq!((&line["level"], &line["cached"]), (&"WARN".into(), &true.into()), "{line}");
        }
        get_at(&cloud, FULL, START + TTL + 1).await.expect_replay_of(&full);
        // With the next good response everything is new.
        serve(&cloud, GOOD);
        let now = START + 20 * TTL;
        for (position, response) in get_all(&cloud, &MARKET, now).await.into_iter().enumerate() {
            assert_eq!(response.cached(), position > 0);
        }
    }
}

#[tokio::test]
async fn after_a_response_that_mode_full_cannot_read_it_goes_on() {
    let cloud = start().await;
    let earlier = get_at(&cloud, FULL, START).await;
    serve(&cloud, &only_market().replace("70000", "80000"));
    let item = get_at(&cloud, MARKET[1], START + TTL).await;
    assert_eq!((item.cached(), &item.data()["buyPrice"]), (false, &80_000.0.into()));
    for after in [TTL, 2 * TTL - 1, 2 * TTL, 11 * TTL] {
        get_at(&cloud, FULL, START + after).await.expect_replay_of(&earlier);
    }
    expect_failure(&get_at(&cloud, FULL, START + 11 * TTL + 1).await);
    get_at(&cloud, MARKET[1], START + TTL + 1).await.expect_replay_of(&item);
}

#[tokio::test]
async fn a_mode_that_was_never_asked_for_goes_on_too() {
    for (asked, other, body) in [(FULL, MARKET[1], ONLY_FULL[0].to_owned()), (MARKET[1], FULL, only_market())]
    {
        let cloud = start().await;
        let good = get_at(&cloud, asked, START).await;
        serve(&cloud, &body);
        assert!(!get_at(&cloud, asked, START + TTL).await.cached());
        // The good response was never read in the other way until now.
        for after in [TTL, 2 * TTL, 11 * TTL] {
            let response = get_at(&cloud, other, START + after).await;
            assert!(response.cached(), "{other}");
            for header in ["last-modified", "expires"] {
                assert_eq!(response.headers[header], good.headers[header], "{other}");
            }
        }
        expect_failure(&get_at(&cloud, other, START + 11 * TTL + 1).await);
    }
}

/// A snapshot without `lastUpdated`, which no book can be served from.
#[tokio::test]
async fn after_a_response_without_a_time_the_books_go_on() {
    let newer = only_market().replace("70000", "80000");
    // With requests in each mode or in none before: also a book that was never requested, of a snapshot that all others were.
    for asked in [&[FULL, BOOK, MARKET[1]][..], &[FULL, MARKET[1]], &[FULL], &[MARKET[1]], &[BOOK]] {
        let cloud = start().await;
        let earlier = get_all(&cloud, asked, START).await;
        serve(&cloud, &newer);
        let item = get_at(&cloud, MARKET[1], START + TTL).await;
        assert_eq!((item.cached(), &item.data()["buyPrice"]), (false, &80_000.0.into()), "{asked:?}");
        for after in [TTL, 2 * TTL - 1, 2 * TTL, 5 * TTL, 11 * TTL] {
            get_at(&cloud, MARKET[1], START + after).await.data();
            let book = get_at(&cloud, BOOK, START + after).await;
            assert!(book.cached(), "{asked:?}");
            assert_eq!(
                (&book.data()["buyPrice"], &book.data()["lastUpdated"]),
                (&70_000.0.into(), &1.into())
            );
            for header in ["last-modified", "expires"] {
                assert_eq!(book.headers[header], earlier[0].headers[header], "{asked:?}");
            }
        }
        expect_failure(&get_at(&cloud, BOOK, START + 11 * TTL + 1).await);
        get_at(&cloud, MARKET[1], START + 11 * TTL + 1).await.data();
        serve(&cloud, GOOD);
        assert!(!get_at(&cloud, BOOK, START + 20 * TTL).await.cached(), "{asked:?}");
    }
    // Without an earlier one, the failure is honest, and the other modes do not notice.
    for last_updated in ["", r#""lastUpdated":null,"#, r#""lastUpdated":"now","#, r#""lastUpdated":0.5,"#] {
        let cloud = start().await;
        serve(&cloud, &GOOD.replace(r#""lastUpdated":1,"#, last_updated));
        expect_failure(&get_at(&cloud, BOOK, START).await);
        assert!(get_at(&cloud, MARKET[1], START + 1).await.cached());
        assert_eq!(simulator(&cloud).requests(BAZAAR), 1);
    }
}

#[tokio::test]
async fn all_modes_share_the_requests_to_the_provider() {
    let cloud = start().await;
    get_at(&cloud, MARKET[0], START).await.data();
    serve(&cloud, ONLY_FULL[0]);
    get_at(&cloud, FULL, START + TTL).await.data();
    for path in MARKET {
        assert!(get_at(&cloud, path, START + TTL + 1).await.cached());
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 2, "the provider was asked less than a TTL ago");
    // Without anything to serve, the failure is honest, and costs no request either.
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, ONLY_FULL[0]);
    get_at(&cloud, FULL, START).await.data();
    for path in MARKET {
        expect_failure(&get_at(&cloud, path, START + 1).await);
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 1);
    // Once it has expired, they fetch again.
    serve(&cloud, GOOD);
    assert!(!get_at(&cloud, MARKET[0], START + TTL).await.cached());
}

#[tokio::test]
async fn after_a_timeout_of_one_mode_no_other_waits() {
    let cloud = start().await;
    let earlier = get_all(&cloud, &MARKET, START).await;
    let full = get_at(&cloud, FULL, START).await;
    simulator(&cloud).set_fault(BAZAAR, Fault::hang());
    get_at(&cloud, FULL, START + TTL).await.expect_replay_of(&full);
    for (path, earlier) in MARKET.iter().zip(&earlier) {
        get_at(&cloud, path, START + TTL + 8_000).await.expect_replay_of(earlier);
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 2);
}
