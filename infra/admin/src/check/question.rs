//! A request, as a client would make it.

use common::auth::ApiKey;
use reqwest::Method;

/// The header that carries a key.
pub(super) const KEY_HEADER: &str = "X-API-Key";

/// A request.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) method: Method,
    /// With the query.
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// What it says in `Accept-Encoding`; nothing: it has no such header.
    pub(super) encoding: Option<&'static str>,
    /// Whether it is counted under the good key.
    pub(super) is_counted: bool,
}

impl Question {
    /// `GET path` without a key.
    pub(super) fn anonymous(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            headers: Vec::new(),
            encoding: Some("gzip"),
            is_counted: false,
        }
    }

    /// `GET path` with a key that may ask.
    pub(super) fn paid(path: impl Into<String>, key: &ApiKey) -> Self {
        Self { is_counted: true, ..Self::anonymous(path).with(KEY_HEADER, key.expose()) }
    }

    /// `GET path` with a key that may not ask.
    pub(super) fn unpaid(path: impl Into<String>, key: &str) -> Self {
        Self::anonymous(path).with(KEY_HEADER, key)
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
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
