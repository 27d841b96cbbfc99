//! A request, as a client of the service sends it.

use common::auth::ApiKey;
use reqwest::Method;

/// The header that carries a key. Unless the request says otherwise, it is sent in lower case.
pub(super) const KEY_HEADER: &str = "x-api-key";
/// What a client sends that understands no other encoding.
pub(super) const GZIP: &str = "gzip";

/// A request.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The path and query.
    pub(super) target: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// The value of `Accept-Encoding`.
    pub(super) encoding: &'static str,
    /// Whether API Gateway counts the request against the limits of the good key.
    pub(super) is_counted: bool,
    /// Whether the names of the headers are sent in title case: `X-Api-Key`.
    pub(super) is_in_title_case: bool,
}

impl Request {
    /// `GET target` without a key.
    pub(super) fn anonymous(target: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            target: target.into(),
            headers: Vec::new(),
            encoding: GZIP,
            is_counted: false,
            is_in_title_case: false,
        }
    }

    /// `GET target` with the good key.
    pub(super) fn authorized(target: impl Into<String>, key: &ApiKey) -> Self {
        Self { is_counted: true, ..Self::with_key(target, key) }
    }

    /// `GET target` with a key that the service must reject.
    pub(super) fn with_key(target: impl Into<String>, key: &ApiKey) -> Self {
        Self::anonymous(target).header(KEY_HEADER, key.expose())
    }

    /// The same with one more header.
    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    pub(super) fn encoding(self, encoding: &'static str) -> Self {
        Self { encoding, ..self }
    }

    pub(super) fn in_title_case(self) -> Self {
        Self { is_in_title_case: true, ..self }
    }
}
