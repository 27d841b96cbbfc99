//! The OpenAPI document is true: responses fit their schemas, examples are responses of the service, and a
//! parameter accepts exactly the values that its schema accepts.

use std::time::Duration;

use common::error::INTERNAL_MESSAGE;
use common::routes::{MAYOR, OPENAPI, VERSION_1};
use conformance::{Document, JSON, Operation, parameter_value};
use hyper::Method;
use jiff::{SignedDuration, Timestamp};
use local::{Cloud, Options};
use serde_json::{Value, json};
use simulator::Fault;

use crate::support::{
    KEY_HEADER, Response, deployed_template, expect_clean_logs, get, get_at, invoke, live_examples,
    one_instance_each, record_prices, send, send_with, simulator, start, start_with,
};

/// Values to try for every parameter: bounds, their neighbours, and words.
const VALUES: [&str; 57] = [
    "",
    "0",
    "1",
    "2",
    "20",
    "24",
    "50",
    "100",
    "101",
    "200",
    "201",
    "-1",
    "1.5",
    "4294967295",
    "4294967296",
    "1000000000000",
    "1000000000001",
    "x",
    "full",
    "list",
    "item",
    "flips",
    "items",
    "book",
    "prices",
    "FULL",
    "1h",
    "24h",
    "7d",
    "30d",
    "90d",
    "2h",
    "5m",
    "1d",
    "1000",
    "1001",
    "2026-11-21T15:00:00Z",
    "2026-11-21t15:00:00.5z",
    "2026-11-21T15:00:00-01:30",
    "2026-11-21T15:00:00",
    "2026-11-21T25:00:00Z",
    "2026-02-29T15:00:00Z",
    "2026-11-21",
    "INK_SACK:3",
    "ink_sack",
    "A-B",
    "a_b",
    "a.b",
    "A,B",
    "A,",
    ",",
    "A,,B",
    "A,SIXTY_FIVE_CAPITALS_ARE_LONGER_THAN_THE_ID_OF_AN_ITEM_CAN_BE_HERE_",
    "sixteen_letters_",
    "seventeen_letters",
    "SIXTY_FOUR_CAPITALS_ARE_AS_LONG_AS_THE_ID_OF_AN_ITEM_CAN_BE_HERE",
    "SIXTY_FIVE_CAPITALS_ARE_LONGER_THAN_THE_ID_OF_AN_ITEM_CAN_BE_HERE_",
];

async fn served_document(cloud: &Cloud) -> Document {
    Document::new(send(&cloud.url(), Method::GET, OPENAPI.path).await.json())
}

/// Panics unless the response to a request to `path` fits its schema.
#[track_caller]
fn expect_conforming(document: &Document, path: &str, response: &Response) {
    let operation = document.operation(path).unwrap();
    operation
        .check_response(response.status.as_u16(), &response.headers, &response.text)
        .unwrap_or_else(|mismatch| panic!("{path}: {mismatch}"));
}

#[track_caller]
fn expect_fit(document: &Document, schema: &Value, value: &Value, what: &str) {
    document.check_value(schema, value).unwrap_or_else(|mismatch| panic!("{what}: {mismatch}"));
}

/// The examples of `operation` with this status that are not shortened: the requests and the bodies of their
/// responses.
fn complete_examples(operation: &Operation<'_>, status: u16) -> Vec<(String, Value)> {
    let examples = operation.examples(status).filter(|example| !example.is_shortened);
    examples.map(|example| (example.request.to_owned(), example.body.clone())).collect()
}

#[track_caller]
fn example_data(document: &Document, request: &str) -> Value {
    let mut examples = document.operations().flat_map(|operation| complete_examples(&operation, 200));
    let (_, mut body) =
        examples.find(|(known, _)| known == request).unwrap_or_else(|| panic!("no example {request}"));
    body["data"].take()
}

#[tokio::test]
async fn the_document_of_the_repository_is_served_without_a_key_and_without_white_space() {
    let cloud = start().await;
    let answered = send(&cloud.url(), Method::GET, "/openapi.json").await;
    assert_eq!(answered.status, 200);
    assert_eq!(answered.headers["content-type"], JSON);
    assert_eq!(answered.headers["access-control-allow-origin"], "*");
    let file = Options::default().template.with_file_name("functions/index/openapi.json");
    let checked_in: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let without_white_space = checked_in.to_string();
    assert!(answered.text == without_white_space, "the served document differs");
    let document = served_document(&cloud).await;
    expect_conforming(&document, OPENAPI.path, &answered);
    expect_conforming(&document, "/", &send(&cloud.url(), Method::GET, "/").await);
    for method in [Method::POST, Method::DELETE] {
        let refused = send(&cloud.url(), method, "/openapi.json").await;
        refused.error("NOT_FOUND");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn every_example_fits_its_schema() {
    let cloud = start().await;
    let document = served_document(&cloud).await;
    let components = &document.value()["components"];
    let mut count = 0;
    for (name, schema) in components["schemas"].as_object().unwrap() {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        for example in schema["examples"].as_array().into_iter().flatten() {
            expect_fit(&document, &reference, example, name);
        }
        for (field, schema) in schema["properties"].as_object().unwrap() {
            for example in schema["examples"].as_array().into_iter().flatten() {
                expect_fit(&document, schema, example, &format!("{name}.{field}"));
                count += 1;
            }
        }
    }
    for header in components["headers"].as_object().unwrap().values() {
        expect_fit(&document, &header["schema"], &header["example"], "a header");
    }
    for operation in document.operations() {
        let path = operation.path();
        for (status, response) in operation.responses() {
            let content = &response["content"][JSON];
            for example in content["examples"].as_object().unwrap().values() {
                expect_fit(&document, &content["schema"], &example["value"], &format!("{path} {status}"));
                count += 1;
            }
        }
        for parameter in operation.parameters() {
            for example in parameter["examples"].as_object().unwrap().values() {
                expect_fit(&document, &parameter["schema"], &example["value"], &parameter.to_string());
                count += 1;
            }
        }
    }
    assert!(count > 150, "{count} examples");
    // Undescribed fields must not fit; otherwise, these tests would accept any response.
    for operation in document.operations().filter(|operation| operation.path() != OPENAPI.path) {
        let validator =
            document.validator(&operation.response(200).unwrap()["content"][JSON]["schema"]).unwrap();
        for (request, body) in complete_examples(&operation, 200) {
            for place in ["", "/data", "/meta"] {
                let mut with_more = body.clone();
                with_more.pointer_mut(place).unwrap()["undescribed"] = true.into();
                assert!(!validator.is_valid(&with_more), "{request}: {place}");
            }
        }
    }
}

/// Requests of kinds that the examples lack. Before each request is the path of its route.
const MORE: [(&str, &str); 25] = [
    ("/v1/mayor/history", "/v1/mayor/history?limit=100"),
    ("/v1/fire-sales/history", "/v1/fire-sales/history?limit=200"),
    ("/v1/bazaar", "/v1/bazaar"),
    ("/v1/bazaar", "/v1/bazaar?mode=flips&limit=100"),
    ("/v1/bazaar", "/v1/bazaar?mode=flips&limit=1"),
    ("/v1/bazaar", "/v1/bazaar?mode=items&ids=NOTHING"),
    ("/v1/bazaar", "/v1/bazaar?mode=items&ids=X,Y,Z,X,INK_SACK:3"),
    ("/v1/bazaar", "/v1/bazaar?mode=book&id=X"),
    ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=24h"),
    ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=7d"),
    ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=30d"),
    ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=90d"),
    ("/v1/bazaar/history", "/v1/bazaar/history?item_id=NEVER_RECORDED"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=5m"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=30m&limit=1000"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=INK_SACK:3"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=3h"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=1d"),
    ("/v1/bazaar/candles", "/v1/bazaar/candles?item_id=NEVER_RECORDED"),
    (
        "/v1/bazaar/candles/all",
        "/v1/bazaar/candles/all?interval=1d&opened_at=2026-01-01T00:00:00Z&format=csv",
    ),
    ("/v1/auctions", "/v1/auctions?page=1"),
    ("/v1/auctions/prices", "/v1/auctions/prices"),
    ("/v1/auctions/prices", "/v1/auctions/prices?ids=NEVER_LISTED"),
    ("/v1/profile/{username}", "/v1/profile/NeverPlayed"),
    ("/v1/profile/{username}", "/v1/profile/player_7"),
];

/// Sends the example requests, and the requests in [`MORE`].
#[tokio::test]
async fn every_response_fits_its_schema() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    // The history shows a mayor only after the end of the term, so the clock advances after the mayor is
    // recorded.
    let recorded = async |recorder: &str, path: &str| {
        let time = Timestamp::from_second(cloud.clock().now_ms() / 1_000).unwrap();
        let invoked =
            invoke(&cloud, recorder, json!({"time": time.to_string(), "backfill": true}).to_string()).await;
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{path}: {}", invoked.text);
    };
    recorded("record-mayor", "/v1/mayor/history").await;
    cloud.clock().advance(Duration::from_hours(6 * 24));
    // Three minutes after noon, when an interval of every length except a day starts.
    let day_ms = 24 * 60 * 60 * 1_000;
    cloud.clock().set((cloud.clock().now_ms() / day_ms + 1) * day_ms + day_ms / 2 + 3 * 60_000);
    provide_a_sale(&cloud, &document);
    recorded("record-fire-sales", "/v1/fire-sales/history").await;
    recorded("record-bazaar", "/v1/bazaar/history").await;
    // Candles are built two minutes after their interval ends.
    cloud.clock().advance(Duration::from_mins(8));
    recorded("record-candles", "/v1/bazaar/candles").await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let mut requests: Vec<(String, String)> = Vec::new();
    for operation in document.operations() {
        let examples = complete_examples(&operation, 200).into_iter();
        requests.extend(examples.map(|(request, _)| (operation.path().to_owned(), request)));
    }
    assert_eq!(requests.len(), VERSION_1.len() + 1 + 7, "examples of each route and mode");
    requests.extend(MORE.map(|(path, request)| (path.to_owned(), request.to_owned())));
    for (path, request) in requests {
        let answered = get(&cloud, &request).await;
        assert_eq!(answered.status, 200, "{request}: {}", answered.text);
        // Examples with `before` ask for a time before the recorded data.
        if path.ends_with("/history") && !request.contains("NEVER") && !request.contains("before") {
            assert_ne!(answered.data()["history"], json!([]), "{request}");
        }
        if path.ends_with("/candles") && !request.contains("NEVER") && !request.contains("before") {
            let data = answered.data();
            assert_eq!(data["count"], 1, "{request}");
            // Only the 5-minute interval has ended.
            assert_eq!(data["candles"][0]["complete"], data["interval"] == "5m", "{request}");
        }
        expect_conforming(&document, &path, &answered);
    }
    // The smallest response about elections that the provider may send.
    let bare = json!({"success": true, "mayor": {"name": "Jerry", "key": "jerry", "perks": []}});
    simulator(&cloud)
        .set_fault("/v2/resources/skyblock/election", Fault::status(200).with_body(bare.to_string()));
    cloud.clock().advance(Duration::from_mins(6));
    let answered = get(&cloud, "/v1/mayor").await;
    assert_eq!(answered.data()["current"], json!({}));
    expect_conforming(&document, "/v1/mayor", &answered);
    expect_clean_logs(&cloud);
}

/// Makes the provider serve the example's fire sale, because the simulator often has none.
fn provide_a_sale(cloud: &Cloud, document: &Document) {
    let sales = provided(example_data(document, "/v1/fire-sales"));
    simulator(cloud).set_fault("/v2/skyblock/firesales", Fault::status(200).with_body(sales));
}

/// The provider's body from which an example response follows.
fn provided(mut data: Value) -> String {
    data["success"] = true.into();
    data.to_string()
}

#[tokio::test]
async fn every_example_response_follows_from_its_upstream_response() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    let provide =
        |path: &str, body: String| simulator(&cloud).set_fault(path, Fault::status(200).with_body(body));

    let mut elections = example_data(&document, "/v1/mayor");
    let won = elections["election"].take();
    let mut mayor = elections["mayor"].take();
    mayor["election"] = won;
    provide(
        "/v2/resources/skyblock/election",
        provided(json!({"mayor": mayor, "current": elections["current"]})),
    );
    // These examples have the shape of the provider's body.
    for example in live_examples() {
        if example.route.parameters.is_empty() && example.route.path != MAYOR.path {
            provide(&example.upstream[0], provided(example_data(&document, example.path)));
        }
    }
    provide("/v2/resources/skyblock/items", provided(example_data(&document, "/v1/items?mode=full")));
    provide("/v2/skyblock/bazaar", provided(example_data(&document, "/v1/bazaar?mode=full")));
    provide("/v2/skyblock/auctions", provided(example_data(&document, "/v1/auctions?page=0")));
    let player = example_data(&document, "/v1/profile/Notch");
    let named = json!({"id": player["uuid"], "name": player["username"]});
    provide("/users/profiles/minecraft/Notch", named.to_string());
    provide("/v2/skyblock/profiles", provided(json!({"profiles": player["profiles"]})));
    for example in live_examples() {
        let operation = document.operation(example.route.path).unwrap();
        let complete = complete_examples(&operation, 200);
        assert!(!complete.is_empty(), "{}", example.route.path);
        for (request, body) in complete {
            let response = get(&cloud, &request).await;
            assert_eq!(response.status, 200, "{request}: this test must provide the upstream's body");
            assert_eq!(response.data(), body["data"], "{request}");
        }
    }

    let index = get(&cloud, "/").await.data();
    let example = example_data(&document, "/");
    for endpoint in example["endpoints"].as_array().unwrap() {
        assert!(index["endpoints"].as_array().unwrap().contains(endpoint), "{endpoint}");
    }
    for field in ["name", "api_version", "documentation", "examples", "bazaar_columns", "auctions_columns"] {
        assert_eq!(index[field], example[field], "{field}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn every_example_of_history_follows_from_recorded_ticks() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    let record = async |recorder: &str, path: &str, body: Value, time: &str| {
        simulator(&cloud).set_fault(path, Fault::status(200).with_body(provided(body)));
        let invoked = invoke(&cloud, recorder, json!({"time": time, "backfill": true}).to_string()).await;
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{recorder}: {}", invoked.text);
    };
    let moment = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    let answered = async |request: &str, after: &str| {
        let time: Timestamp = after.parse().unwrap();
        get_at(&cloud, request, time.as_millisecond() + 1_000).await.data()
    };

    let request = "/v1/mayor/history?limit=1&before=2026-10-10T07:15:00Z";
    let expected = example_data(&document, request);
    let entry = &expected["history"][0];
    let year = election_year(&moment(entry, "started_at"));
    let election = json!({"year": year, "candidates": []});
    let mayor =
        json!({"name": entry["name"], "key": entry["key"], "perks": entry["perks"], "election": election});
    let begun = moment(entry, "started_at");
    record("record-mayor", "/v2/resources/skyblock/election", json!({"mayor": mayor}), &begun).await;
    assert_eq!(answered(request, &moment(entry, "ended_at")).await, expected);

    let request = "/v1/fire-sales/history?limit=1&before=2026-11-14T00:00:00Z";
    let expected = example_data(&document, request);
    let seen = moment(&expected["history"][0], "recorded_at");
    record("record-fire-sales", "/v2/skyblock/firesales", example_data(&document, "/v1/fire-sales"), &seen)
        .await;
    assert_eq!(answered(request, &seen).await, expected);

    let request = "/v1/bazaar/history?item_id=INK_SACK:3&range=1h";
    let expected = example_data(&document, request);
    let point = &expected["history"][0];
    let recorded = moment(point, "recorded_at");
    let status = json!({
        "sellPrice": point["sell_price"], "buyPrice": point["buy_price"],
        "sellVolume": point["sell_volume"], "buyVolume": point["buy_volume"],
        "sellMovingWeek": 1, "buyMovingWeek": 1,
    });
    let market = json!({"lastUpdated": 1, "products": {"INK_SACK:3": {"quick_status": status}}});
    record("record-bazaar", "/v2/skyblock/bazaar", market, &recorded).await;
    assert_eq!(answered(request, &recorded).await, expected);
    expect_clean_logs(&cloud);
}

/// Records only minutes of the example's interval.
#[tokio::test]
async fn the_example_of_candles_follows_from_recorded_minutes() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    let operation = document.operation("/v1/bazaar/candles").unwrap();
    let [(request, mut body)] = <[_; 1]>::try_from(complete_examples(&operation, 200)).unwrap();
    let expected = body["data"].take();
    let candle = &expected["candles"][0];
    let opened_at: Timestamp = candle["opened_at"].as_str().unwrap().parse().unwrap();
    let invoke_at = async |recorder: &str, minutes: i64| {
        let time = opened_at + SignedDuration::from_mins(minutes);
        let event = json!({"time": time.to_string(), "backfill": true}).to_string();
        let invoked = invoke(&cloud, recorder, event).await;
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{recorder}: {}", invoked.text);
    };
    // The first three minutes have the candle's open, high and low prices. All later minutes have its close.
    let last = candle["samples"].as_i64().unwrap() - 1;
    assert!(last >= 3, "{candle}");
    for minute in 0..=last {
        let which = match minute {
            0 => "open",
            1 => "high",
            2 => "low",
            _ => "close",
        };
        let is_last = minute == last;
        let price = |side: &str| &candle[format!("{side}_{which}")];
        let count = |field: &str| if is_last { candle[field].clone() } else { json!(7) };
        // The first minute has no orders, because best orders have no open.
        let orders = |side: &str| match candle.get(format!("{side}_{which}")) {
            Some(price) => json!([{"pricePerUnit": price, "amount": 1, "orders": 1}]),
            None => json!([]),
        };
        let status = json!({
            "sellPrice": price("sell"), "buyPrice": price("buy"),
            "sellVolume": count("sell_volume"), "buyVolume": count("buy_volume"),
            "sellMovingWeek": count("sell_moving_week"), "buyMovingWeek": count("buy_moving_week"),
        });
        let product = json!({
            "sell_summary": orders("buy_order"), "buy_summary": orders("sell_offer"), "quick_status": status,
        });
        let market = json!({"lastUpdated": 1, "products": {"INK_SACK:3": product}});
        simulator(&cloud).set_fault("/v2/skyblock/bazaar", Fault::status(200).with_body(provided(market)));
        invoke_at("record-bazaar", minute).await;
    }
    invoke_at("record-candles", 7).await;
    let now_ms = opened_at.as_millisecond() + 7 * 60_000;
    assert_eq!(get_at(&cloud, &request, now_ms).await.data(), expected);
    expect_clean_logs(&cloud);
}

/// The year of the election that was won at this time.
fn election_year(won_at: &str) -> i64 {
    simulator::election::seated_year(won_at.parse::<Timestamp>().unwrap().as_millisecond())
}

#[tokio::test]
async fn every_example_of_an_error_is_what_the_service_responds() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    let mut asked = 0;
    for operation in document.operations() {
        for status in [400, 404] {
            for (request, body) in complete_examples(&operation, status) {
                let answered = get(&cloud, &request).await;
                assert_eq!(answered.status, status, "{request}");
                assert_eq!(answered.json(), body, "{request}");
                expect_conforming(&document, operation.path(), &answered);
                asked += 1;
            }
        }
    }
    assert!(asked >= 17, "{asked} errors");

    let mayor = document.operation("/v1/mayor").unwrap();
    let messages = |status: u16| -> Vec<Value> {
        let examples = mayor.response(status).unwrap()["content"][JSON]["examples"].as_object().unwrap();
        examples.values().map(|example| example["value"].clone()).collect()
    };
    let keys = cloud.keys().unwrap();
    let lapsed = [(KEY_HEADER, keys.lapsed.expose())];
    simulator(&cloud).set_fault("/v2/resources/skyblock/election", Fault::status(500));
    let answers = [
        send(&cloud.url(), Method::GET, "/v1/mayor").await,
        send_with(&cloud.url(), Method::GET, "/v1/mayor", &lapsed).await,
        get(&cloud, "/v1/mayor").await,
    ];
    for (answered, status) in answers.iter().zip([401, 403, 500]) {
        assert_eq!(answered.status, status, "{}", answered.text);
        assert!(messages(status).contains(&answered.json()), "not in the document: {}", answered.text);
        expect_conforming(&document, "/v1/mayor", answered);
    }

    // The gateway's messages are in the template, word for word.
    let template = deployed_template();
    for status in [401, 403, 429, 500] {
        let retry_after = mayor.response(status).unwrap()["headers"].get("Retry-After").is_some();
        for body in messages(status).into_iter().filter(|body| body["error"]["message"] != INTERNAL_MESSAGE) {
            let mut responses = template.api.gateway_responses.values();
            let found = responses.find(|response| {
                let text = response.body.as_deref().unwrap_or_default();
                response.status == Some(status)
                    && serde_json::from_str::<Value>(text).is_ok_and(|said| said == body)
            });
            let said = found.unwrap_or_else(|| panic!("no gateway response is {body}"));
            assert_eq!(said.headers.contains_key("Retry-After"), retry_after, "{body}");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_document_states_the_limits_that_are_deployed() {
    let cloud = start().await;
    let document = served_document(&cloud).await;
    let introduction = document.value()["info"]["description"].as_str().unwrap();
    let template = deployed_template();
    assert_eq!(template.usage_plans.len(), 2);
    for plan in &template.usage_plans {
        let throttle = plan.throttle.unwrap();
        let sentence = format!(
            "`{}` allows {} requests per second, {} at once after a pause, and {} in a calendar month (UTC)",
            plan.tier,
            throttle.rate,
            throttle.burst,
            plan.monthly_quota.unwrap()
        );
        assert!(introduction.contains(&sentence), "{sentence}");
        let of_profiles = plan.method_throttles["/v1/profile/{username}/GET"];
        assert_eq!((of_profiles.rate, of_profiles.burst), (1.0, 10), "the document states these limits");
    }
}

#[tokio::test]
async fn a_parameter_accepts_exactly_what_its_schema_accepts() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let mut parameters = 0;
    for operation in document.operations() {
        let path = operation.path();
        for parameter in operation.parameters() {
            parameters += 1;
            let name = parameter["name"].as_str().unwrap();
            let validator = document.validator(&parameter["schema"]).unwrap();
            // A value's validity may depend on another parameter, which differs between the examples.
            let examples: Vec<_> = operation.examples(200).map(|example| example.request).collect();
            for value in VALUES.into_iter().filter(|value| !(value.is_empty() && parameter["in"] == "path")) {
                let mut is_taken = false;
                for request in examples.iter().filter_map(|request| with(request, path, name, value)) {
                    let answered = get(&cloud, &request).await;
                    is_taken |= answered.status != 400;
                    if answered.status == 400 && !value.is_empty() {
                        let message = answered.error("BAD_REQUEST");
                        // Another mode can require a parameter that is not in the example.
                        let is_told = message.starts_with(&format!("Parameter '{name}' must be "));
                        assert!(is_told || message.contains(" is required with "), "{request}: {message}");
                    }
                }
                let is_valid = validator.is_valid(&parameter_value(value, &parameter["schema"]));
                // A schema cannot express at which times an interval starts.
                let expected = if name == "opened_at" { is_valid && is_taken } else { is_valid };
                assert_eq!(is_taken, expected, "{path}: {name} {value:?}");
            }
        }
    }
    assert_eq!(parameters, VERSION_1.iter().map(|route| route.parameters.len()).sum::<usize>());
    expect_clean_logs(&cloud);
}

/// The request with another value of the parameter. `None` if the request does not have the parameter.
fn with(request: &str, path: &str, name: &str, value: &str) -> Option<String> {
    if let Some((before, _)) = path.split_once(&format!("{{{name}}}")) {
        return Some(format!("{before}{value}"));
    }
    let (path, query) = request.split_once('?')?;
    let mut pairs: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    pairs.iter_mut().find(|(known, _)| *known == name)?.1 = value;
    let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Some(format!("{path}?{}", query.join("&")))
}

#[tokio::test]
async fn the_default_in_the_schema_is_the_default() {
    let cloud = start_with(one_instance_each()).await;
    let document = served_document(&cloud).await;
    for (with, without) in [
        ("/v1/bazaar?mode=flips&limit=", "/v1/bazaar?mode=flips"),
        ("/v1/bazaar?mode=flips&min_price=", "/v1/bazaar?mode=flips"),
        ("/v1/bazaar?mode=flips&min_volume=", "/v1/bazaar?mode=flips"),
        ("/v1/bazaar?mode=", "/v1/bazaar"),
        ("/v1/auctions?page=", "/v1/auctions"),
        ("/v1/bazaar/history?item_id=INK_SACK:3&range=", "/v1/bazaar/history?item_id=INK_SACK:3"),
        ("/v1/bazaar/candles?item_id=INK_SACK:3&interval=", "/v1/bazaar/candles?item_id=INK_SACK:3"),
        ("/v1/bazaar/candles?item_id=INK_SACK:3&limit=", "/v1/bazaar/candles?item_id=INK_SACK:3"),
    ] {
        let (path, _) = with.split_once('?').unwrap();
        let name = with.trim_end_matches('=').rsplit(['?', '&']).next().unwrap();
        let parameters = document.value()["paths"][path]["get"]["parameters"].as_array().unwrap();
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        let stated = &parameter["schema"]["default"];
        let default = stated.as_str().map_or_else(|| stated.to_string(), str::to_owned);
        let mut same = false;
        // The upstream may refresh between two requests.
        for _ in 0..5 {
            let said = get(&cloud, &format!("{with}{default}")).await.data();
            same |= said == get(&cloud, without).await.data();
        }
        assert!(same, "{without}: the default is not {default}");
    }
    expect_clean_logs(&cloud);
}
