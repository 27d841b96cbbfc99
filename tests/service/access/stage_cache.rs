//! The gateway's cache in front of the functions: no two different questions share an answer, and the same question is
//! answered with the same bytes until the route's time is over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use common::routes::{Location, VERSION_1};
use local::{Cloud, Options};

use crate::support::{
    Answered, examples, expect_clean_logs, get, one_instance_each, simulator, start_with, with_parameters,
};

/// A cloud with a stage cache, and what its access log says.
async fn start() -> (Cloud, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let options = Options {
        access_log: Some(Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()))),
        ..with_parameters(one_instance_each(), &[("GatewayCache", "on")])
    };
    (start_with(options).await, lines)
}

/// Who gave the last answer: a function, or the cache.
fn answered_by(lines: &Mutex<Vec<String>>) -> String {
    lines.lock().unwrap().last().unwrap().rsplit(' ').next().unwrap().to_owned()
}

/// Texts that caches which are built carelessly take for one another, percent-encoded as they are sent.
const TRICKY: [&str; 15] = [
    "Q",
    "q",
    "Q%20",
    "%20Q",
    "Q%2B",
    "Q%26limit%3D1",
    "Q%3Flimit%3D1",
    "Q%3D",
    "Q%3D1",
    "Q%252520",
    "Q%2520",
    "Q%2F",
    "Q%23",
    "Q%0A",
    "Q%00",
];

/// Every value of every parameter of every route that a function refuses, it refuses by its name: so each answer says
/// which question it was for.
#[tokio::test]
async fn no_two_values_of_a_parameter_share_an_answer() {
    let (cloud, lines) = start().await;
    for route in VERSION_1 {
        for parameter in route.parameters {
            let mut seen = BTreeMap::<String, String>::new();
            for value in TRICKY {
                let path = match (parameter.location, route.function, parameter.name) {
                    (Location::Path, ..) => route.path.replace("{username}", value),
                    (Location::Query, "bazaar", "id") => format!("/v1/bazaar?mode=item&id={value}"),
                    (Location::Query, "bazaar", "limit") => format!("/v1/bazaar?mode=flips&limit={value}"),
                    (Location::Query, "bazaar-history", "range") => {
                        format!("{}?item_id=X&range={value}", route.path)
                    }
                    (Location::Query, _, name) => format!("{}?{name}={value}", route.path),
                };
                let first = get(&cloud, &path).await;
                assert_eq!(answered_by(&lines), route.function, "{path}");
                let again = get(&cloud, &path).await;
                assert_eq!(answered_by(&lines), "cache", "{path}");
                expect_same(&again, &first);
                if let Some(other) = seen.insert(first.text.clone(), path.clone()) {
                    // Two legal names of one player, and nothing else, may have the same answer.
                    let same =
                        (value.to_lowercase(), other.rsplit(['=', '/']).next().unwrap().to_lowercase());
                    assert_eq!(same.0, same.1, "{path} and {other}: {}", first.text);
                }
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// Questions that differ in how their parts are put together.
#[tokio::test]
async fn no_two_ways_to_cut_a_query_share_an_answer() {
    let (cloud, lines) = start().await;
    let groups: [&[&str]; 5] = [
        &[
            "/v1/bazaar?mode=item&id=Q",
            "/v1/bazaar?mode=item%26id=Q",
            "/v1/bazaar?mode=item",
            "/v1/bazaar?mode=item&id=Q%26limit%3D2",
            "/v1/bazaar?mode=",
            "/v1/bazaar?mode=flips&limit=0",
            "/v1/bazaar?mode=flips%26limit%3D0",
            "/v1/bazaar?mode=flips&limit=0%26mode%3Dlist",
            "/v1/bazaar?mode=item&id=mode%3Ditem",
            "/v1/bazaar?mode=flips&limit=",
        ],
        &[
            "/v1/bazaar/history?item_id=A&range=x",
            "/v1/bazaar/history?item_id=A%26range=x",
            "/v1/bazaar/history?range=x%26item_id%3DA&item_id=A",
            "/v1/bazaar/history?item_id=A",
            "/v1/bazaar/history?item_id=A&range=1h",
            "/v1/bazaar/history?item_id=A&range=7d",
            "/v1/bazaar/history?item_id=a",
            "/v1/bazaar/history?item_id=",
        ],
        &[
            "/v1/auctions?page=0",
            "/v1/auctions?page=1",
            "/v1/auctions?page=01",
            "/v1/auctions?page=",
            "/v1/auctions?page=5000",
        ],
        &["/v1/mayor/history?limit=0", "/v1/mayor/history?limit=00x", "/v1/mayor/history?limit="],
        &[
            "/v1/fire-sales/history?limit=0",
            "/v1/fire-sales/history?limit=-0",
            "/v1/fire-sales/history?limit=201",
        ],
    ];
    for questions in groups {
        let mut answers = Vec::new();
        for path in questions {
            let answered = get(&cloud, path).await;
            assert_ne!(answered_by(&lines), "cache", "{path} has not been asked before");
            answers.push(answered);
        }
        for (path, first) in questions.iter().zip(&answers) {
            let again = get(&cloud, path).await;
            if first.text.len() <= 1_048_576 {
                assert_eq!(answered_by(&lines), "cache", "{path}");
                expect_same(&again, first);
            }
        }
        // A way of asking for the same thing may have the same words; nothing else has.
        for (position, (path, answered)) in questions.iter().zip(&answers).enumerate() {
            for (other, earlier) in questions.iter().zip(&answers).take(position) {
                let is_equivalent = path.ends_with("page=01") && other.ends_with("page=1");
                assert!(
                    is_equivalent || answered.text != earlier.text,
                    "{path} and {other}: {:.300}",
                    answered.text
                );
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// Of a parameter that is given twice the last value counts, in the key as in the function.
#[tokio::test]
async fn a_parameter_given_twice_is_stored_under_the_value_that_counts() {
    let (cloud, lines) = start().await;
    let poisoned = get(&cloud, "/v1/bazaar?mode=item&id=Q1&id=Q2").await.error("NOT_FOUND");
    assert!(poisoned.contains("'Q2'"), "{poisoned}");
    let first = get(&cloud, "/v1/bazaar?mode=item&id=Q1").await.error("NOT_FOUND");
    assert_eq!(answered_by(&lines), "bazaar");
    assert!(first.contains("'Q1'"), "{first}");
    let last = get(&cloud, "/v1/bazaar?mode=item&id=Q2").await.error("NOT_FOUND");
    assert_eq!(last, poisoned);
}

/// The same bytes and headers, whoever asks.
#[track_caller]
fn expect_same(again: &Answered, first: &Answered) {
    assert_eq!(again.status, first.status);
    assert!(again.text == first.text, "the bodies differ");
    let lasting = |answered: &Answered| {
        let mut headers = answered.headers.clone();
        for of_the_request in ["x-amzn-requestid", "date"] {
            headers.remove(of_the_request);
        }
        headers
    };
    assert_eq!(lasting(again), lasting(first));
}

#[tokio::test]
async fn a_stored_answer_is_the_same_for_the_routes_time_and_not_longer() {
    let (cloud, lines) = start().await;
    for example in examples() {
        let first = get(&cloud, example.path).await;
        assert!(first.data().is_object());
        // Larger ones are not stored.
        let expected = if first.text.len() <= 1_048_576 { "cache" } else { example.route.function };
        for undeclared in ["", "&x=1", "&utm_source=a"] {
            let separator = if example.path.contains('?') { "" } else { "?" };
            let path = format!("{}{separator}{undeclared}", example.path);
            let again = get(&cloud, &path).await;
            assert_eq!(answered_by(&lines), expected, "{path}");
            if expected == "cache" {
                assert!(again.cached(), "{path}");
                expect_same(&again, &first);
            }
        }
        cloud.clock().advance(example.route.cache);
        get(&cloud, example.path).await;
        assert_eq!(answered_by(&lines), example.route.function, "{} after its time", example.path);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_failure_is_never_stored_and_the_next_caller_gets_an_answer() {
    let (cloud, lines) = start().await;
    for example in examples().filter(|example| !example.upstream.is_empty()) {
        for path in example.upstream {
            simulator(&cloud).set_fault(path, simulator::Fault::status(503));
        }
        for _ in 0..2 {
            get(&cloud, example.path).await.error("INTERNAL_ERROR");
            assert_eq!(answered_by(&lines), example.route.function);
        }
        simulator(&cloud).clear_faults();
        assert!(get(&cloud, example.path).await.data().is_object());
        assert_eq!(answered_by(&lines), example.route.function);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn routes_that_are_not_cached_are_asked_each_time() {
    let (cloud, lines) = start().await;
    for path in ["/", "/v1/nowhere"] {
        for _ in 0..2 {
            get(&cloud, path).await;
            assert_eq!(answered_by(&lines), "index", "{path}");
        }
    }
}
