//! A request, as a client of the service sends it.

use common::auth::ApiKey;
use reqwest::Method;

/// The header that carries a key.
pub(super) const KEY_HEADER: &str = "X-API-Key";

/// A request.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The path and query.
    pub(super) target: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// The value of `Accept-Encoding`; without one, the header is not sent.
    pub(super) encoding: Option<&'static str>,
    /// Whether API Gateway counts the request against the limits of the good key.
    pub(super) is_counted: bool,
}

impl Request {
    /// `GET target` without a key.
    pub(super) fn anonymous(target: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            target: target.into(),
            headers: Vec::new(),
            encoding: Some("gzip"),
            is_counted: false,
        }
    }

    /// `GET target` with the good key.
    pub(super) fn authorized(target: impl Into<String>, key: &ApiKey) -> Self {
        Self { is_counted: true, ..Self::anonymous(target).header(KEY_HEADER, key.expose()) }
    }

    /// `GET target` with a key that the service must reject.
    pub(super) fn unauthorized(target: impl Into<String>, key: &ApiKey) -> Self {
        Self::anonymous(target).header(KEY_HEADER, key.expose())
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    pub(super) fn encoding(self, encoding: Option<&'static str>) -> Self {
        Self { encoding, ..self }
    }
}
