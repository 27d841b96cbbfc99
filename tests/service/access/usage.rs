//! `/v1/usage` shows each account its own figures, also with the stage cache on, and counts each tier
//! separately.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::routes::USAGE;
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Method;
use local::{Cloud, Options};
use serde_json::{Value, json};

use crate::support::{
    ACCOUNTS, KEY_HEADER, Response, event, expect_clean_logs, get_at, invoke, line_of, one_instance_each,
    send, send_with, start_with, with_parameters,
};

/// A request that counts but causes no other request.
const INVALID: &str = "/v1/auctions?page=x";

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Longer than the TTLs of the stage cache, of the function and of the authorizer's decision together.
const LATER: Duration = Duration::from_mins(12);

struct Clients {
    cloud: Cloud,
    access_log: Arc<Mutex<Vec<String>>>,
    /// Such as `2026-11-20`.
    today: String,
}

impl Clients {
    /// Starts a cloud with a stage cache, at noon of the next day, so that a test of minutes stays within a
    /// day.
    async fn start() -> Self {
        let access_log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&access_log);
        let parameters = [
            ("GatewayCache", "on"),
            ("StarterRateLimit", "2"),
            ("StarterBurstLimit", "60"),
            ("StarterMonthlyQuota", "500000"),
            ("ProMonthlyQuota", "0"),
            ("ProfileRateLimit", "0.5"),
            ("ProfileBurstLimit", "10"),
        ];
        let options = Options {
            access_log: Some(Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()))),
            ..with_parameters(one_instance_each(), &parameters)
        };
        let cloud = start_with(options).await;
        let midnight_ms = cloud.clock().now_ms() / DAY_MS * DAY_MS + DAY_MS;
        cloud.clock().stop_at(midnight_ms + DAY_MS / 2);
        let today = time(midnight_ms).split('T').next().unwrap().to_owned();
        Self { cloud, access_log, today }
    }

    async fn get(&self, path: &str, key: &str) -> Response {
        send_with(&self.cloud.url(), Method::GET, path, &[(KEY_HEADER, key)]).await
    }

    async fn usage(&self, key: &str) -> Value {
        self.get(USAGE.path, key).await.data()
    }

    /// The days in which all requests are from today.
    fn only_today(&self, requests: u64) -> Value {
        json!([{"day": self.today, "requests": requests}])
    }

    /// The source of the last response: a function, or `cache`.
    fn source(&self) -> String {
        self.access_log.lock().unwrap().last().unwrap().rsplit(' ').next().unwrap().to_owned()
    }

    async fn command(&self, command: Value) -> Value {
        let mut response = invoke(&self.cloud, ACCOUNTS, command.to_string()).await.json();
        assert!(response.get("error").is_none(), "{response}");
        response["result"].take()
    }

    async fn issue(&self, account: &str) -> String {
        let issued =
            self.command(json!({"command": "issue_key", "account": account, "label": "usage"})).await;
        issued["key"].as_str().unwrap().to_owned()
    }
}

fn time(milliseconds: i64) -> String {
    UnixSeconds::from(UnixMilliseconds::new(milliseconds)).to_string()
}

#[tokio::test]
async fn two_accounts_get_their_own_figures_from_the_stage_cache_and_all_keys_of_one_get_the_same() {
    let clients = Clients::start().await;
    let keys = clients.cloud.keys().unwrap();
    let (starter, pro) = (keys.starter.expose(), keys.pro.expose());
    for _ in 0..3 {
        clients.get(INVALID, starter).await.error("BAD_REQUEST");
    }
    let of_starter = clients.get(USAGE.path, starter).await;
    let mut data = of_starter.data();
    let resets_at = data["resets_at"].take().as_str().unwrap().to_owned();
    let asked_at = time(clients.cloud.clock().now_ms());
    assert!(resets_at > asked_at && resets_at.ends_with("-01T00:00:00Z"), "{resets_at}");
    let expected = json!({
        "tier": "starter",
        "paid_until": "2200-01-01T00:00:00Z",
        "quota": 500_000,
        "remaining": 499_996,
        "resets_at": null,
        "used": 4,
        "limits": {"requests_per_second": 2.0, "burst": 60, "profiles_per_second": 0.5, "profiles_burst": 10},
        "days": clients.only_today(4),
        "asked_at": asked_at,
    });
    assert_eq!(data, expected);

    let of_pro = clients.get(USAGE.path, pro).await;
    let data = of_pro.data();
    assert_eq!((&data["tier"], &data["used"]), (&json!("pro"), &json!(1)));
    for without_quota in ["quota", "remaining", "resets_at"] {
        assert_eq!(data[without_quota], Value::Null, "{without_quota}");
    }
    for (key, first) in [(starter, &of_starter), (pro, &of_pro), (starter, &of_starter)] {
        let again = clients.get(USAGE.path, key).await;
        assert_eq!(clients.source(), "cache");
        assert_eq!(again.text, first.text);
    }

    let second = clients.issue("local-starter").await;
    assert_eq!(clients.usage(&second).await, of_starter.data());
    assert_eq!(clients.source(), USAGE.function);
    clients.cloud.clock().advance(LATER);
    // Each of the eight requests counts, whatever its key and its response.
    assert_eq!(clients.usage(&second).await["days"], clients.only_today(8));
    clients.get(USAGE.path, keys.lapsed.expose()).await.error("FORBIDDEN");
    clients.get(USAGE.path, "").await.error("UNAUTHORIZED");
    expect_clean_logs(&clients.cloud);
}

#[tokio::test]
async fn an_upgrade_starts_at_zero_and_a_return_finds_the_earlier_count() {
    let clients = Clients::start().await;
    let set_tier = async |tier: &str| {
        let paid_until = "2200-01-01T00:00:00Z";
        let command =
            json!({"command": "set_account", "account": "bots", "tier": tier, "paid_until": paid_until});
        clients.command(command).await;
        clients.cloud.clock().advance(LATER);
    };
    set_tier("starter").await;
    let key = clients.issue("bots").await;
    for (tier, quota, requests_before) in
        [("starter", json!(500_000), 0), ("pro", Value::Null, 0), ("starter", json!(500_000), 4)]
    {
        set_tier(tier).await;
        for _ in 0..3 {
            clients.get(INVALID, &key).await.error("BAD_REQUEST");
        }
        let data = clients.usage(&key).await;
        assert_eq!((&data["tier"], &data["quota"]), (&json!(tier), &quota));
        assert_eq!(data["days"], clients.only_today(requests_before + 4), "{tier}");
    }
    expect_clean_logs(&clients.cloud);
}

#[tokio::test]
async fn an_account_without_requests_has_used_nothing() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("ProMonthlyQuota", "1500000")])).await;
    // 2026-12-31T23:59:59Z. Requests to the function itself do not count.
    let data = get_at(&cloud, USAGE.path, 1_798_761_599_000).await.data();
    assert_eq!((&data["used"], &data["days"]), (&json!(0), &json!([])));
    assert_eq!((&data["quota"], &data["remaining"]), (&json!(1_500_000), &json!(1_500_000)));
    assert_eq!(
        (&data["asked_at"], &data["resets_at"]),
        (&json!("2026-12-31T23:59:59Z"), &json!("2027-01-01T00:00:00Z"))
    );
    expect_clean_logs(&cloud);
}

/// The figures of another account would be the worst response.
#[tokio::test]
async fn a_request_without_an_account_fails() {
    let cloud = start_with(one_instance_each()).await;
    let (function, text) = event(USAGE.path, cloud.clock().now_ms());
    let event: Value = serde_json::from_str(&text).unwrap();
    get_at(&cloud, USAGE.path, cloud.clock().now_ms()).await.data();
    for context in [
        Value::Null,
        json!({}),
        json!({"account": null}),
        json!({"account": ""}),
        json!({"account": "nobody", "tier": "pro"}),
        json!({"principalId": "local-pro", "tier": "pro"}),
    ] {
        let mut event = event.clone();
        event["requestContext"]["authorizer"] = context.clone();
        let response = invoke(&cloud, function, event.to_string()).await.json();
        assert_eq!(response["statusCode"], 500, "{context}: {response}");
        let body = response["body"].as_str().unwrap();
        assert!(body.contains("INTERNAL_ERROR") && !body.contains("tier"), "{context}: {body}");
    }
}

#[tokio::test]
async fn while_api_gateway_fails_the_last_figures_are_served_for_ten_ttls() {
    let cloud = start_with(one_instance_each()).await;
    let now_ms = cloud.clock().now_ms();
    let first = get_at(&cloud, USAGE.path, now_ms).await;
    let listed = send(&cloud.lambda_url(), Method::GET, "/apikeys").await.json();
    for key in listed["item"].as_array().unwrap() {
        let path = format!("/apikeys/{}", key["id"].as_str().unwrap());
        assert_eq!(send(&cloud.lambda_url(), Method::DELETE, &path).await.status, 202, "{path}");
    }
    let ttl_ms = i64::try_from(USAGE.cache.as_millis()).unwrap();
    for ttls in [1, 11] {
        let stale = get_at(&cloud, USAGE.path, now_ms + ttls * ttl_ms).await;
        stale.expect_replay_of(&first);
        let line = line_of(&cloud, &stale).await;
        assert!(line["cause"].as_str().unwrap().contains("GetUsage"), "{line}");
    }
    get_at(&cloud, USAGE.path, now_ms + 12 * ttl_ms).await.error("INTERNAL_ERROR");
}
