//! The parts of the embedded `DynamoDB` that tests of functions do not reach: data on disk, refused requests
//! and expiry.

use std::path::PathBuf;
use std::time::Duration;

use local::{Cloud, Options};
use serde_json::{Value, json};

use crate::support::{Response, options, send};

const TEMPLATE: &str = "
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: live}}
  Rows:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}, {AttributeName: sk, AttributeType: S}]
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
  Access:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties:
      Timeout: 30
";

/// A request as an SDK sends it.
fn request(operation: &str, content: &Value) -> Vec<u8> {
    let body = content.to_string();
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-type: application/x-amz-json-1.0\r\n\
         x-amz-target: DynamoDB_20120810.{operation}\r\nx-amz-date: 20260101T000000Z\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date, Signature=0\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

async fn call(cloud: &Cloud, operation: &str, body: &Value) -> Response {
    send(&cloud.dynamodb().url(), &request(operation, body)).await
}

fn row(id: &str) -> Value {
    json!({"pk": {"S": "row"}, "sk": {"S": id}, "prices": {"M": {"A:1": {"L": [{"N": "0.1"}, {"N": "4294967297"}]}}}})
}

fn batch(ids: &[&str]) -> Value {
    let writes: Vec<Value> = ids.iter().map(|id| json!({"PutRequest": {"Item": row(id)}})).collect();
    json!({"RequestItems": {"Rows": writes}, "ReturnConsumedCapacity": "TOTAL"})
}

/// The sort keys of all rows.
async fn stored(cloud: &Cloud) -> Vec<String> {
    let query = json!({
        "TableName": "Rows",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "row"}},
    });
    let response = call(cloud, "Query", &query).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let page = response.json();
    let rows = page.get("Items").and_then(Value::as_array).unwrap().iter();
    rows.map(|row| row.pointer("/sk/S").and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_invalid_request_gets_dynamodbs_error() {
    let cloud = Cloud::start(options("refused", TEMPLATE)).await.unwrap();
    let mut twice = batch(&["1", "1"]);
    for (operation, body, status, named) in [
        ("BatchWriteItem", &twice, 400, "contains duplicates"),
        (
            "BatchWriteItem",
            &json!({"RequestItems": {"Absent": [{"PutRequest": {"Item": row("1")}}]}}),
            400,
            "ResourceNotFound",
        ),
        ("BatchWriteItem", &json!({}), 400, "Exception"),
        ("Nonsense", &json!({}), 400, "UnknownOperationException"),
    ] {
        let response = call(&cloud, operation, body).await;
        assert_eq!(response.status, status, "{}", response.body);
        assert!(response.body.contains(named), "{}", response.body);
    }
    // An unsigned request is refused, although batches bypass the engine's server.
    twice["RequestItems"]["Rows"].as_array_mut().unwrap().pop();
    let unsigned =
        String::from_utf8(request("BatchWriteItem", &twice)).unwrap().replace("authorization", "x-other");
    let response = send(&cloud.dynamodb().url(), unsigned.as_bytes()).await;
    assert_eq!(response.status, 400);
    assert!(response.body.contains("MissingAuthenticationToken"), "{}", response.body);
    assert_eq!(stored(&cloud).await, Vec::<String>::new());
    cloud.shutdown().await;
}

#[tokio::test]
async fn tables_in_a_folder_survive_a_restart_and_belong_to_one_cloud() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kept").join("data");
    let _ = std::fs::remove_dir_all(&data);
    let kept = || Options { data: Some(data.clone()), ..options("kept", TEMPLATE) };
    let cloud = Cloud::start(kept()).await.unwrap();
    call(&cloud, "BatchWriteItem", &batch(&["1"])).await;
    let scan = json!({"TableName": "Access"});
    let mut key = call(&cloud, "Scan", &scan).await.json()["Items"][0].take();
    key["changed"] = json!({"S": "by hand"});
    call(&cloud, "PutItem", &json!({"TableName": "Access", "Item": key})).await;
    let before = (cloud.keys().unwrap().pro.expose().to_owned(), call(&cloud, "Scan", &scan).await.json());
    let message = Cloud::start(kept()).await.err().unwrap().to_string();
    assert!(message.contains("another local cloud uses it") && message.contains("--data"), "{message}");
    cloud.shutdown().await;
    let cloud = Cloud::start(kept()).await.unwrap();
    assert_eq!(stored(&cloud).await, ["1"]);
    let after = (cloud.keys().unwrap().pro.expose().to_owned(), call(&cloud, "Scan", &scan).await.json());
    assert_eq!(after, before);
    cloud.shutdown().await;

    let other = TEMPLATE.replace("AttributeName: pk", "AttributeName: id");
    let other = Options { data: Some(data.clone()), ..options("other-key", &other) };
    let file = Options { data: Some(std::env::current_exe().unwrap()), ..options("no-folder", TEMPLATE) };
    for (options, expected) in
        [(other, "the key of its table Access differs from the template's"), (file, "cannot keep data in ")]
    {
        let message = Cloud::start(options).await.err().unwrap().to_string();
        assert!(
            message.contains(expected) && message.contains("--data") && !message.contains('\n'),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_table_that_dynamodb_refuses_makes_the_template_invalid() {
    let template =
        TEMPLATE.replace("{AttributeName: sk, AttributeType: S}", "{AttributeName: sk, AttributeType: X}");
    let message = Cloud::start(options("wrong-table", &template)).await.err().unwrap().to_string();
    assert!(
        message.contains("the template is invalid at Rows.Properties: ") && !message.contains('\n'),
        "{message}"
    );
}

#[tokio::test]
async fn items_expire_by_the_clouds_clock() {
    let cloud = Cloud::start(options("expiry", TEMPLATE)).await.unwrap();
    let mut item = row("short");
    item["ttl"] = json!({"N": (cloud.clock().now_ms() / 1000 + 60).to_string()});
    call(&cloud, "PutItem", &json!({"TableName": "Rows", "Item": item})).await;
    call(&cloud, "PutItem", &json!({"TableName": "Rows", "Item": row("long")})).await;
    assert_eq!(cloud.dynamodb().expire().await.unwrap(), 0);
    cloud.clock().advance(Duration::from_mins(2));
    assert_eq!(cloud.dynamodb().expire().await.unwrap(), 1);
    assert_eq!(stored(&cloud).await, ["long"]);
    cloud.shutdown().await;
}
