//! Responses of upstreams, and their parsing.

use std::fmt;
use std::sync::Arc;

use lambda_http::http::StatusCode;
use serde::Deserialize;

use super::error::UpstreamError;
use super::secrets::Secrets;
use crate::excerpt::Excerpt;
use crate::json::Object;

/// The maximum number of characters of a cause, which can quote the body.
const LONGEST_CAUSE: usize = 256;

/// A response with an expected status.
#[derive(Debug, Clone)]
pub struct UpstreamResponse {
    /// The path of the request, without the player's name.
    pub path: String,
    pub status: StatusCode,
    /// The body, decompressed.
    pub body: Arc<String>,
    /// The texts that no error may repeat.
    pub(super) secrets: Secrets,
}

impl UpstreamResponse {
    /// Returns a response with status 200 and `body` to a request for `path` without a key.
    #[must_use]
    pub fn new(path: &str, body: String) -> Self {
        let (path, body, secrets) = (path.to_owned(), Arc::new(body), Secrets::default());
        Self { path, status: StatusCode::OK, body, secrets }
    }

    /// Parses the body as `T`, which borrows from it.
    ///
    /// # Errors
    /// [`UpstreamError::Invalid`] if the body is not a JSON object, has another shape, or says `success:
    /// false`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, UpstreamError> {
        let Object(document) = serde_json::from_str(&self.body).map_err(|error| self.invalid(error))?;
        Ok(document)
    }

    /// Returns the error of a body that is invalid because of `cause`.
    #[must_use]
    pub fn invalid(&self, cause: impl fmt::Display) -> UpstreamError {
        let cause = self.excerpt(&cause.to_string());
        let body = self.secrets.beginning_of(&self.body);
        UpstreamError::Invalid { path: self.path.clone(), cause, body }
    }

    /// Returns the beginning of a text about this response, for the log. Only the beginning, because the
    /// parser's messages can quote the whole body.
    pub(super) fn excerpt(&self, text: &str) -> String {
        Excerpt::up_to(LONGEST_CAUSE, &self.masked(text)).to_string()
    }

    /// Returns a text about this response with its secrets masked.
    pub(super) fn masked(&self, text: &str) -> String {
        self.secrets.masked(text)
    }
}

/// `success: true`, which every good body of the provider has. A body with any other value does not parse.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "bool")]
pub struct Success;

impl TryFrom<bool> for Success {
    type Error = &'static str;

    fn try_from(success: bool) -> Result<Self, Self::Error> {
        if success { Ok(Self) } else { Err("it says success: false") }
    }
}

#[cfg(test)]
mod tests {
    use lambda_http::http::header::HeaderValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Body {
        #[serde(rename = "success")]
        _success: Success,
    }

    #[test]
    fn an_error_never_repeats_the_key_and_the_body_keeps_its_letters() {
        let mut response = UpstreamResponse::new("/x", r#"{"success":"kite"}"#.to_owned());
        response.secrets = Secrets::new(Some(HeaderValue::from_static("kite")), None);
        let error = response.parse::<Body>().unwrap_err().to_string();
        assert!(error.contains("[key]") && !error.contains("kite"), "{error}");
        assert!(response.body.contains("kite"));
        let key = "0f8fad5b-d9cb-469f-a165-70867728950e";
        response.secrets = Secrets::new(Some(HeaderValue::from_static(key)), None);
        response.body = Arc::new(format!("{key},").repeat(100));
        assert!(!response.invalid("x").to_string().contains("0f8f"));
    }

    #[test]
    fn an_error_does_not_grow_with_the_body() {
        let response = UpstreamResponse::new("/x", format!("\"{}\"", "x".repeat(100_000)));
        let error = response.parse::<Success>().unwrap_err();
        assert!(error.to_string().len() < 500, "{error}");
    }
}
