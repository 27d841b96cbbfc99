//! The embedded `DynamoDB`: tables from the template, data on disk, capacity, and faults on demand.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use local::{Cloud, Consumed, Fault, InvocationError, Options, Refusal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties:
      Timeout: 30
      Environment: {Variables: {TABLE: !Ref Rows, AWS_ENDPOINT_URL_DYNAMODB: ''}}
      Policies: [{Statement: {Effect: Allow, Action: 'dynamodb:*', Resource: !GetAtt Rows.Arn}}]
";

/// A request as an SDK sends it.
fn request(operation: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
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
    let rows = response.json();
    let rows = rows.get("Items").and_then(Value::as_array).unwrap().iter();
    rows.map(|row| row.pointer("/sk/S").and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn functions_find_the_templates_tables() {
    let cloud = Cloud::start(options("tables", TEMPLATE)).await.unwrap();
    let variable = async |name: &str| {
        let event = json!({"say": "variable", "name": name}).to_string();
        serde_json::from_slice::<String>(&cloud.invoke("parrot", event).await.unwrap()).unwrap()
    };
    assert_eq!(variable("TABLE").await, "Rows");
    assert_eq!(variable("AWS_ENDPOINT_URL_DYNAMODB").await, cloud.dynamodb().url());

    assert_eq!(call(&cloud, "BatchWriteItem", &batch(&["1", "2"])).await.status, 200);
    let key = json!({"TableName": "Rows", "Key": {"pk": {"S": "row"}, "sk": {"S": "2"}}});
    assert_eq!(call(&cloud, "GetItem", &key).await.json()["Item"], row("2"));
    assert_eq!(stored(&cloud).await, ["1", "2"]);
    let table = call(&cloud, "DescribeTable", &json!({"TableName": "Rows"})).await.json();
    assert_eq!(table["Table"]["TableStatus"], "ACTIVE");
    cloud.shutdown().await;
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
async fn requests_and_their_consumed_capacity_are_counted() {
    let cloud = Cloud::start(options("counted", TEMPLATE)).await.unwrap();
    call(&cloud, "BatchWriteItem", &batch(&["1", "2", "3"])).await;
    assert_eq!(cloud.dynamodb().consumed(), Consumed { read_units: 0.0, write_units: 3.0 });
    let put = json!({"TableName": "Rows", "Item": row("4"), "ReturnConsumedCapacity": "TOTAL"});
    call(&cloud, "PutItem", &put).await;
    let mut query = json!({
        "TableName": "Rows",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "row"}},
    });
    call(&cloud, "Query", &query).await;
    query["ReturnConsumedCapacity"] = json!("TOTAL");
    call(&cloud, "Query", &query).await;
    assert_eq!(cloud.dynamodb().consumed(), Consumed { read_units: 0.5, write_units: 4.0 });
    let counts =
        ["BatchWriteItem", "PutItem", "Query", "Scan"].map(|operation| cloud.dynamodb().requests(operation));
    assert_eq!(counts, [1, 1, 2, 0]);
    cloud.shutdown().await;
}

#[tokio::test]
async fn tables_in_a_folder_survive_a_restart() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kept").join("data");
    let _ = std::fs::remove_dir_all(&data);
    let kept = || Options { data: Some(data.clone()), ..options("kept", TEMPLATE) };
    let cloud = Cloud::start(kept()).await.unwrap();
    call(&cloud, "BatchWriteItem", &batch(&["1"])).await;
    cloud.shutdown().await;
    let cloud = Cloud::start(kept()).await.unwrap();
    assert_eq!(stored(&cloud).await, ["1"]);
    cloud.shutdown().await;

    let other = TEMPLATE.replace("AttributeName: pk", "AttributeName: id");
    let other = Options { data: Some(data.clone()), ..options("other-key", &other) };
    let file = Options { data: Some(std::env::current_exe().unwrap()), ..options("no-folder", TEMPLATE) };
    for (options, expected) in
        [(other, "the key of its table Rows differs from the template's"), (file, "cannot keep data in ")]
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

#[tokio::test]
async fn errors_have_dynamodbs_format() {
    let cloud = Cloud::start(options("errors", TEMPLATE)).await.unwrap();
    for (fault, status, name) in [
        (Fault::throttled(), 400, "ProvisionedThroughputExceededException"),
        (Fault::refusal(Refusal::Throttling), 400, "ThrottlingException"),
        (Fault::missing_table(), 400, "ResourceNotFoundException"),
        (Fault::refusal(Refusal::InternalServerError), 500, "InternalServerError"),
    ] {
        cloud.dynamodb().set_fault(fault.on("BatchWriteItem").times(1));
        let response = call(&cloud, "BatchWriteItem", &batch(&["1"])).await;
        assert_eq!(response.status, status);
        assert!(
            response.head.contains(&format!("x-amzn-errortype: {}", name.to_lowercase())),
            "{}",
            response.head
        );
        assert!(
            response.json()["__type"].as_str().unwrap().ends_with(&format!("#{name}")),
            "{}",
            response.body
        );
        assert_eq!(stored(&cloud).await, Vec::<String>::new());
    }
    assert_eq!(call(&cloud, "BatchWriteItem", &batch(&["1"])).await.status, 200);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_batch_can_be_processed_in_part() {
    let cloud = Cloud::start(options("unprocessed", TEMPLATE)).await.unwrap();
    cloud.dynamodb().set_fault(Fault::unprocessed_after(2).times(2));
    let response = call(&cloud, "BatchWriteItem", &batch(&["1", "2", "3"])).await.json();
    let rest = json!({"Rows": [{"PutRequest": {"Item": row("3")}}]});
    assert_eq!(response["UnprocessedItems"], rest);
    assert_eq!(response["ConsumedCapacity"][0]["CapacityUnits"], 2.0);
    assert_eq!(stored(&cloud).await, ["1", "2"]);
    let again = call(&cloud, "BatchWriteItem", &json!({"RequestItems": rest})).await.json();
    assert_eq!(again["UnprocessedItems"], json!({}));
    assert_eq!(stored(&cloud).await, ["1", "2", "3"]);

    cloud.dynamodb().set_fault(Fault::unprocessed_after(1));
    let key = |id: &str| json!({"pk": {"S": "row"}, "sk": {"S": id}});
    let get = json!({"RequestItems": {"Rows": {"Keys": [key("1"), key("2")], "ConsistentRead": true}}});
    let response = call(&cloud, "BatchGetItem", &get).await.json();
    assert_eq!(response["Responses"]["Rows"], json!([row("1")]));
    assert_eq!(response["UnprocessedKeys"], json!({"Rows": {"Keys": [key("2")], "ConsistentRead": true}}));

    cloud.dynamodb().clear_faults();
    cloud.dynamodb().set_fault(Fault::unprocessed_after(0));
    let response = call(&cloud, "BatchWriteItem", &batch(&["4"])).await;
    assert!(response.body.contains("ProvisionedThroughputExceededException"), "{}", response.body);
    assert_eq!(stored(&cloud).await, ["1", "2", "3"]);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_request_can_be_delayed_dropped_or_hang() {
    let cloud = Cloud::start(options("slow", TEMPLATE)).await.unwrap();
    let started = Instant::now();
    cloud.dynamodb().set_fault(Fault::delay(Duration::from_millis(300)).on("BatchWriteItem").times(1));
    assert_eq!(call(&cloud, "BatchWriteItem", &batch(&["1"])).await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(300));

    let address = cloud.dynamodb().url().replace("http://", "");
    cloud.dynamodb().set_fault(Fault::close().times(1));
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(&request("BatchWriteItem", &batch(&["2"]))).await.unwrap();
    let mut response = Vec::new();
    // It may look like a reset connection.
    let _ = stream.read_to_end(&mut response).await;
    assert!(response.is_empty(), "{}", String::from_utf8_lossy(&response));

    cloud.dynamodb().set_fault(Fault::hang().on("BatchWriteItem").after(1));
    assert_eq!(call(&cloud, "BatchWriteItem", &batch(&["3"])).await.status, 200);
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(&request("BatchWriteItem", &batch(&["4"]))).await.unwrap();
    let hanging = tokio::time::timeout(Duration::from_millis(300), stream.read_to_end(&mut response)).await;
    assert!(hanging.is_err() && response.is_empty());
    assert_eq!(stored(&cloud).await, ["1", "3"]);
    assert_eq!(cloud.dynamodb().requests("BatchWriteItem"), 4);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_function_is_invoked_by_name_and_killed_while_it_runs() {
    let cloud = Cloud::start(options("killed", TEMPLATE)).await.unwrap();
    let hanging = cloud.invoke("parrot", "{\"say\":\"hang\"}");
    let killing = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cloud.kill("ParrotFunction").await.unwrap();
    };
    let (hanging, ()) = tokio::join!(hanging, killing);
    let Err(InvocationError::Failed { function, reason, payload }) = hanging else { panic!("{hanging:?}") };
    assert_eq!((function.as_str(), reason.as_str()), ("ParrotFunction", "the process was killed"));
    assert!(std::str::from_utf8(&payload).unwrap().contains("Runtime.ExitError"));
    cloud.invoke("ParrotFunction", "{\"say\":\"process\"}").await.unwrap();
    let nobody = cloud.invoke("nobody", "{}").await.unwrap_err();
    assert_eq!(nobody.to_string(), "the template has no function nobody");
    assert!(cloud.kill("nobody").await.is_err());
    cloud.shutdown().await;
}
