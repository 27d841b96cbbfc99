//! Converts a function's proxy response to HTTP.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Deserialize;

use super::scalar::Scalar;

/// Skips an invalid name or value. They come from the template, and AWS refuses to deploy them.
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
        if is_set_by_the_gateway(&header) {
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

/// Whether the header describes the connection to the client.
fn is_set_by_the_gateway(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "content-length"
            | "date"
            | "keep-alive"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn mapped(payload: &Value) -> Result<Response<Bytes>, String> {
        from_payload(payload.to_string().as_bytes())
    }

    #[test]
    fn only_a_valid_status_is_required() {
        let response = mapped(&json!({"statusCode": 204, "headers": null, "body": null})).unwrap();
        assert_eq!(response.headers()["content-type"], "application/json");
        for payload in [
            json!(null),
            json!("text"),
            json!({}),
            json!({"statusCode": "fine"}),
            json!({"statusCode": 99}),
            json!({"statusCode": 101}),
            json!({"statusCode": 200, "body": {"not": "text"}}),
            json!({"statusCode": 200, "headers": {"a b": "c"}}),
            json!({"statusCode": 200, "headers": {"a": "b\r\nc: d"}}),
        ] {
            assert!(mapped(&payload).is_err(), "{payload}");
        }
        assert!(from_payload(b"{\"statusCode\":200").is_err());
    }
}
