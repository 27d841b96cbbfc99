//! Faults on demand, counters, and the controls over HTTP.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::client::{get, get_with, request, start};
use simulator::{Fault, Garbage};

const ELECTION: &str = "/v2/resources/skyblock/election";
const SALES: &str = "/v2/skyblock/firesales";

#[tokio::test]
async fn a_status_has_the_providers_body_and_a_number_of_times() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::status(503).with_header("Retry-After", "7").times(2));
    for _ in 0..2 {
        let response = get(&simulator, ELECTION).await;
        assert_eq!(response.status, 503);
        assert_eq!(response.header("retry-after"), Some("7"));
        assert_eq!(response.json()["success"], false);
    }
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
    simulator.set_fault(ELECTION, Fault::status(200).with_body("soup"));
    assert_eq!(get(&simulator, ELECTION).await.text(), "soup");
    assert_eq!(get(&simulator, SALES).await.status, 200, "other paths are well");
    simulator.clear_faults();
    assert_eq!(get(&simulator, ELECTION).await.json()["success"], true);
}

#[tokio::test]
async fn headers_can_be_set_on_the_games_own_response() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::default().with_header("Age", "17076"));
    let response = get(&simulator, ELECTION).await;
    assert_eq!((response.status, response.header("age")), (200, Some("17076")));
    assert_eq!(response.json()["success"], true);
}

#[tokio::test]
async fn an_exhausted_key_gets_the_time_of_its_reset() {
    let (simulator, _clock) = start().await;
    simulator.set_fault("/v2/skyblock/profiles", Fault::rate_limit(42));
    let response = get_with(&simulator, "/v2/skyblock/profiles?uuid=1", &[("API-Key", "k")]).await;
    assert_eq!(response.status, 429);
    assert_eq!(response.header("ratelimit-remaining"), Some("0"));
    assert_eq!(response.header("ratelimit-reset"), Some("42"));
    assert_eq!(response.text(), r#"{"success":false,"cause":"Key throttle","throttle":true}"#);
}

#[tokio::test]
async fn a_star_matches_all_names_and_the_exact_path_takes_precedence() {
    let (simulator, _clock) = start().await;
    simulator.set_fault("/users/profiles/minecraft/*", Fault::status(429));
    simulator.set_fault("/users/profiles/minecraft/lucky", Fault::status(503));
    let response = get(&simulator, "/users/profiles/minecraft/someone").await;
    assert_eq!(response.status, 429);
    assert_eq!(response.json(), serde_json::json!({"path": "/users/profiles/minecraft/someone"}));
    assert_eq!(get(&simulator, "/users/profiles/minecraft/lucky").await.status, 503);
    assert_eq!(simulator.requests("/users/profiles/minecraft/*"), 2);
    assert_eq!(simulator.requests("/users/profiles/minecraft/lucky"), 1);
}

#[tokio::test]
async fn a_delay_precedes_the_response() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::delay(Duration::from_millis(150)));
    let begun = Instant::now();
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_truncated_body_is_shorter_than_its_content_length() {
    let (simulator, _clock) = start().await;
    let path = "/v2/skyblock/bazaar";
    simulator.set_fault(path, Fault::truncate(100_000));
    let response = get_with(&simulator, path, &[("Accept-Encoding", "gzip")]).await;
    assert_eq!(response.status, 200);
    assert!(response.header("content-length").unwrap().parse::<usize>().unwrap() > 2_000_000);
    assert_eq!(response.body.len(), 100_000);
}

#[tokio::test]
async fn a_connection_can_be_closed_without_a_response() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::close().times(1));
    let response = get(&simulator, ELECTION).await;
    assert_eq!((response.status, response.body.len()), (0, 0));
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
}

#[tokio::test]
async fn a_hanging_request_does_not_block_others() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::hang());
    let hung = tokio::time::timeout(Duration::from_millis(300), get(&simulator, ELECTION)).await;
    assert!(hung.is_err());
    assert_eq!(get(&simulator, SALES).await.status, 200);
    assert_eq!(simulator.requests(ELECTION), 1);
}

#[tokio::test]
async fn garbage_has_status_200() {
    let (simulator, _clock) = start().await;
    let mut responses = Vec::new();
    for garbage in [Garbage::Bytes, Garbage::Html, Garbage::WrongShape, Garbage::Failure] {
        simulator.set_fault(ELECTION, Fault::garbage(garbage));
        let response = get(&simulator, ELECTION).await;
        assert_eq!(response.status, 200);
        responses.push(response);
    }
    assert!(serde_json::from_slice::<serde_json::Value>(&responses[0].body).is_err());
    assert!(responses[1].text().contains("<html>"));
    assert_eq!(responses[1].header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(responses[2].json()["success"], true);
    assert!(!responses[2].json()["mayor"].is_object());
    assert_eq!(responses[3].json()["success"], false);
    simulator.set_fault(ELECTION, Fault { status: Some(502), ..Fault::garbage(Garbage::Html) });
    assert_eq!(get(&simulator, ELECTION).await.status, 502);
}

#[tokio::test]
async fn the_gzip_bomb_is_small_outside_and_large_inside() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::garbage(Garbage::GzipBomb));
    let response = get(&simulator, ELECTION).await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert!(response.body.len() < 100_000, "{} bytes", response.body.len());
    let inflated = std::io::copy(
        &mut flate2::read::GzDecoder::new(&response.body[..]).take(64 << 20),
        &mut std::io::sink(),
    );
    assert!(inflated.unwrap() > 32 << 20);
}

#[tokio::test]
async fn the_controls_work_over_http() {
    let (simulator, _clock) = start().await;
    let rule = format!(r#"{{"path":"{ELECTION}","status":500,"body":"sorry","times":1}}"#);
    assert_eq!(request(&simulator, "PUT", "/__control", &[], &rule).await.status, 200);
    let response = get(&simulator, ELECTION).await;
    assert_eq!((response.status, response.text().as_str()), (500, "sorry"));
    assert_eq!(get(&simulator, &format!("/at/1700000000000{ELECTION}")).await.status, 200);
    assert_eq!(get(&simulator, "/__stats").await.json(), serde_json::json!({ELECTION: 2}));

    request(&simulator, "PUT", "/__control", &[], &rule).await;
    assert_eq!(request(&simulator, "DELETE", "/__control", &[], "").await.status, 200);
    assert_eq!(get(&simulator, "/__stats").await.json(), serde_json::json!({}));
    assert_eq!(get(&simulator, ELECTION).await.status, 200);

    let wrong = request(&simulator, "PUT", "/__control", &[], r#"{"path":"/a","stats":500}"#).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.json()["cause"].as_str().unwrap().contains("stats"));
}

#[tokio::test]
async fn a_fault_covers_its_path_at_every_moment() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::status(503));
    assert_eq!(get(&simulator, &format!("/at/1700000000000{ELECTION}")).await.status, 503);
    simulator.reset();
    assert_eq!(simulator.requests(ELECTION), 0);
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
}
