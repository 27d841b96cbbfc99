//! The keys of API Gateway: its control plane, and the usage plans that count by them. The parrot is both
//! authorizer and function (`examples/parrot.rs`).

use std::time::Duration;

use local::{Cloud, Options};
use serde_json::{Value, json};

use crate::support::{Response, options, send, send_json, value_of};

const TEMPLATE: &str = r"
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      ApiKeySourceType: AUTHORIZER
      Auth:
        DefaultAuthorizer: Keys
        ApiKeyRequired: true
        Authorizers:
          Keys:
            FunctionPayloadType: REQUEST
            FunctionArn: !GetAtt ParrotFunction.Arn
            Identity: {Headers: [X-API-Key], ReauthorizeEvery: 60}
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties: {Events: {Get: {Type: Api, Properties: {Method: GET, Path: /v1/parrot}}}}
  StarterPlan:
    Type: AWS::ApiGateway::UsagePlan
    Properties: {Quota: {Limit: 3, Period: MONTH}, Tags: [{Key: tier, Value: starter}]}
  ProPlan:
    Type: AWS::ApiGateway::UsagePlan
    Properties: {Tags: [{Key: tier, Value: pro}]}
";

/// 2026-04-30T12:00:00Z.
const NOON_MS: i64 = 1_777_550_400_000;
const DAY: Duration = Duration::from_hours(24);

async fn start(test: &str) -> Cloud {
    let cloud = Cloud::start(options(test, TEMPLATE)).await.unwrap();
    cloud.clock().stop_at(NOON_MS);
    cloud
}

/// The status of a request with this key.
async fn get(cloud: &Cloud, key: &str) -> u16 {
    let request =
        format!("GET /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\nx-api-key: {key}\r\n\r\n");
    send(&cloud.url(), request.as_bytes()).await.status
}

async fn control(cloud: &Cloud, method: &str, target: &str, body: Value) -> Response {
    send_json(&cloud.lambda_url(), method, target, &body).await
}

async fn create(cloud: &Cloud, name: &str, value: &str) -> Response {
    control(cloud, "POST", "/apikeys", json!({"name": name, "value": value, "enabled": true})).await
}

async fn attach(cloud: &Cloud, plan: &str, id: &str) -> Response {
    let target = format!("/usageplans/{plan}/keys");
    control(cloud, "POST", &target, json!({"keyId": id, "keyType": "API_KEY"})).await
}

async fn usage(cloud: &Cloud, plan: &str, days: (&str, &str), filter: &str) -> Response {
    let (first, last) = days;
    let target = format!("/usageplans/{plan}/usage?startDate={first}&endDate={last}{filter}");
    control(cloud, "GET", &target, Value::Null).await
}

#[track_caller]
fn expect_error(response: &Response, status: u16, error_type: &str) {
    assert_eq!(response.status, status, "{}", response.body);
    let header = format!("x-amzn-errortype: {}\r\n", error_type.to_lowercase());
    assert!(response.head.contains(&header), "{}", response.head);
    assert!(response.json().get("message").is_some_and(Value::is_string), "{}", response.body);
}

#[tokio::test]
async fn a_key_is_created_attached_used_and_deleted() {
    let cloud = start("round-trip").await;
    let value = value_of("pro-1");
    let created = create(&cloud, "local-one", &value).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let expected = json!({
        "id": "pro-100000",
        "name": "local-one",
        "value": value,
        "enabled": true,
        "createdDate": NOON_MS / 1000,
        "lastUpdatedDate": NOON_MS / 1000,
    });
    assert_eq!(created.json(), expected);
    // Neither an unknown key nor one without a plan is accepted.
    assert_eq!((get(&cloud, "pro-2").await, get(&cloud, "pro-1").await), (403, 403));
    let attached = attach(&cloud, "ProPlan", "pro-100000").await;
    assert_eq!(attached.status, 201, "{}", attached.body);
    let expected = json!({"id": "pro-100000", "type": "API_KEY", "value": value, "name": "local-one"});
    assert_eq!(attached.json(), expected);
    assert_eq!(get(&cloud, "pro-1").await, 200);
    let deleted = control(&cloud, "DELETE", "/apikeys/pro-100000", Value::Null).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (202, ""));
    assert_eq!(get(&cloud, "pro-1").await, 403);
    // A key that is not enabled is not accepted.
    let disabled = json!({"name": "local-one", "value": value});
    assert_eq!(control(&cloud, "POST", "/apikeys", disabled).await.json()["enabled"], false);
    assert_eq!(attach(&cloud, "ProPlan", "pro-100000").await.status, 201);
    assert_eq!(get(&cloud, "pro-1").await, 403);
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_control_plane_refuses_requests_with_the_errors_of_aws() {
    let cloud = start("refusals").await;
    let id = cloud.attach_key("pro", &value_of("pro-1")).unwrap();
    expect_error(&create(&cloud, "again", &value_of("pro-1")).await, 409, "ConflictException");
    expect_error(&create(&cloud, "same-id", &value_of("pro-1000000-2")).await, 409, "ConflictException");
    for length in [19, 129] {
        expect_error(&create(&cloud, "length", &"v".repeat(length)).await, 400, "BadRequestException");
    }
    for length in [20, 128] {
        let value = format!("{length:0<length$}");
        assert_eq!(create(&cloud, "length", &value).await.status, 201, "{value}");
    }
    expect_error(&attach(&cloud, "ProPlan", &id).await, 409, "ConflictException");
    expect_error(&attach(&cloud, "StarterPlan", &id).await, 409, "ConflictException");
    expect_error(&attach(&cloud, "NoPlan", &id).await, 404, "NotFoundException");
    expect_error(&attach(&cloud, "ProPlan", "unknown").await, 404, "NotFoundException");
    let days = ("2026-04-30", "2026-05-01");
    expect_error(&usage(&cloud, "NoPlan", days, "").await, 404, "NotFoundException");
    expect_error(&usage(&cloud, "ProPlan", days, "&keyId=unknown").await, 404, "NotFoundException");
    for days in [("2026-04-31", "2026-05-01"), ("2026-05-01", ""), ("2026-05-01", "2026-04-30")] {
        expect_error(&usage(&cloud, "ProPlan", days, "").await, 400, "BadRequestException");
    }
    for (method, target, body, status, error_type) in [
        ("POST", "/apikeys", json!({"name": "without a value"}), 400, "BadRequestException"),
        (
            "POST",
            "/usageplans/ProPlan/keys",
            json!({"keyId": id, "keyType": "KEY"}),
            400,
            "BadRequestException",
        ),
        ("GET", "/apikeys?limit=501", Value::Null, 400, "BadRequestException"),
        ("DELETE", "/apikeys/unknown", Value::Null, 404, "NotFoundException"),
        ("GET", "/usageplans", Value::Null, 404, "NotFoundException"),
    ] {
        expect_error(&control(&cloud, method, target, body).await, status, error_type);
    }
    cloud.shutdown().await;
}

#[tokio::test]
async fn keys_are_found_by_the_beginning_of_their_name_page_by_page() {
    let cloud = start("names").await;
    for (name, key) in [("local-b", "b"), ("other-a", "o"), ("local-a", "a"), ("local-c", "c")] {
        assert_eq!(create(&cloud, name, &value_of(key)).await.status, 201);
    }
    let mut names = Vec::new();
    let mut position = String::new();
    loop {
        let target = format!("/apikeys?name=local-&limit=2{position}");
        let page = control(&cloud, "GET", &target, Value::Null).await.json();
        for key in page["item"].as_array().unwrap() {
            assert_eq!(key.get("value"), None);
            names.push(key["name"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["position"].as_str() else { break };
        position = format!("&position={next}");
    }
    assert_eq!(names, ["local-a", "local-b", "local-c"]);
    let target = "/apikeys?name=local-b&includeValues=true";
    let page = control(&cloud, "GET", target, Value::Null).await.json();
    assert_eq!(page["item"][0]["value"], value_of("b"));
    assert_eq!(page.get("position"), None);
    let page = control(&cloud, "GET", "/apikeys?name=ocal", Value::Null).await.json();
    assert_eq!(page, json!({"item": []}));
    cloud.shutdown().await;
}

#[tokio::test]
async fn requests_are_counted_per_key_plan_and_day() {
    let cloud = start("usage").await;
    // The context of the authorizer names the tier pro. Only the attachment counts.
    let first = cloud.attach_key("starter", &value_of("pro-1")).unwrap();
    let second = cloud.attach_key("starter", &value_of("starter-2")).unwrap();
    let third = cloud.attach_key("pro", &value_of("pro-3")).unwrap();
    for (key, status) in [("pro-1", 200), ("pro-1", 200), ("starter-2", 200), ("pro-3", 200)] {
        assert_eq!(get(&cloud, key).await, status, "{key}");
    }
    cloud.clock().advance(DAY);
    // The quota of May is separate. The last request is refused, so it is not counted.
    for (key, status) in [("pro-1", 200), ("pro-1", 200), ("pro-1", 200), ("pro-1", 429), ("starter-2", 200)]
    {
        assert_eq!(get(&cloud, key).await, status, "{key}");
    }
    let days = ("2026-04-30", "2026-05-02");
    let of_first = usage(&cloud, "StarterPlan", days, &format!("&keyId={first}")).await;
    assert_eq!(of_first.status, 200, "{}", of_first.body);
    let expected = json!({
        "usagePlanId": "StarterPlan",
        "startDate": "2026-04-30",
        "endDate": "2026-05-02",
        "values": {&first: [[2, 1], [3, 0], [0, 0]]},
    });
    assert_eq!(of_first.json(), expected);
    let values = async |plan: &str, days| usage(&cloud, plan, days, "").await.json()["values"].take();
    let expected = json!({&first: [[2, 1], [3, 0], [0, 0]], &second: [[1, 2], [1, 2], [0, 2]]});
    assert_eq!(values("StarterPlan", days).await, expected);
    // Without a quota, the rest is 0.
    assert_eq!(values("ProPlan", days).await, json!({&third: [[1, 0], [0, 0], [0, 0]]}));
    assert_eq!(values("ProPlan", ("2026-05-01", "2026-05-02")).await, json!({}));

    // The same value is a new key after it was deleted.
    let target = format!("/apikeys/{first}");
    assert_eq!(control(&cloud, "DELETE", &target, Value::Null).await.status, 202);
    assert_eq!(cloud.attach_key("starter", &value_of("pro-1")).unwrap(), first);
    assert_eq!(get(&cloud, "pro-1").await, 200);
    let expected = json!({&first: [[1, 2]], &second: [[1, 2]]});
    assert_eq!(values("StarterPlan", ("2026-05-01", "2026-05-01")).await, expected);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_key_works_after_the_delay_since_it_was_attached() {
    let delayed = Options { gateway_key_delay: Duration::from_mins(1), ..options("delay", TEMPLATE) };
    let cloud = Cloud::start(delayed).await.unwrap();
    cloud.clock().stop_at(NOON_MS);
    assert_eq!(create(&cloud, "one", &value_of("pro-1")).await.status, 201);
    cloud.clock().advance(Duration::from_mins(1));
    assert_eq!(attach(&cloud, "ProPlan", "pro-100000").await.status, 201);
    cloud.clock().advance(Duration::from_millis(59_999));
    assert_eq!(get(&cloud, "pro-1").await, 403);
    cloud.clock().advance(Duration::from_millis(1));
    assert_eq!(get(&cloud, "pro-1").await, 200);
    // This key needs no delay.
    cloud.attach_key("pro", &value_of("pro-2")).unwrap();
    assert_eq!(get(&cloud, "pro-2").await, 200);
    cloud.shutdown().await;
}

#[tokio::test]
async fn attaching_a_value_again_keeps_its_id_and_can_change_its_plan() {
    let cloud = start("again").await;
    let value = value_of("pro-1");
    let id = cloud.attach_key("pro", &value).unwrap();
    assert_eq!(cloud.attach_key("pro", &value).unwrap(), id);
    assert_eq!(cloud.attach_key("starter", &value).unwrap(), id);
    let statuses = [get(&cloud, "pro-1").await, get(&cloud, "pro-1").await, get(&cloud, "pro-1").await];
    assert_eq!((statuses, get(&cloud, "pro-1").await), ([200; 3], 429));
    for (tier, value) in [("none", value.as_str()), ("pro", "short")] {
        let message = cloud.attach_key(tier, value).unwrap_err().to_string();
        assert!(message.contains("tier none") || message.contains("20 to 128"), "{message}");
    }
    let page = control(&cloud, "GET", "/apikeys", Value::Null).await.json();
    assert_eq!(page["item"].as_array().unwrap().len(), 1);
    assert_eq!(page["item"][0]["name"], format!("local-{value}"));
    cloud.shutdown().await;
}
