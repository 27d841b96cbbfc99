//! Faults on demand, counters, and the controls over HTTP.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::client::{get, get_with, request, start};
use simulator::{Fault, Garbage};

const ELECTION: &str = "/v2/resources/skyblock/election";
const SALES: &str = "/v2/skyblock/firesales";

#[tokio::test]
async fn a_status_comes_with_the_providers_body_as_often_as_asked() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::status(503).with_header("Retry-After", "7").times(2));
    for _ in 0..2 {
        let answer = get(&simulator, ELECTION).await;
        assert_eq!(answer.status, 503);
        assert_eq!(answer.header("retry-after"), Some("7"));
        assert_eq!(answer.json()["success"], false);
    }
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
    simulator.set_fault(ELECTION, Fault::status(200).with_body("soup"));
    assert_eq!(get(&simulator, ELECTION).await.text(), "soup");
    assert_eq!(get(&simulator, SALES).await.status, 200, "other paths are well");
    simulator.clear_faults();
    assert_eq!(get(&simulator, ELECTION).await.json()["success"], true);
}

#[tokio::test]
async fn headers_alone_go_on_the_games_own_answer() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::default().with_header("Age", "17076"));
    let answer = get(&simulator, ELECTION).await;
    assert_eq!((answer.status, answer.header("age")), (200, Some("17076")));
    assert_eq!(answer.json()["success"], true);
}

#[tokio::test]
async fn a_used_up_key_is_told_when_to_come_back() {
    let (simulator, _clock) = start().await;
    simulator.set_fault("/v2/skyblock/profiles", Fault::rate_limit(42));
    let answer = get_with(&simulator, "/v2/skyblock/profiles?uuid=1", &[("API-Key", "k")]).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.header("ratelimit-remaining"), Some("0"));
    assert_eq!(answer.header("ratelimit-reset"), Some("42"));
    assert_eq!(answer.text(), r#"{"success":false,"cause":"Key throttle","throttle":true}"#);
}

#[tokio::test]
async fn a_star_covers_all_names_and_the_exact_path_goes_first() {
    let (simulator, _clock) = start().await;
    simulator.set_fault("/users/profiles/minecraft/*", Fault::status(429));
    simulator.set_fault("/users/profiles/minecraft/lucky", Fault::status(503));
    let answer = get(&simulator, "/users/profiles/minecraft/someone").await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json(), serde_json::json!({"path": "/users/profiles/minecraft/someone"}));
    assert_eq!(get(&simulator, "/users/profiles/minecraft/lucky").await.status, 503);
    assert_eq!(simulator.requests("/users/profiles/minecraft/*"), 2);
    assert_eq!(simulator.requests("/users/profiles/minecraft/lucky"), 1);
}

#[tokio::test]
async fn a_delay_comes_before_the_answer() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::delay(Duration::from_millis(150)));
    let begun = Instant::now();
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_truncated_body_promises_more_than_it_sends() {
    let (simulator, _clock) = start().await;
    let path = "/v2/skyblock/bazaar";
    simulator.set_fault(path, Fault::truncate(100_000));
    let answer = get_with(&simulator, path, &[("Accept-Encoding", "gzip")]).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-length").unwrap().parse::<usize>().unwrap() > 2_000_000);
    assert_eq!(answer.body.len(), 100_000);
}

#[tokio::test]
async fn a_closed_connection_brings_nothing() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::close().times(1));
    let answer = get(&simulator, ELECTION).await;
    assert_eq!((answer.status, answer.body.len()), (0, 0));
    assert_eq!(get(&simulator, ELECTION).await.status, 200);
}

#[tokio::test]
async fn a_hanging_request_gets_no_answer_and_harms_no_other() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::hang());
    let hung = tokio::time::timeout(Duration::from_millis(300), get(&simulator, ELECTION)).await;
    assert!(hung.is_err());
    assert_eq!(get(&simulator, SALES).await.status, 200);
    assert_eq!(simulator.requests(ELECTION), 1);
}

#[tokio::test]
async fn garbage_looks_well_from_outside() {
    let (simulator, _clock) = start().await;
    let mut answers = Vec::new();
    for garbage in [Garbage::Bytes, Garbage::Html, Garbage::WrongShape, Garbage::Failure] {
        simulator.set_fault(ELECTION, Fault::garbage(garbage));
        let answer = get(&simulator, ELECTION).await;
        assert_eq!(answer.status, 200);
        answers.push(answer);
    }
    assert!(serde_json::from_slice::<serde_json::Value>(&answers[0].body).is_err());
    assert!(answers[1].text().contains("<html>"));
    assert_eq!(answers[1].header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answers[2].json()["success"], true);
    assert!(!answers[2].json()["mayor"].is_object());
    assert_eq!(answers[3].json()["success"], false);
    simulator.set_fault(ELECTION, Fault { status: Some(502), ..Fault::garbage(Garbage::Html) });
    assert_eq!(get(&simulator, ELECTION).await.status, 502);
}

#[tokio::test]
async fn the_gzip_bomb_is_small_outside_and_large_inside() {
    let (simulator, _clock) = start().await;
    simulator.set_fault(ELECTION, Fault::garbage(Garbage::GzipBomb));
    let answer = get(&simulator, ELECTION).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(answer.body.len() < 100_000, "{} bytes", answer.body.len());
    let inflated = std::io::copy(
        &mut flate2::read::GzDecoder::new(&answer.body[..]).take(64 << 20),
        &mut std::io::sink(),
    );
    assert!(inflated.unwrap() > 32 << 20);
}

#[tokio::test]
async fn the_controls_work_over_http() {
    let (simulator, _clock) = start().await;
    let rule = format!(r#"{{"path":"{ELECTION}","status":500,"body":"sorry","times":1}}"#);
    assert_eq!(request(&simulator, "PUT", "/__control", &[], &rule).await.status, 200);
    let answer = get(&simulator, ELECTION).await;
    assert_eq!((answer.status, answer.text().as_str()), (500, "sorry"));
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
