//! An invalid auction is left out of its page. A page fails only if most of its auctions or the numbers of the page are invalid. If the
//! provider loses a page for a moment, the earlier page is served. Without an earlier page, the response is an error instead of a 404.

use local::Cloud;
use serde_json::json;
use simulator::Fault;

use super::table::{Field, Route, START, bare, in_braces, texts};
use crate::support::{await_logs, get_at, one_instance_each, simulator, start_with};
use crate::upstream_faults::expect_failure;

const AUCTIONS: Route = Route {
    path: "/v1/auctions",
    upstream: "/v2/skyblock/auctions",
    fields: &[
        Field::id("uuid"),
        Field {
            name: "auctioneer",
            usual: r#""053eb0f0a27842539d065e3d33d5478a""#,
            optional: false,
            good: &[r#""another""#],
            bad: &["5", "true", "{}", "[]", r#""""#, r#""\ud800""#],
        },
        Field::text("item_name", r#""Divine Pickaxe""#),
        Field::text("item_lore", r#""line\nline\ud83d\udd25""#),
        Field::count("starting_bid"),
        // Always present; 0 without bids.
        Field::count("highest_bid_amount"),
        Field {
            name: "bin",
            usual: "true",
            optional: false,
            good: &["false"],
            bad: &["0", "1", r#""true""#, "{}", "[]"],
        },
        Field {
            name: "start",
            usual: "1777388000000",
            optional: false,
            good: &["1.777388E12", "1777399000000"],
            bad: Field::NO_TIMES,
        },
        Field {
            name: "end",
            usual: "1777399000000",
            optional: false,
            good: &["1777388000000", "9999999999999"],
            bad: &["1777387999999", "-1777399000000", "0", "1777399000", r#""soon""#, "true", "{}", "[]"],
        },
    ],
    id: Some("uuid"),
    row: in_braces,
    no_row: bare,
    body: |rows| page(0, 1, rows),
    listed: |data| texts(&data["auctions"], "uuid"),
    is_served: |good, bad| bad <= good,
};

/// The provider's response with this page.
fn page(number: i64, total_pages: i64, rows: &str) -> String {
    format!(
        r#"{{"success":true,"page":{number},"totalPages":{total_pages},"totalAuctions":7,"lastUpdated":1777388578000,"auctions":[{rows}]}}"#
    )
}

#[tokio::test]
async fn an_auction_that_makes_no_sense_is_left_out() {
    AUCTIONS.expect_table().await;
}

#[tokio::test]
async fn a_page_fails_only_if_most_auctions_make_no_sense() {
    AUCTIONS.expect_limit().await;
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
    .zip((START..).step_by(60_000))
    {
        let body = good.replacen(part, other, 1);
        assert_ne!(body, good, "{part}");
        simulator(&cloud).set_fault(AUCTIONS.upstream, Fault::default().with_body(body));
        expect_failure(&get_at(&cloud, AUCTIONS.path, now).await, part);
    }
}

fn serve(cloud: &Cloud, fault: Fault) {
    simulator(cloud).set_fault(AUCTIONS.upstream, fault);
}

/// The provider's response for a page that it has lost, or that does not exist.
fn not_found() -> Fault {
    Fault::status(404).with_body(r#"{"success":false,"cause":"Page not found"}"#)
}

#[tokio::test]
async fn a_page_that_the_provider_loses_goes_on() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, Fault::default().with_body(page(3, 5, &AUCTIONS.usual("A"))));
    let earlier = get_at(&cloud, "/v1/auctions?page=3", START).await;
    serve(&cloud, not_found());
    for after in [30_000, 60_000, 330_000] {
        get_at(&cloud, "/v1/auctions?page=3", START + after).await.expect_replay_of(&earlier);
        let stale = await_logs(&cloud, 1, |line| line["level"] == "WARN").await.pop().unwrap();
        assert!(stale["cause"].as_str().unwrap().contains("404"), "{stale}");
    }
    // The page has become too old to serve.
    get_at(&cloud, "/v1/auctions?page=3", START + 330_001).await.error("NOT_FOUND");
}

#[tokio::test]
async fn a_lost_page_that_page_0_counts_is_a_failure_and_not_an_unknown_page() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, Fault::default().with_body(page(0, 5, &AUCTIONS.usual("A"))));
    let page_0 = get_at(&cloud, "/v1/auctions", START).await;
    assert_eq!(page_0.data()["totalPages"], 5);
    for fault in [not_found(), Fault::status(422), Fault::status(404).with_body("")] {
        serve(&cloud, fault);
        for after in [0, 29_999, 330_000] {
            let response = get_at(&cloud, "/v1/auctions?page=4", START + after).await;
            expect_failure(&response, "a lost page");
            let pause = response.headers["retry-after"].to_str().unwrap();
            assert!(["1", "2"].contains(&pause), "{pause}");
        }
    }
    serve(&cloud, not_found());
    // Page 0 counts five pages, so page 5 does not exist.
    get_at(&cloud, "/v1/auctions?page=5", START).await.error("NOT_FOUND");
    // For page 0 itself, a 404 is a failure, so the earlier response is served.
    get_at(&cloud, "/v1/auctions", START + 30_000).await.expect_replay_of(&page_0);
    // The provider serves the page again.
    serve(&cloud, Fault::default().with_body(page(4, 5, &AUCTIONS.usual("Z"))));
    let back = get_at(&cloud, "/v1/auctions?page=4", START + 1).await;
    assert_eq!((back.cached(), texts(&back.data()["auctions"], "uuid")), (false, vec!["Z".to_owned()]));
    // Once page 0 counts fewer pages, a request for the lost page is a 404.
    serve(&cloud, Fault::default().with_body(page(0, 2, "")));
    assert_eq!(get_at(&cloud, "/v1/auctions", START + 60_000).await.data()["auctions"], json!([]));
    serve(&cloud, not_found());
    get_at(&cloud, "/v1/auctions?page=3", START + 60_000).await.error("NOT_FOUND");
}

#[tokio::test]
async fn an_earlier_404_is_not_served_once_page_0_counts_the_page() {
    let cloud = start_with(one_instance_each()).await;
    serve(&cloud, not_found());
    get_at(&cloud, "/v1/auctions?page=3", START).await.error("NOT_FOUND");
    serve(&cloud, Fault::default().with_body(page(0, 4, "")));
    get_at(&cloud, "/v1/auctions", START + 1_000).await.data();
    // The 404 is cached for its TTL, like any response.
    get_at(&cloud, "/v1/auctions?page=3", START + 29_999).await.error("NOT_FOUND");
    for fault in [not_found(), Fault::status(503)] {
        serve(&cloud, fault);
        expect_failure(&get_at(&cloud, "/v1/auctions?page=3", START + 30_000).await, "a lost page");
    }
}
