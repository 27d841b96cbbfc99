//! An account gets exactly the rate, burst and quota of its tier, however many keys it has, and has a
//! separate limit for profiles.

use std::time::Duration;

use common::auth::ApiKey;
use hyper::Method;
use local::Cloud;
use serde_json::json;

use super::commands::{done, issued, revoke, set_tier, text};
use crate::support::{KEY_HEADER, one_instance_each, send_with, start_with, with_parameters};

/// 2026-04-28 15:00:00 UTC.
const START: i64 = 1_777_388_400_000;

/// Sends requests until the burst is used up, and then four times the rate for a minute. Between 95 % and 105
/// % of the rate must succeed.
#[tokio::test]
async fn an_account_that_sends_four_times_its_rate_gets_its_rate() {
    for (tier, rate, burst) in [("starter", 2, 60), ("pro", 5, 150)] {
        // The limits are from the contract (`functions/README.md`, Limits).
        let (rate_limit, burst_limit) = match tier {
            "starter" => ("StarterRateLimit", "StarterBurstLimit"),
            _ => ("ProRateLimit", "ProBurstLimit"),
        };
        let limits = [(rate_limit, &*rate.to_string()), (burst_limit, &*burst.to_string())];
        let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
        let keys = cloud.keys().unwrap();
        let key = if tier == "starter" { &keys.starter } else { &keys.pro };
        let passes = async |at_ms: i64| {
            cloud.clock().stop_at(START + at_ms);
            let headers = [(KEY_HEADER, key.expose())];
            let response = send_with(&cloud.url(), Method::GET, "/v1/mayor", &headers).await;
            if response.status == 429 {
                response.error("RATE_LIMITED");
            } else {
                response.data();
            }
            response.status == 200
        };
        let mut at_once = 0;
        while passes(0).await {
            at_once += 1;
            assert!(at_once <= burst, "{tier}: more than {burst} at once");
        }
        assert_eq!(at_once, burst, "{tier}");
        let minute = i64::try_from(Duration::from_mins(1).as_millis()).unwrap();
        let interval = 1_000 / (4 * rate);
        let mut let_through = 0;
        for at_ms in (interval..=minute).step_by(usize::try_from(interval).unwrap()) {
            let_through += i64::from(passes(at_ms).await);
        }
        let expected = 60 * rate;
        let bounds = expected * 95..=expected * 105;
        assert!(bounds.contains(&(let_through * 100)), "{tier}: {let_through} of {expected}");
    }
}

/// The status of a request for the path with this key.
async fn status(cloud: &Cloud, path: &str, key: &ApiKey) -> u16 {
    let response = send_with(&cloud.url(), Method::GET, path, &[(KEY_HEADER, key.expose())]).await;
    if response.status == 429 {
        response.error("RATE_LIMITED");
    }
    response.status.as_u16()
}

#[tokio::test]
async fn an_account_that_has_used_up_its_quota_is_refused_until_the_next_month() {
    let quotas = [("StarterMonthlyQuota", "5"), ("ProMonthlyQuota", "0")];
    let cloud = start_with(with_parameters(one_instance_each(), &quotas)).await;
    let keys = cloud.keys().unwrap();
    // Two seconds before May.
    cloud.clock().stop_at(1_777_593_598_000);
    // Requests to all routes count, including invalid ones.
    for path in ["/v1/mayor", "/v1/items", "/v1/auctions?page=x", "/v1/mayor", "/v1/mayor"] {
        assert_ne!(status(&cloud, path, &keys.starter).await, 429, "{path}");
    }
    let headers = [(KEY_HEADER, keys.starter.expose())];
    let refused = send_with(&cloud.url(), Method::GET, "/v1/mayor", &headers).await;
    let message = refused.error("RATE_LIMITED");
    assert!(message.contains("monthly quota") && message.contains("first day of the month"), "{message}");
    assert_eq!(refused.headers["retry-after"], "3600");
    assert_eq!(status(&cloud, "/v1/items", &keys.starter).await, 429);
    for _ in 0..10 {
        assert_eq!(status(&cloud, "/v1/mayor", &keys.pro).await, 200, "a quota of 0 must mean no quota");
    }
    cloud.clock().stop_at(1_777_593_600_000);
    for _ in 0..5 {
        assert_eq!(status(&cloud, "/v1/mayor", &keys.starter).await, 200, "in May");
    }
    assert_eq!(status(&cloud, "/v1/mayor", &keys.starter).await, 429);
}

/// Issues a key with this label to the account.
async fn new_key(cloud: &Cloud, account: &str, label: &str) -> ApiKey {
    text(&issued(cloud, account, label).await["key"]).parse().unwrap()
}

#[tokio::test]
async fn the_keys_of_an_account_share_its_rate() {
    let limits = [("StarterRateLimit", "1"), ("StarterBurstLimit", "10")];
    let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
    cloud.clock().stop_at(START);
    for account in ["bots", "others"] {
        set_tier(&cloud, account, "starter").await;
    }
    let [first, second] = [new_key(&cloud, "bots", "first").await, new_key(&cloud, "bots", "second").await];
    let other = new_key(&cloud, "others", "first").await;
    for _ in 0..5 {
        for key in [&first, &second] {
            assert_eq!(status(&cloud, "/v1/mayor", key).await, 200);
        }
    }
    // Neither an earlier nor a new key has requests left.
    let third = new_key(&cloud, "bots", "third").await;
    for key in [&first, &second, &third] {
        assert_eq!(status(&cloud, "/v1/mayor", key).await, 429);
    }
    assert_eq!(status(&cloud, "/v1/mayor", &other).await, 200);
    cloud.clock().stop_at(START + 1_000);
    let after_a_second =
        [status(&cloud, "/v1/mayor", &third).await, status(&cloud, "/v1/mayor", &first).await];
    assert_eq!(after_a_second, [200, 429]);
}

#[tokio::test]
async fn neither_a_reissued_nor_a_replaced_key_has_a_fresh_quota() {
    let quotas = [("StarterMonthlyQuota", "5"), ("ProMonthlyQuota", "7")];
    let cloud = start_with(with_parameters(one_instance_each(), &quotas)).await;
    cloud.clock().stop_at(START);
    for account in ["bots", "others"] {
        set_tier(&cloud, account, "starter").await;
    }
    let passes = async |account: &str, attempts: usize| {
        let mut passed = 0;
        for _ in 0..attempts {
            let issued = issued(&cloud, account, "ci").await;
            let replace = json!({"command": "replace_key", "key_id": issued["id"], "grace_seconds": 0});
            let new = done(&cloud, replace).await;
            let key = text(&new["key"]).parse().unwrap();
            passed += usize::from(status(&cloud, "/v1/mayor", &key).await == 200);
            revoke(&cloud, &new).await;
        }
        passed
    };
    assert_eq!(passes("bots", 8).await, 5);
    assert_eq!(passes("others", 8).await, 5);
    // Each tier has its own count, and a return finds the earlier one.
    set_tier(&cloud, "bots", "pro").await;
    assert_eq!(passes("bots", 9).await, 7);
    set_tier(&cloud, "bots", "starter").await;
    assert_eq!(passes("bots", 2).await, 0);
}

#[tokio::test]
async fn profiles_have_a_limit_of_their_own_for_each_account() {
    let limits = [("ProfileRateLimit", "1"), ("ProfileBurstLimit", "10")];
    let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
    let keys = cloud.keys().unwrap();
    cloud.clock().stop_at(START);
    for player in 0..10 {
        let path = format!("/v1/profile/player_{player}");
        assert_eq!(status(&cloud, &path, &keys.pro).await, 200, "{path}");
    }
    assert_eq!(status(&cloud, "/v1/profile/player_0", &keys.pro).await, 429);
    // The limit affects neither other routes nor other accounts.
    assert_eq!(status(&cloud, "/v1/mayor", &keys.pro).await, 200);
    assert_eq!(status(&cloud, "/v1/profile/player_0", &keys.starter).await, 200);
    cloud.clock().stop_at(START + 1_000);
    let after_a_second = [
        status(&cloud, "/v1/profile/player_0", &keys.pro).await,
        status(&cloud, "/v1/profile/player_1", &keys.pro).await,
    ];
    assert_eq!(after_a_second, [200, 429]);
}
