//! Converts a function's proxy response to HTTP.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Deserialize;

use super::request::is_hop_by_hop;
use super::scalar::Scalar;

/// Sets a header from the template. Skips an invalid name or value, which AWS would refuse to deploy.
pub(super) fn set_header(response: &mut Response<Bytes>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        response.headers_mut().insert(name, value);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProxyResponse {
    status_code: u16,
    #[serde(default)]
    headers: Option<BTreeMap<String, Scalar>>,
    #[serde(default)]
    multi_value_headers: Option<BTreeMap<String, Vec<Scalar>>>,
    #[serde(default)]
    body: Option<String>,
    // isBase64Encoded is not read: without binary media types, the gateway passes the text on unchanged.
}

/// The HTTP response that a function's payload describes.
///
/// # Errors
/// A sentence for the log.
pub(super) fn from_payload(payload: &[u8]) -> Result<Response<Bytes>, String> {
    let proxy: ProxyResponse = serde_json::from_slice(payload)
        .map_err(|error| format!("its payload is not a proxy response: {error}"))?;
    let mut response = Response::new(Bytes::from(proxy.body.unwrap_or_default()));
    *response.status_mut() = StatusCode::from_u16(proxy.status_code)
        .ok()
        .filter(|status| (200..=599).contains(&status.as_u16()))
        .ok_or_else(|| format!("its status code is {}", proxy.status_code))?;
    let several = proxy.multi_value_headers.unwrap_or_default().into_iter();
    let single = proxy.headers.unwrap_or_default().into_iter().map(|(name, value)| (name, vec![value]));
    for (name, values) in several.chain(single) {
        let header = HeaderName::try_from(&name).map_err(|_| format!("{name:?} is not a header name"))?;
        // The server sets the length and the date.
        if is_hop_by_hop(&header) || [CONTENT_LENGTH, DATE].contains(&header) {
            continue;
        }
        for value in values {
            let value = HeaderValue::try_from(value.to_string())
                .map_err(|_| format!("the value of its header {name} is invalid"))?;
            // A value in both maps is sent once.
            if !response.headers().get_all(&header).iter().any(|sent| *sent == value) {
                response.headers_mut().append(&header, value);
            }
        }
    }
    response.headers_mut().entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    Ok(response)
}
