//! The cloud on your machine: API Gateway, Lambda, schedules and `DynamoDB` as `template.yaml` describes them, in one
//! process.
//!
//! ```no_run
//! # async fn example() -> Result<(), local::Error> {
//! let cloud = local::Cloud::start(local::Options::for_tests()).await?;
//! println!("curl {}/v1/mayor", cloud.url());
//! cloud.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The gateway ([`Cloud::url`]) matches routes, asks the authorizer, counts against usage plans, replays what its cache has
//! and builds proxy events, the Invoke API ([`Cloud::lambda_url`]) takes
//! events as they are, schedules make events of their own, and all of them go to the functions' own binaries, which speak
//! the Lambda Runtime API and find an embedded `DynamoDB` ([`Cloud::dynamodb`]). Where this differs from AWS, the README
//! beside this crate says so.

mod backfill;
mod build;
mod cloud;
pub mod cost;
mod dynamodb;
mod error;
mod gateway;
mod instance;
mod invoke_api;
mod keys;
mod logs;
mod pool;
mod runtime_api;
mod schedules;
mod server;
pub mod template;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

pub use self::backfill::{Progress, ProgressSink};
pub use self::cloud::{Binaries, Cloud, Options, Upstream};
pub use self::dynamodb::{Consumed, DynamoDb, Fault, Refusal};
pub use self::error::{Error, InvocationError};
pub use self::keys::Keys;
pub use self::logs::Sink;

/// The account that AWS's own examples use.
const ACCOUNT_ID: &str = "123456789012";
const REGION: &str = "eu-central-1";

fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{name}")
}

fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT_ID}:table/{name}")
}

fn json_response(status: StatusCode, body: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
