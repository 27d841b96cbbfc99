//! If an upstream fails, the client gets the last good response or the 500 envelope, in time. Only the log
//! has the cause.

use std::sync::Arc;
use std::time::Duration;

use common::error::INTERNAL_MESSAGE;
use local::{Cloud, Options, Upstream};
use serde_json::{Value, json};
use simulator::{Clock, Fault, Garbage, Simulator};

use crate::provider::NOW;
use crate::support::{
    NAME_SERVICE, Response, await_logs, cache_authorization, expect_clean_logs, for_every_live_route, get,
    get_at, in_repository, line_of, live_examples, one_instance_each, serve_small_bodies, simulator, start,
    start_with,
};

const BAZAAR: &str = "/v2/skyblock/bazaar";
const NAMES: &str = "/users/profiles/minecraft/*";
const PROFILES: &str = "/v2/skyblock/profiles";

/// More than the time of a fetch, which a function counts as part of the data's age.
const SLACK: Duration = Duration::from_secs(10);

/// Words from the bodies of failing upstreams, which must not reach the client.
const UPSTREAM_WORDS: [&str; 10] = [
    "throttle",
    "populated",
    "html",
    "cloudflare",
    "disabled",
    "Invalid",
    "Page not found",
    "\"soon\"",
    "minecraft",
    "junk",
];

/// A persistent fault, the number of upstream requests that it causes, and a part of the logged cause.
struct Case {
    name: &'static str,
    fault: Fault,
    requests: u64,
    cause: &'static str,
}

/// All faults without a delay.
fn cases() -> Vec<Case> {
    let case = |name, fault, requests, cause| Case { name, fault, requests, cause };
    let garbage = Fault::garbage;
    vec![
        case("500", Fault::status(500), 2, "500"),
        case("502 with a page", Fault { status: Some(502), ..garbage(Garbage::Html) }, 2, "502"),
        case("503", Fault::status(503), 2, "503"),
        case("504", Fault::status(504), 2, "504"),
        case("403", Fault::status(403), 1, "403"),
        case("401 with junk", Fault::status(401).with_body("junk"), 1, "401"),
        case("301", Fault::status(301).with_header("Location", "/v2/skyblock/bazaar"), 1, "301"),
        case("404 with junk", Fault::status(404).with_body("junk"), 1, "junk"),
        case("404 with a page", Fault { status: Some(404), ..garbage(Garbage::Html) }, 1, "DOCTYPE"),
        case("400 with junk", Fault::status(400).with_body(r#"{"junk":1}"#), 1, "junk"),
        case("429", Fault::status(429), 1, "limits the rate"),
        case("an early end", Fault::truncate(10), 1, "cannot be read"),
        case("random bytes", garbage(Garbage::Bytes), 1, "cannot be read"),
        case("a page with 200", garbage(Garbage::Html), 1, "is invalid"),
        case("another shape", garbage(Garbage::WrongShape), 1, "is invalid"),
        case("success: false", garbage(Garbage::Failure), 1, "is invalid"),
        case("null", Fault::default().with_body("null"), 1, "is invalid"),
        case("half an object", Fault::default().with_body(r#"{"success":true,"#), 1, "is invalid"),
        case("a gzip bomb", garbage(Garbage::GzipBomb), 1, "cannot be read"),
        case(
            "no gzip",
            Fault::default().with_body("junk").with_header("Content-Encoding", "gzip"),
            1,
            "cannot be read",
        ),
        case(
            "an unknown encoding",
            Fault::default().with_body("junk").with_header("Content-Encoding", "br"),
            1,
            "cannot be read",
        ),
        case("a closed connection", Fault::close(), 2, "cannot reach"),
    ]
}

/// Panics unless the response is the documented 500 envelope, without words of the upstream.
#[track_caller]
pub(crate) fn expect_failure(response: &Response, what: &str) {
    let message = response.error("INTERNAL_ERROR");
    assert_eq!(message, INTERNAL_MESSAGE, "{what}");
    let wait: u64 = response.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=3_600).contains(&wait), "{what}: {wait}");
    for words in UPSTREAM_WORDS {
        assert!(!response.text.contains(words), "{what}: {}", response.text);
    }
    assert_eq!(response.headers["access-control-expose-headers"], "Retry-After", "{what}");
    for header in ["expires", "last-modified"] {
        assert!(!response.headers.contains_key(header), "{what}: {:?}", response.headers);
    }
}

/// Whether requests for the path have a parameter.
fn has_parameter(upstream: &str) -> bool {
    upstream.starts_with(NAME_SERVICE) || [PROFILES, "/v2/skyblock/auctions"].contains(&upstream)
}

fn milliseconds(duration: Duration) -> i64 {
    duration.as_millis().try_into().unwrap()
}

/// With an earlier response, panics unless the response replays it. Without an earlier response, panics
/// unless the response is a failure. The log line must agree with the response.
#[track_caller]
fn expect_fault(response: &Response, earlier: Option<&Response>, line: &Value, what: &str) {
    let logged = (&line["status"], &line["level"]);
    if let Some(earlier) = earlier {
        response.expect_replay_of(earlier);
        assert_eq!(logged, (&json!(200), &json!("WARN")), "{what}: {line}");
        assert_eq!(line["cached"], true, "{what}: {line}");
    } else {
        expect_failure(response, what);
        assert_eq!(logged, (&json!(500), &json!("ERROR")), "{what}: {line}");
        assert!(line["upstream_ms"].as_f64().unwrap() > 0.0, "{what}: {line}");
    }
}

#[tokio::test]
async fn every_fault_is_the_500_envelope_or_serves_the_cached_response_with_its_cause_in_the_log() {
    let cloud = Arc::new(start_with(one_instance_each()).await);
    for_every_live_route(&cloud, async |cloud, example| {
        let mut earlier = None::<Response>;
        let mut now = NOW;
        for _ in 0..2 {
            for upstream in &example.upstream {
                // The function caches the name, so it sends no request.
                if earlier.is_some() && upstream.starts_with(NAME_SERVICE) {
                    continue;
                }
                for Case { name, fault, requests, cause } in cases() {
                    let is_refusal = name == "403" && upstream.starts_with(NAME_SERVICE);
                    let cause = if is_refusal { "limits the rate" } else { cause };
                    let what = format!("{name} on {upstream}");
                    if earlier.is_some() {
                        // A success ends the pause after the previous fault.
                        simulator(&cloud).set_fault(upstream, Fault::default());
                        now += milliseconds(SLACK);
                        let fetched = get_at(&cloud, example.path, now).await;
                        assert!(!fetched.cached(), "before {what}");
                        earlier = Some(fetched);
                        now += milliseconds(example.route.cache + SLACK);
                    }
                    // A path without a parameter always exists, so a 404 is a fault and is retried.
                    let is_lost = name.starts_with("404") && !has_parameter(upstream);
                    let requests = if is_lost { 2 } else { requests };
                    let before = simulator(&cloud).requests(upstream);
                    simulator(&cloud).set_fault(upstream, fault);
                    let response = get_at(&cloud, example.path, now).await;
                    assert_eq!(simulator(&cloud).requests(upstream) - before, requests, "{what}");

                    let line = line_of(&cloud, &response).await;
                    expect_fault(&response, earlier.as_ref(), &line, &what);
                    if earlier.is_none() {
                        // Waits for pauses to end. After a refusal, the name service gets no request for a
                        // minute.
                        now += milliseconds(Duration::from_mins(2));
                    }
                    assert!(line["cause"].as_str().unwrap().contains(cause), "{what}: {line}");
                }
                // This upstream recovers before the route's next upstream fails.
                simulator(&cloud).set_fault(upstream, Fault::default());
            }
            now += milliseconds(SLACK);
            let fetched = get_at(&cloud, example.path, now).await;
            assert!(!fetched.cached(), "{} after all faults", example.path);
            earlier = Some(fetched);
            now += milliseconds(example.route.cache + SLACK);
        }
    })
    .await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_stale_response_serves_for_ten_further_ttls_and_an_hour_at_most() {
    let cloud = start_with(one_instance_each()).await;
    serve_small_bodies(&cloud);
    for example in live_examples() {
        let earlier = get_at(&cloud, example.path, NOW).await;
        for upstream in &example.upstream {
            simulator(&cloud).set_fault(upstream, Fault::status(403));
        }
        let ttl = example.route.cache;
        let oldest = NOW + milliseconds(ttl + (ttl * 10).min(Duration::from_hours(1)));
        get_at(&cloud, example.path, oldest).await.expect_replay_of(&earlier);
        expect_failure(&get_at(&cloud, example.path, oldest + 1).await, example.path);
        // The response is still cached for requests with an earlier time.
        get_at(&cloud, example.path, oldest).await.expect_replay_of(&earlier);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_first_failure_is_retried_once() {
    let cloud = Arc::new(start_with(one_instance_each()).await);
    for_every_live_route(&cloud, async |cloud, example| {
        let mut moment = NOW;
        for fault in
            [Fault::status(500), Fault::status(502), Fault::status(503), Fault::status(404), Fault::close()]
        {
            for upstream in &example.upstream {
                if fault.status == Some(404) && has_parameter(upstream) {
                    continue;
                }
                let before = simulator(&cloud).requests(upstream);
                simulator(&cloud).set_fault(upstream, fault.clone().times(1));
                assert!(!get_at(&cloud, example.path, moment).await.cached(), "{upstream} after {fault:?}");
                assert_eq!(simulator(&cloud).requests(upstream) - before, 2, "{upstream} after {fault:?}");
                // At the next moment, no cached response is valid. Names are cached longest, for a day.
                moment += milliseconds(Duration::from_hours(25));
            }
        }
    })
    .await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn names_that_cannot_be_looked_up_pause_the_name_service_and_a_broken_player_pauses_nobody_else() {
    let cloud = start_with(one_instance_each()).await;
    let player = async |name: &str, now| get_at(&cloud, &format!("/v1/profile/{name}"), now).await;
    let broken = player("Broken", NOW).await.data()["uuid"].as_str().unwrap().to_owned();
    player("Known", NOW).await.data();
    let mut now = NOW + milliseconds(Duration::from_hours(2));
    simulator(&cloud).set_fault(NAMES, Fault::status(500));
    for name in ["One", "Two", "Three"] {
        expect_failure(&player(name, now).await, name);
    }
    let requests = simulator(&cloud).requests(NAMES);
    let paused = player("Four", now).await;
    expect_failure(&paused, "requests to the name service must pause");
    assert_eq!(paused.headers["retry-after"], "1");
    assert_eq!(simulator(&cloud).requests(NAMES), requests);
    assert!(!player("Known", now).await.cached(), "requests to the provider must not pause");
    simulator(&cloud).set_fault(NAMES, Fault::default());

    now += milliseconds(SLACK);
    let path = format!("{PROFILES}?uuid={broken}");
    simulator(&cloud).set_fault(&path, Fault::default().with_body(r#"{"success":true}"#));
    for (second, name) in ["Five", "Six", "Seven", "Eight"].into_iter().enumerate() {
        let now = now + i64::try_from(second).unwrap() * 1_000;
        expect_failure(&player("Broken", now).await, "a broken player");
        assert!(!player(name, now).await.cached(), "requests for {name} must not pause");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_rate_limited_upstream_gets_no_request_until_the_limit_ends() {
    let cloud = Arc::new(start_with(one_instance_each()).await);
    for_every_live_route(&cloud, async |cloud, example| {
        let mut now = NOW;
        for fault in [
            Fault::rate_limit(40),
            Fault::status(429).with_header("Retry-After", "40"),
            Fault::status(429).with_header("Retry-After", "7").with_header("RateLimit-Reset", "40"),
        ] {
            for upstream in &example.upstream {
                let what = format!("{upstream} after {fault:?}");
                let before = simulator(&cloud).requests(upstream);
                simulator(&cloud).set_fault(upstream, fault.clone().times(1));
                // The fault limits only the first request, but the upstream gets no other request until the
                // limit ends.
                for (after, wait) in [(0, "40"), (1, "40"), (1_001, "39"), (20_000, "20"), (39_999, "1")] {
                    let response = get_at(&cloud, example.path, now + after).await;
                    expect_failure(&response, &what);
                    assert_eq!(response.headers["retry-after"], wait, "{what}, {after} ms later");
                    assert_eq!(simulator(&cloud).requests(upstream) - before, 1, "{what}, {after} ms later");
                }
                assert!(!get_at(&cloud, example.path, now + 40_000).await.cached(), "{what}");
                assert_eq!(simulator(&cloud).requests(upstream) - before, 2, "{what}");
                // At the next time, the cached response is too old to serve, and the name is no longer
                // cached.
                now += milliseconds(Duration::from_hours(25));
            }
        }
    })
    .await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_rate_limit_applies_to_every_request_to_that_upstream_and_to_no_other() {
    let cloud = start_with(one_instance_each()).await;
    simulator(&cloud).set_fault(PROFILES, Fault::rate_limit(60).times(1));
    expect_failure(&get_at(&cloud, "/v1/profile/One", NOW).await, "the first player");
    expect_failure(&get_at(&cloud, "/v1/profile/Two", NOW).await, "the second player");
    // The name service is another upstream, which has not limited the rate.
    assert_eq!((simulator(&cloud).requests(NAMES), simulator(&cloud).requests(PROFILES)), (2, 1));
    get_at(&cloud, "/v1/profile/nobody_1", NOW).await.error("NOT_FOUND");
}

#[tokio::test]
async fn an_unknown_name_is_not_found_and_a_failing_name_service_is_an_error() {
    let cloud = start_with(one_instance_each()).await;
    let message =
        r#"{"path":"/users/profiles/minecraft/x","errorMessage":"Couldn't find any profile with name x"}"#;
    for (case, now) in [
        ("unknown", Fault::status(404).with_body(message), "NOT_FOUND"),
        ("refused", Fault::status(400).with_body(message), "NOT_FOUND"),
        ("no_content", Fault::status(204).with_body(""), "NOT_FOUND"),
        ("empty", Fault::status(200).with_body(""), "INTERNAL_ERROR"),
        (
            "limited",
            Fault::status(429).with_body(r#"{"path":"/users/profiles/minecraft/x"}"#),
            "INTERNAL_ERROR",
        ),
        ("limited_by_404", Fault::status(404).with_body(r#"{"path":"/x"}"#), "INTERNAL_ERROR"),
        ("forbidden", Fault::status(403).with_body(""), "INTERNAL_ERROR"),
        ("empty_error", Fault::status(500).with_body(""), "INTERNAL_ERROR"),
        ("no_uuid", Fault::default().with_body(r#"{"id":"12","name":"x"}"#), "INTERNAL_ERROR"),
        (
            "a_path",
            Fault::default().with_body(r#"{"id":"../../../../../../../etc/hostname1","name":"x"}"#),
            "INTERNAL_ERROR",
        ),
    ]
    .into_iter()
    // Each request is two minutes after the previous request, when the pause after a refusal is over.
    .zip((NOW..).step_by(120_000))
    {
        let (name, fault, code) = case;
        simulator(&cloud).set_fault(NAMES, fault);
        let response = get_at(&cloud, &format!("/v1/profile/{name}"), now).await;
        let message = response.error(code);
        assert_eq!(message.contains(name), code == "NOT_FOUND", "{message}");
        assert_eq!(simulator(&cloud).requests(PROFILES), 0, "{name}");
    }
    expect_clean_logs(&cloud);
}

/// Panics unless a metric filter of `infra/monitoring.yaml` counts causes with this beginning, and the line's
/// cause begins with it.
#[track_caller]
fn expect_counted(line: &Value, beginning: &str) {
    let filters = std::fs::read_to_string(in_repository("infra/monitoring.yaml")).unwrap();
    assert!(filters.contains(&format!("$.cause = \"{beginning}*\"")), "no filter for {beginning}");
    assert!(line["cause"].as_str().unwrap().starts_with(beginning), "{line}");
}

#[tokio::test]
async fn after_a_refusal_the_name_service_gets_no_request_for_a_minute_and_known_names_need_none() {
    for status in [403, 429] {
        let cloud = start_with(one_instance_each()).await;
        assert!(!get_at(&cloud, "/v1/profile/Known", NOW).await.cached());
        // The profile has expired, but may be served stale.
        let now = NOW + milliseconds(Duration::from_mins(20));
        simulator(&cloud).set_fault(NAMES, Fault::status(status).with_body("").times(1));
        for after in [0, 30_000, 59_999] {
            let response = get_at(&cloud, "/v1/profile/Other", now + after).await;
            expect_failure(&response, "an uncached name");
            expect_counted(&line_of(&cloud, &response).await, "the upstream limits the rate of requests");
        }
        assert_eq!(simulator(&cloud).requests(NAMES), 2, "{status}");
        assert!(
            !get_at(&cloud, "/v1/profile/known", now).await.cached(),
            "the profile must be fetched without the name service"
        );
        assert_eq!(simulator(&cloud).requests(NAMES), 2, "{status}");
        assert!(!get_at(&cloud, "/v1/profile/Other", now + 60_000).await.cached());
        // A name is cached for a day. A quarter of an hour after the name's expiry, the profile has also
        // expired.
        let day = NOW + milliseconds(Duration::from_hours(24));
        for (now, requests) in [(day - 1, 3), (day + milliseconds(Duration::from_mins(15)), 4)] {
            get_at(&cloud, "/v1/profile/Known", now).await.data();
            assert_eq!(simulator(&cloud).requests(NAMES), requests, "{status}");
        }
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn the_age_of_an_upstream_response_is_in_the_log() {
    let cloud = start_with(one_instance_each()).await;
    simulator(&cloud).set_fault(NAMES, Fault::default().with_header("Age", "86000"));
    simulator(&cloud).set_fault(PROFILES, Fault::default().with_header("Age", "7"));
    for (path, age) in [("/v1/profile/Notch", json!(86_000)), ("/v1/mayor", Value::Null)] {
        let line = line_of(&cloud, &get(&cloud, path).await).await;
        assert_eq!((&line["status"], &line["upstream_age_s"]), (&json!(200), &age), "{line}");
    }
}

#[tokio::test]
async fn a_request_to_a_hanging_or_slow_upstream_ends_in_time() {
    // All requests run at the same time, so the test takes as long as the slowest request.
    let cloud = Arc::new(start().await);
    let slow = Arc::new(start().await);
    for cloud in [&cloud, &slow] {
        cache_authorization(cloud).await;
    }
    for example in live_examples() {
        for path in &example.upstream {
            simulator(&cloud).set_fault(path, Fault::hang());
            simulator(&slow).set_fault(path, Fault::delay(Duration::from_secs(20)));
        }
    }
    // The name of this player is found at once, but the profiles hang.
    simulator(&cloud).set_fault("/users/profiles/minecraft/quick", Fault::default());
    let fails_in_time = async |cloud: Arc<Cloud>, path: &'static str| {
        expect_failure(&get(&cloud, path).await, path);
    };
    tokio::join!(
        for_every_live_route(&cloud, |cloud, example| fails_in_time(cloud, example.path)),
        for_every_live_route(&slow, |cloud, example| fails_in_time(cloud, example.path)),
        fails_in_time(Arc::clone(&cloud), "/v1/profile/quick"),
    );
    for cloud in [&cloud, &slow] {
        for example in live_examples() {
            let of_failure = |line: &Value| line["route"] == example.route.path && line["cause"].is_string();
            let line = await_logs(cloud, 1, of_failure).await.remove(0);
            assert!(line["cause"].as_str().unwrap().contains("in time"), "{line}");
            assert!(line["upstream_ms"].as_f64().unwrap() >= 4_000.0, "{line}");
            // A fetch that takes this long is not retried.
            assert_eq!(simulator(cloud).requests(&example.upstream[0]), 1, "{}", example.upstream[0]);
        }
        expect_clean_logs(cloud);
    }
    assert_eq!(simulator(&cloud).requests(PROFILES), 1);
}

#[tokio::test]
async fn all_upstream_requests_of_one_response_share_its_deadline() {
    let cloud = Arc::new(start_with(one_instance_each()).await);
    // Each of the two fetches takes less than eight seconds, but together they have only eight seconds.
    simulator(&cloud).set_fault("/users/profiles/minecraft/Notch", Fault::delay(Duration::from_secs(5)));
    simulator(&cloud).set_fault(PROFILES, Fault::delay(Duration::from_secs(5)));
    // Slow, but in time.
    simulator(&cloud).set_fault("/v2/skyblock/firesales", Fault::delay(Duration::from_secs(3)));
    let earlier = get_at(&cloud, "/v1/mayor", NOW).await;
    simulator(&cloud).set_fault("/v2/resources/skyblock/election", Fault::hang());
    let later = NOW + 300_000;
    let (profile, fire_sales, mayor) = tokio::join!(
        get_at(&cloud, "/v1/profile/Notch", later),
        get_at(&cloud, "/v1/fire-sales", later),
        get_at(&cloud, "/v1/mayor", later)
    );
    expect_failure(&profile, "two fetches of 5 s");
    assert!(!fire_sales.cached(), "3 s must be in time");
    mayor.expect_replay_of(&earlier);
    expect_clean_logs(&cloud);
}

/// Starts a cloud that sends `key` to the returned simulator.
async fn with_key(key: &str) -> (Cloud, Simulator) {
    let address = ([127, 0, 0, 1], 0).into();
    let game =
        Simulator::start(simulator::Options { seed: 1, address, clock: Clock::system() }).await.unwrap();
    let upstream = Upstream::Url(game.url());
    (start_with(Options { upstream, upstream_key: Some(key.to_owned()), ..one_instance_each() }).await, game)
}

#[tokio::test]
async fn only_a_403_with_the_json_of_the_provider_accuses_the_key() {
    let (cloud, game) = with_key("key-of-this-test").await;
    let page = "<!DOCTYPE html><title>Access denied</title>";
    let refusal = r#"{"success":false,"cause":"Invalid API key"}"#;
    let cases = [
        (403, page, false),
        (403, "", false),
        (403, r#"{"message":"Forbidden"}"#, false),
        (403, r#"{"success":false}"#, false),
        (403, r#"{"success":true,"cause":"Invalid API key"}"#, false),
        (401, page, false),
        (401, refusal, false),
        // A proxy may have dropped the header.
        (400, r#"{"success":false,"cause":"Missing API-Key header"}"#, false),
        (403, refusal, true),
        (403, r#"{"success":false,"cause":"Too many invalid API\u0020keys","throttle":true}"#, true),
    ];
    for ((status, body, is_accused), now) in cases.into_iter().zip((NOW..).step_by(120_000)) {
        game.set_fault(PROFILES, Fault::status(status).with_body(body));
        let response = get_at(&cloud, "/v1/profile/Notch", now).await;
        expect_failure(&response, body);
        let line = line_of(&cloud, &response).await;
        let cause = line["cause"].as_str().unwrap();
        assert!(cause.contains(&status.to_string()), "{cause}");
        let beginning = "the upstream refuses the API key";
        assert_eq!(cause.starts_with(beginning), is_accused, "{body}: {cause}");
        if is_accused {
            expect_counted(&line, beginning);
        }
    }
    assert_eq!(game.requests(PROFILES), cases.len() as u64, "a refused key must not be retried");
    assert!(get(&cloud, "/v1/mayor").await.data().is_object(), "other routes must not need the key");
}

#[tokio::test]
async fn failures_about_a_player_are_logged_with_their_status_and_without_the_player() {
    const NAME: &str = "Secretive_1";
    let cloud = start_with(one_instance_each()).await;
    let path = format!("/v1/profile/{NAME}");
    let id = get_at(&cloud, &path, NOW).await.data()["uuid"].as_str().unwrap().to_owned();
    let dashed = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
    let secret = [NAME.to_owned(), id.clone(), dashed.clone()];
    let echo = format!(r#"{{"path":"/users/profiles/minecraft/{NAME}"}}"#);
    let page = Fault::default().with_body(format!("<title>Access to {NAME} denied</title>"));
    for ((upstream, fault, word), day) in [
        (NAMES, Fault { status: Some(403), ..page.clone() }, "403 Forbidden: <title>Access to"),
        (NAMES, Fault::status(429).with_body(echo.as_str()), r#"429 Too Many Requests: {"path""#),
        (NAMES, Fault::status(404).with_body(echo.to_uppercase()), "is invalid"),
        (NAMES, Fault::status(500).with_body(echo.as_str()), "500"),
        (NAMES, page, "is invalid"),
        (NAMES, Fault::close(), "cannot reach"),
        (NAMES, Fault::truncate(10), "cannot be read"),
        (PROFILES, Fault::status(422).with_body(format!("Malformed UUID: {id}")), "422"),
        (PROFILES, Fault::status(500).with_body(dashed.as_str()), "500"),
        (PROFILES, Fault::default().with_body(format!("[\"{}\"]", id.to_uppercase())), "is invalid"),
        (PROFILES, Fault::default().with_body(format!(r#"{{"success":"{dashed}"}}"#)), "is invalid"),
    ]
    .into_iter()
    .zip(1..)
    {
        simulator(&cloud).set_fault(upstream, fault);
        // A name is cached for a day. Each case is on a different day, so it sends requests to both services.
        let now = NOW + day * milliseconds(Duration::from_hours(25));
        let response = get_at(&cloud, &path, now).await;
        expect_failure(&response, word);
        simulator(&cloud).set_fault(upstream, Fault::default());
        let line = line_of(&cloud, &response).await;
        assert!(line["cause"].as_str().unwrap().contains(word), "{word}: {line}");
        for text in &secret {
            assert!(!line.to_string().to_lowercase().contains(&text.to_lowercase()), "{line}");
        }
    }
}

#[tokio::test]
async fn the_upstream_key_is_in_no_log_and_no_response() {
    const KEY: &str = "5f0c2f7e-key-of-this-test";
    let (cloud, game) = with_key(KEY).await;
    let mut responses = vec![get(&cloud, "/v1/profile/Notch").await];
    assert!(!responses[0].cached(), "the upstream must accept the key");
    for (number, case) in cases().into_iter().enumerate() {
        cloud.clock().advance(Duration::from_mins(2));
        game.set_fault(PROFILES, case.fault);
        responses.push(get(&cloud, &format!("/v1/profile/player{number}")).await);
        game.set_fault(PROFILES, Fault::default());
    }
    for (number, status) in [200, 400, 403, 500].into_iter().enumerate() {
        cloud.clock().advance(Duration::from_mins(2));
        let body = format!(r#"{{"success":false,"cause":"Invalid API key {KEY}"}}"#);
        game.set_fault(PROFILES, Fault::status(status).with_body(body));
        let response = get(&cloud, &format!("/v1/profile/echo{number}")).await;
        expect_failure(&response, "a provider that echoes the key");
        responses.push(response);
        game.set_fault(PROFILES, Fault::default());
    }
    await_logs(&cloud, responses.len(), |line| line["route"] == "/v1/profile/{username}").await;
    for response in responses {
        assert!(
            !response.text.contains(KEY) && !format!("{:?}", response.headers).contains(KEY),
            "{response:?}"
        );
    }
    for line in cloud.logs() {
        assert!(!line.contains(KEY), "{line}");
    }
}

#[tokio::test]
async fn only_a_refused_later_page_is_not_found() {
    const PAGES: &str = "/v2/skyblock/auctions";
    let refusal = |status| Fault::status(status).with_body(r#"{"success":false,"cause":"Page not found"}"#);
    let cloud = start_with(one_instance_each()).await;
    for (page, status, code) in [
        (70, 404, "NOT_FOUND"),
        (71, 422, "NOT_FOUND"),
        (72, 400, "INTERNAL_ERROR"),
        (0, 404, "INTERNAL_ERROR"),
        (0, 422, "INTERNAL_ERROR"),
    ] {
        cloud.clock().advance(Duration::from_mins(2));
        simulator(&cloud).set_fault(PAGES, refusal(status));
        get(&cloud, &format!("/v1/auctions?page={page}")).await.error(code);
    }
    let other = r#"{"success":true,"page":7,"totalPages":9,"totalAuctions":1,"lastUpdated":1,"auctions":[]}"#;
    cloud.clock().advance(Duration::from_mins(2));
    simulator(&cloud).set_fault(PAGES, Fault::default().with_body(other));
    get(&cloud, "/v1/auctions?page=0").await.error("INTERNAL_ERROR");
    assert_eq!(get(&cloud, "/v1/auctions?page=7").await.data()["page"], 7);
}

#[tokio::test]
async fn the_name_of_the_encoding_is_compared_without_case() {
    let cloud = start_with(one_instance_each()).await;
    let cases = ["GZIP", "X-Gzip", " gzip ", "identity, gzip"];
    for (name, now) in cases.into_iter().zip((NOW..).step_by(86_400_000)) {
        // The simulator compresses the body, because the function accepts gzip.
        simulator(&cloud).set_fault(BAZAAR, Fault::default().with_header("Content-Encoding", name));
        assert!(!get_at(&cloud, "/v1/bazaar?mode=list", now).await.cached(), "{name:?}");
    }
    let plain = Fault::default().with_body(r#"{"success":true,"sales":[]}"#);
    for (name, now) in ["Identity", ""].into_iter().zip((NOW..).step_by(86_400_000)) {
        let fault = plain.clone().with_header("Content-Encoding", name);
        simulator(&cloud).set_fault("/v2/skyblock/firesales", fault);
        assert!(!get_at(&cloud, "/v1/fire-sales", now).await.cached(), "{name:?}");
    }
    expect_clean_logs(&cloud);
}
