//! A client of the function `accounts`.

use std::time::Duration;

use aws::{AwsError, Identity, JSON, Request, Service};
use common::upstream::http::ClientError;
use reqwest::Method;
use serde_json::Value;

use crate::REQUEST_ID;
use crate::command::Command;
use crate::response::Reply;

/// All attempts of an invocation have the same request id, so a repeated `issue_key` revokes the key of the
/// earlier attempt.
static LAMBDA: Service = Service {
    title: "Lambda",
    name: "lambda",
    accepts: JSON,
    // Longer than the function's own time limit
    attempt_timeout: Duration::from_secs(70),
    attempts: 4,
    // The function is being updated.
    temporary: &["ResourceConflictException"],
};

/// The error code of an invocation in which the function itself failed.
const FAILED: &str = "Unhandled";

/// Why a command has no reply.
#[derive(Debug, thiserror::Error)]
pub enum InvokeError {
    #[error(transparent)]
    Aws(#[from] AwsError),
    #[error("the reply is not from this version: {0}")]
    OtherVersion(#[from] serde_json::Error),
}

/// The function of a stack or of the local cloud.
#[derive(Debug)]
pub struct Client {
    lambda: aws::Client,
    name: String,
}

impl Client {
    /// Returns a client of the function `name`. Without `endpoint`, requests go to Lambda in the identity's
    /// region. Without `identity`, requests are not signed; only the local cloud accepts such requests.
    pub fn new(name: &str, endpoint: Option<&str>, identity: Option<Identity>) -> Result<Self, ClientError> {
        Ok(Self { lambda: aws::Client::new(&LAMBDA, endpoint, identity)?, name: name.to_owned() })
    }

    /// Returns the reply to the command. `request` is the id that the audit log shows.
    ///
    /// # Errors
    /// If the function cannot be invoked, or fails without a reply.
    pub async fn invoke(&self, command: &Command, request: &str) -> Result<Reply, InvokeError> {
        let mut event = serde_json::to_value(command)?;
        if let Some(fields) = event.as_object_mut() {
            fields.insert(REQUEST_ID.to_owned(), Value::from(request));
        }
        let request = Request {
            operation: "Invoke",
            method: Method::POST,
            path: &["2015-03-31", "functions", &self.name, "invocations"],
            query: &[],
            json: Some(serde_json::to_vec(&event)?),
        };
        let response = self.lambda.send(&request).await?;
        if response.headers.contains_key("x-amz-function-error") {
            let message = String::from_utf8_lossy(&response.body);
            let cause = response.invalid(format!("the function failed: {message}"));
            return Err(AwsError { code: Some(FAILED.to_owned()), ..cause }.into());
        }
        Ok(serde_json::from_slice(&response.into_body()?)?)
    }
}
