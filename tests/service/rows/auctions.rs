//! A page of auctions fails if its numbers are invalid. If the provider loses a page for a moment, the
//! earlier page is served. Without an earlier page, the response is an error instead of a 404.

use local::Cloud;
use serde_json::json;
use simulator::Fault;

use crate::provider::{AUCTIONS, NOW, texts};
use crate::support::{get_at, logged, one_instance_each, simulator, start_with};
use crate::upstream_faults::expect_failure;

/// The provider's response with this page.
fn page(number: i64, total_pages: i64, rows: &str) -> String {
    let numbers = format!(r#""page":{number},"totalPages":{total_pages}"#);
    AUCTIONS.body(rows).replacen(r#""page":0,"totalPages":1"#, &numbers, 1)
}

#[tokio::test]
async fn a_page_whose_own_numbers_make_no_sense_is_a_failure() {
    let cloud = start_with(one_instance_each()).await;
    let good = page(0, 1, &AUCTIONS.usual("A"));
    // Each request is a minute after the previous request, when the pause after the failure is over.
    for ((part, other), now) in [
        (r#""page":0"#, r#""page":1"#),
        (r#""page":0"#, r#""page":null"#),
        (r#""totalPages":1"#, r#""totalPages":-1"#),
        (r#""totalPages":1,"#, ""),
        (r#""totalAuctions":7"#, r#""totalAuctions":-7"#),
        (r#""totalAuctions":7"#, r#""totalAuctions":"7""#),
        (r#""lastUpdated":1777388578000"#, r#""lastUpdated":-1"#),
        (r#""lastUpdated":1777388578000"#, r#""lastUpdated":{}"#),
        (r#""auctions""#, r#""sales""#),
        (r#""success":true"#, r#""success":false"#),
    ]
    .into_iter()
    .zip((NOW..).step_by(60_000))
    {
        let body = good.replacen(part, other, 1);
        assert_ne!(body, good, "{part}");
        simulator(&cloud).set_fault(AUCTIONS.path, Fault::default().with_body(body));
        expect_failure(&get_at(&cloud, "/v1/auctions", now).await, part);
    }
}

fn serve(cloud: &Cloud, fault: Fault) {
    simulator(cloud).set_fault(AUCTIONS.path, fault);
}

/// The provider's response for a page that it has lost, or that does not exist.
fn not_found() -> Fault {
    Fault::status(404).with_body(r#"{"success":false,"cause":"Page not found"}"#)
}

#[tokio::test]
async fn a_page_that_the_provider_loses_goes_on() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, Fault::default().with_body(page(3, 5, &AUCTIONS.usual("A"))));
    let earlier = get_at(&cloud, "/v1/auctions?page=3", NOW).await;
    serve(&cloud, not_found());
    for after in [30_000, 60_000, 330_000] {
        let (stale, log) = logged(&cloud, get_at(&cloud, "/v1/auctions?page=3", NOW + after)).await;
        stale.expect_replay_of(&earlier);
        assert!(log.line["cause"].as_str().unwrap().contains("404"), "{}", log.line);
    }
    // The page has become too old to serve.
    get_at(&cloud, "/v1/auctions?page=3", NOW + 330_001).await.error("NOT_FOUND");
}

#[tokio::test]
async fn a_lost_page_that_page_0_counts_is_a_failure_and_not_an_unknown_page() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, Fault::default().with_body(page(0, 5, &AUCTIONS.usual("A"))));
    let page_0 = get_at(&cloud, "/v1/auctions", NOW).await;
    assert_eq!(page_0.data()["totalPages"], 5);
    for fault in [not_found(), Fault::status(422), Fault::status(404).with_body("")] {
        serve(&cloud, fault);
        for after in [0, 29_999, 330_000] {
            let response = get_at(&cloud, "/v1/auctions?page=4", NOW + after).await;
            expect_failure(&response, "a lost page");
            let pause = response.headers["retry-after"].to_str().unwrap();
            assert!(["1", "2"].contains(&pause), "{pause}");
        }
    }
    serve(&cloud, not_found());
    // Page 0 counts five pages, so page 5 does not exist.
    get_at(&cloud, "/v1/auctions?page=5", NOW).await.error("NOT_FOUND");
    // For page 0 itself, a 404 is a failure, so the earlier response is served.
    get_at(&cloud, "/v1/auctions", NOW + 30_000).await.expect_replay_of(&page_0);
    // The provider serves the page again.
    serve(&cloud, Fault::default().with_body(page(4, 5, &AUCTIONS.usual("Z"))));
    let back = get_at(&cloud, "/v1/auctions?page=4", NOW + 1).await;
    assert_eq!((back.cached(), texts(&back.data()["auctions"], "uuid")), (false, vec!["Z".to_owned()]));
    // Once page 0 counts fewer pages, a request for the lost page is a 404.
    serve(&cloud, Fault::default().with_body(page(0, 2, "")));
    assert_eq!(get_at(&cloud, "/v1/auctions", NOW + 60_000).await.data()["auctions"], json!([]));
    serve(&cloud, not_found());
    get_at(&cloud, "/v1/auctions?page=3", NOW + 60_000).await.error("NOT_FOUND");
}

#[tokio::test]
async fn an_earlier_404_is_not_served_once_page_0_counts_the_page() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, not_found());
    get_at(&cloud, "/v1/auctions?page=3", NOW).await.error("NOT_FOUND");
    serve(&cloud, Fault::default().with_body(page(0, 4, "")));
    get_at(&cloud, "/v1/auctions", NOW + 1_000).await.data();
    // The 404 is cached for its TTL, like any response.
    get_at(&cloud, "/v1/auctions?page=3", NOW + 29_999).await.error("NOT_FOUND");
    for fault in [not_found(), Fault::status(503)] {
        serve(&cloud, fault);
        expect_failure(&get_at(&cloud, "/v1/auctions?page=3", NOW + 30_000).await, "a lost page");
    }
}
