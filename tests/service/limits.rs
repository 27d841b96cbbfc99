//! Responses and upstream bodies beyond the limits are errors, and the log says what was too large. Large responses, long
//! queries and parallel requests below the limits succeed.

use std::sync::Arc;

use local::Cloud;
use serde_json::Value;
use simulator::{Fault, Garbage};
use tokio::task::JoinSet;

use crate::support::{
    await_logs, examples, expect_clean_logs, get, live_examples, serve_small_bodies, simulator, start,
};

/// The cause in the log of the first request that failed.
async fn cause_of_failure(cloud: &Cloud) -> String {
    let lines = await_logs(cloud, 1, |line| line["status"] == 500).await;
    lines[0]["cause"].as_str().unwrap().to_owned()
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[tokio::test]
async fn a_response_beyond_lambdas_6_mb_is_an_error_and_the_log_has_its_size() {
    let cloud = start().await;
    get(&cloud, "/v1/profile/leviathan").await.error("INTERNAL_ERROR");
    let cause = cause_of_failure(&cloud).await;
    let sizes = numbers(&cause);
    assert!(sizes.iter().any(|size| *size > 8_000_000), "the size of the response: {cause}");
    assert!(sizes.iter().any(|size| (6_000_000..=6_291_556).contains(size)), "the limit: {cause}");
    // The instance survives.
    let data = get(&cloud, "/v1/profile/Notch").await.data();
    assert_eq!(data["username"].as_str().unwrap().to_lowercase(), "notch");
    expect_clean_logs(&cloud);
    for line in cloud.logs() {
        assert!(
            !line.starts_with("local:"),
            "the failure must come from the function, not from Lambda: {line}"
        );
    }
}

#[tokio::test]
async fn a_large_response_arrives_whole() {
    let cloud = start().await;
    for _ in 0..2 {
        let response = get(&cloud, "/v1/profile/whale").await;
        assert!(response.text.len() > 3_000_000, "{} bytes", response.text.len());
        assert_eq!(response.data()["profiles"].as_array().unwrap().len(), 3);
    }
    let response = get(&cloud, "/v1/bazaar").await;
    assert!(response.text.len() > 2_000_000, "{} bytes", response.text.len());
    response.data();
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_upstream_body_of_more_than_32_mib_is_an_error_on_every_route() {
    let cloud = start().await;
    for example in live_examples() {
        for path in example.upstream {
            simulator(&cloud).set_fault(path, Fault::garbage(Garbage::GzipBomb));
            get(&cloud, example.path).await.error("INTERNAL_ERROR");
            simulator(&cloud).clear_faults();
            let of_route =
                |line: &Value| line["status"] == 500 && line["cause"].as_str().unwrap().contains(path);
            let lines = await_logs(&cloud, 1, of_route).await;
            let cause = lines[0]["cause"].as_str().unwrap();
            assert!(numbers(cause).contains(&33_554_432), "{}: {cause}", example.path);
        }
        get(&cloud, example.path).await.data();
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn flips_are_20_by_default_and_100_at_most() {
    let cloud = start().await;
    let product = |number: u32| {
        let status = serde_json::json!({
            "sellPrice": 50_000.0, "buyPrice": 60_000 + number, "sellVolume": 10_000, "buyVolume": 10_000,
            "sellMovingWeek": 0, "buyMovingWeek": 0, "sellOrders": 1, "buyOrders": 1,
        });
        (format!("FLIP_{number}"), serde_json::json!({ "quick_status": status }))
    };
    let products: serde_json::Map<String, Value> = (0..150).map(product).collect();
    let body = serde_json::json!({"success": true, "lastUpdated": 1, "products": products});
    simulator(&cloud).set_fault("/v2/skyblock/bazaar", Fault::status(200).with_body(body.to_string()));
    for (limit, count) in [("", 20), ("&limit=1", 1), ("&limit=99", 99), ("&limit=100", 100)] {
        let data = get(&cloud, &format!("/v1/bazaar?mode=flips{limit}")).await.data();
        let items = data["items"].as_array().unwrap();
        assert_eq!((&data["count"], items.len()), (&count.into(), count), "{limit}");
        assert_eq!(items[0]["id"], "FLIP_149", "{limit}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_query_of_twelve_hundred_parameters_is_read_to_its_end() {
    let cloud = start().await;
    let padding: Vec<String> = (0..1_200).map(|number| format!("p{number}=x")).collect();
    let padding = padding.join("&");
    assert!(padding.len() > 8_192);
    for example in examples() {
        let separator = if example.path.contains('?') { '&' } else { '?' };
        get(&cloud, &format!("{}{separator}{padding}", example.path)).await.data();
    }
    let data = get(&cloud, &format!("/v1/bazaar?mode=flips&limit=1&{padding}&limit=1")).await.data();
    assert_eq!(data["count"], 1);
    let path = format!("/v1/bazaar?mode=flips&limit=1&{padding}&limit=2");
    let message = get(&cloud, &path).await.error("BAD_REQUEST");
    assert!(message.contains("'limit' must be given once"), "{message}");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn thirty_requests_at_a_time_each_get_their_own_response() {
    let cloud = start().await;
    serve_small_bodies(&cloud);
    // The game's own, because each page has its number.
    simulator(&cloud).set_fault("/v2/skyblock/auctions", Fault::default());
    let (cloud, mut requests) = (Arc::new(cloud), JoinSet::new());
    let whole: Vec<_> = live_examples().filter(|example| example.route.parameters.is_empty()).collect();
    for number in 0..30 {
        let (path, status) = match number % 10 {
            0 => ("/v1/bazaar".to_owned(), 200),
            1 => (format!("/v1/bazaar?mode=flips&limit={}", number + 1), 200),
            2 => (format!("/v1/auctions?page={number}"), 200),
            3 => (format!("/v1/profile/player_{number}"), 200),
            4 => (format!("/v1/bazaar?mode=list&mode=x{number}"), 400),
            5 => (format!("/v1/unknown/{number}"), 404),
            _ => (whole[number % whole.len()].path.to_owned(), 200),
        };
        let cloud = Arc::clone(&cloud);
        requests.spawn(async move { (get(&cloud, &path).await, path, status) });
    }
    let mut count = 0;
    while let Some(request) = requests.join_next().await {
        let (response, path, status) = request.unwrap();
        assert_eq!(response.status, status, "{path}: {:.300}", response.text);
        match (status, path.rsplit_once("page=")) {
            (200, Some((_, page))) => assert_eq!(response.data()["page"].to_string(), page),
            (200, None) if path.starts_with("/v1/profile/") => {
                let name = response.data()["username"].as_str().unwrap().to_lowercase();
                assert_eq!(path, format!("/v1/profile/{name}"));
            }
            (200, None) => drop(response.data()),
            (400, _) => assert!(response.error("BAD_REQUEST").contains(path.rsplit('=').next().unwrap())),
            _ => assert!(response.error("NOT_FOUND").contains(&path)),
        }
        count += 1;
    }
    assert_eq!(count, 30);
    expect_clean_logs(&cloud);
}
