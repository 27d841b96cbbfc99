//! Compresses responses as the gateway does: bodies of at least `MinimumCompressionSize` that are not encoded
//! already.
//!
//! Not `tower-http`: the functions share that crate, so its compression features would also be compiled into
//! the functions.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::Response;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};

/// The response as a client with these request headers receives it. `minimum` is the smallest body that is
/// compressed.
pub(super) async fn compress(
    mut response: Response<Bytes>,
    request: &HeaderMap,
    minimum: Option<u64>,
) -> Response<Bytes> {
    let is_large = minimum.is_some_and(|minimum| response.body().len() as u64 >= minimum);
    let is_final = response.body().is_empty() || response.headers().contains_key(CONTENT_ENCODING);
    if !is_large || is_final || !accepts_gzip(request) {
        return response;
    }
    let body = response.body().clone();
    // Compressing megabytes here would block other requests. If compression fails, the body is sent
    // uncompressed.
    let encoded = tokio::task::spawn_blocking(move || gzip(&body)).await;
    if let Ok(Ok(encoded)) = encoded {
        *response.body_mut() = Bytes::from(encoded);
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

pub(crate) fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Whether the client accepts gzip: the weight of gzip is not 0.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| {
        let (coding, quality) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight = quality.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        let name = coding.trim();
        weight.is_some_and(|weight| weight > 0.0) && (name.eq_ignore_ascii_case("gzip") || name == "*")
    })
}
