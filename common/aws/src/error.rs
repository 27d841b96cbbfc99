//! Failed requests.

#[derive(Debug, thiserror::Error)]
#[error("{service} failed at {operation}: {cause}")]
pub struct AwsError {
    /// The name of the service in messages.
    pub service: &'static str,
    pub operation: &'static str,
    /// The error code of the service, if the service responded.
    pub code: Option<String>,
    /// The error code and message of the service, or why there was no response.
    pub cause: String,
}

impl AwsError {
    /// Whether the service responded with this error code.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}
