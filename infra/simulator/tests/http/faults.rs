//! Faults at every moment, counters, and the controls over HTTP. Tests of the service show what each fault does.

use crate::client::{get, request, start};
use simulator::Fault;

const ELECTION: &str = "/v2/resources/skyblock/election";

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
