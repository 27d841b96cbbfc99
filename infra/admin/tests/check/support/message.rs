//! Requests and responses on their way through the proxy.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::Value;

/// A request on its way to the cloud.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    /// How the header with the key is spelled, in the first request of a connection.
    pub(crate) spelling: Option<String>,
}

/// A response on its way from the cloud.
#[derive(Clone)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.headers.get("x-api-key").map(|key| key.to_str().unwrap())
    }
}

impl Response {
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }

    /// Replaces the response.
    pub(crate) fn replace(&mut self, status: u16, media_type: &str, body: &str) {
        self.status = StatusCode::from_u16(status).unwrap();
        self.headers.remove(CONTENT_ENCODING);
        self.set("content-type", media_type);
        self.body = body.as_bytes().to_vec();
    }

    /// Changes the decoded body.
    pub(crate) fn edit_text(&mut self, edit: impl FnOnce(String) -> String) {
        let is_gzip = self.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
        if !is_gzip {
            self.body = edit(String::from_utf8(std::mem::take(&mut self.body)).unwrap()).into_bytes();
            return;
        }
        let mut text = String::new();
        GzDecoder::new(self.body.as_slice()).read_to_string(&mut text).unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(edit(text).as_bytes()).unwrap();
        self.body = encoder.finish().unwrap();
    }

    /// Changes the body, if it is JSON.
    pub(crate) fn edit_json(&mut self, edit: impl FnOnce(&mut Value)) {
        self.edit_text(|text| match serde_json::from_str(&text) {
            Ok(mut body) => {
                edit(&mut body);
                body.to_string()
            }
            Err(_) => text,
        });
    }
}
