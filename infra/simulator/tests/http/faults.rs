//! Faults at every moment, counters, and the controls over HTTP. Tests of the service show what each fault does.

use crate::client::{get, get_with, request, start};
use simulator::{Fault, Garbage};

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

const PAGES: &str = "/v2/skyblock/auctions";

const ENDED: &str = "/v2/skyblock/auctions_ended";

#[tokio::test]
async fn the_longest_path_takes_precedence_and_can_have_a_query() {
    let (simulator, _clock) = start().await;
    for (path, body) in [("*", "any"), ("", "pages"), ("?page=1*", "1 and 10 to 19"), ("?page=1", "1")] {
        simulator.set_fault(&format!("{PAGES}{path}"), Fault::default().with_body(body));
    }
    for (query, body) in
        [("", "pages"), ("?page=2", "pages"), ("?page=17", "1 and 10 to 19"), ("?page=1", "1")]
    {
        assert_eq!(get(&simulator, &format!("{PAGES}{query}")).await.text(), body);
    }
    assert_eq!(get(&simulator, ENDED).await.text(), "any");
    assert_eq!(simulator.requests(PAGES), 4);
}

#[tokio::test]
async fn auctions_can_go_back_and_have_unusable_blobs() {
    let (simulator, clock) = start().await;
    clock.stop_at(1_790_000_000_000);
    for path in [PAGES, ENDED] {
        simulator.clear_faults();
        let good = get(&simulator, path).await.json();
        let earlier = r#"{"back_ms":120000,"path":""#.to_owned() + path + "\"}";
        request(&simulator, "PUT", "/__control", &[], &earlier).await;
        let back = get(&simulator, path).await.json()["lastUpdated"].as_i64().unwrap();
        assert_eq!(back, good["lastUpdated"].as_i64().unwrap() - 120_000);
        simulator.set_fault(path, Fault::garbage(Garbage::ItemBytes));
        let garbled = get_with(&simulator, path, &[("Accept-Encoding", "gzip")]).await.json();
        let rows = good["auctions"].as_array().unwrap().iter().zip(garbled["auctions"].as_array().unwrap());
        for (number, (good, garbled)) in rows.enumerate() {
            assert_eq!(good["item_bytes"] == garbled["item_bytes"], number % 4 != 3);
            assert_eq!(good["timestamp"], garbled["timestamp"]);
        }
    }
}
