//! Calls DynamoDB directly, without the functions.

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::Cloud;
use serde_json::Value;

/// Sends the operation to `DynamoDB`, and returns the response.
pub(crate) async fn call(cloud: &Cloud, operation: &str, request: &Value) -> Value {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = Request::post(format!("{}/", cloud.dynamodb().url()))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
        .header("x-amz-date", "20260428T150000Z")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=test/20260428/eu-central-1/dynamodb/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=0000",
        )
        .body(Full::from(request.to_string()))
        .unwrap();
    let response = client.request(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(status.is_success(), "{operation}: {}", String::from_utf8_lossy(&body));
    serde_json::from_slice(&body).unwrap()
}
