//! The keys of API Gateway: the control plane.

use local::Cloud;
use serde_json::{Value, json};

use crate::support::{Response, options, send_json, value_of};

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

async fn start(test: &str) -> Cloud {
    let cloud = Cloud::start(options(test, TEMPLATE)).await.unwrap();
    cloud.clock().stop_at(NOON_MS);
    cloud
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

#[track_caller]
fn expect_error(response: &Response, status: u16, error_type: &str) {
    assert_eq!(response.status, status, "{}", response.body);
    let header = format!("x-amzn-errortype: {}\r\n", error_type.to_lowercase());
    assert!(response.head.contains(&header), "{}", response.head);
    assert!(response.json().get("message").is_some_and(Value::is_string), "{}", response.body);
}

#[tokio::test]
async fn a_key_is_created_attached_and_deleted() {
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
    let attached = attach(&cloud, "ProPlan", "pro-100000").await;
    assert_eq!(attached.status, 201, "{}", attached.body);
    let expected = json!({"id": "pro-100000", "type": "API_KEY", "value": value, "name": "local-one"});
    assert_eq!(attached.json(), expected);
    let deleted = control(&cloud, "DELETE", "/apikeys/pro-100000", Value::Null).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (202, ""));
    let disabled = json!({"name": "local-one", "value": value});
    assert_eq!(control(&cloud, "POST", "/apikeys", disabled).await.json()["enabled"], false);
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_control_plane_refuses_requests_with_the_errors_of_aws() {
    let cloud = start("refusals").await;
    let id = create(&cloud, "first", &value_of("pro-1")).await.json()["id"].take();
    let id = id.as_str().unwrap();
    assert_eq!(attach(&cloud, "ProPlan", id).await.status, 201);
    expect_error(&create(&cloud, "again", &value_of("pro-1")).await, 409, "ConflictException");
    expect_error(&create(&cloud, "same-id", &value_of("pro-1000000-2")).await, 409, "ConflictException");
    for length in [19, 129] {
        expect_error(&create(&cloud, "length", &"v".repeat(length)).await, 400, "BadRequestException");
    }
    for length in [20, 128] {
        let value = format!("{length:0<length$}");
        assert_eq!(create(&cloud, "length", &value).await.status, 201, "{value}");
    }
    expect_error(&attach(&cloud, "ProPlan", id).await, 409, "ConflictException");
    expect_error(&attach(&cloud, "StarterPlan", id).await, 409, "ConflictException");
    expect_error(&attach(&cloud, "NoPlan", id).await, 404, "NotFoundException");
    expect_error(&attach(&cloud, "ProPlan", "unknown").await, 404, "NotFoundException");
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
        let target = format!("/apikeys?nameQuery=local-&limit=2{position}");
        let page = control(&cloud, "GET", &target, Value::Null).await.json();
        for key in page["item"].as_array().unwrap() {
            assert_eq!(key.get("value"), None);
            names.push(key["name"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["position"].as_str() else { break };
        position = format!("&position={next}");
    }
    assert_eq!(names, ["local-a", "local-b", "local-c"]);
    let target = "/apikeys?nameQuery=local-b&includeValues=true";
    let page = control(&cloud, "GET", target, Value::Null).await.json();
    assert_eq!(page["item"][0]["value"], value_of("b"));
    assert_eq!(page.get("position"), None);
    let page = control(&cloud, "GET", "/apikeys?nameQuery=ocal", Value::Null).await.json();
    assert_eq!(page, json!({"item": []}));
    cloud.shutdown().await;
}
