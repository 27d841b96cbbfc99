//! Compresses responses as the gateway does: from `MinimumCompressionSize` on, and never what is already encoded.
//!
//! Not `tower-http`: its compression features would be compiled into the functions too, which share the crate.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::Response;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Deflate,
}

/// The response as a client with these request headers receives it. `minimum` is the smallest body that is compressed.
pub(super) async fn compress(
    mut response: Response<Bytes>,
    request: &HeaderMap,
    minimum: Option<u64>,
) -> Response<Bytes> {
    let is_large = minimum.is_some_and(|minimum| response.body().len() as u64 >= minimum);
    if !is_large || response.body().is_empty() || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let Some(encoding) = accepted(request) else { return response };
    let body = response.body().clone();
    // Compressing megabytes would block other requests. If it fails, the body is sent as it is.
    let encoded = tokio::task::spawn_blocking(move || encoding.encode(&body)).await;
    if let Ok(Ok(encoded)) = encoded {
        *response.body_mut() = Bytes::from(encoded);
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    response
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    fn encode(self, body: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(body)?;
                encoder.finish()
            }
            // HTTP's deflate has zlib's header (RFC 9110).
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(body)?;
                encoder.finish()
            }
        }
    }
}

/// The encoding to use: gzip before deflate, whatever their weights, unless the weight is 0.
fn accepted(headers: &HeaderMap) -> Option<Encoding> {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names: Vec<_> = values
        .flat_map(|value| value.split(','))
        .filter_map(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
            weight.is_some_and(|weight| weight > 0.0).then(|| name.trim().to_ascii_lowercase())
        })
        .collect();
    let is_accepted = |encoding: &Encoding| names.iter().any(|name| name == encoding.name() || name == "*");
    [Encoding::Gzip, Encoding::Deflate].into_iter().find(is_accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (ACCEPT_ENCODING, value.parse().unwrap())).collect()
    }

    #[test]
    fn the_client_chooses_the_encoding() {
        let (gzip, deflate) = (Some(Encoding::Gzip), Some(Encoding::Deflate));
        for (accept, expected) in [
            (&["gzip, deflate, br, zstd"][..], gzip),
            (&["br", "GZIP; q=0.5"], gzip),
            (&["deflate"], deflate),
            (&["gzip;q=0, deflate;q=0.1"], deflate),
            (&["*"], gzip),
            (&[], None),
            (&[""], None),
            (&["br, identity"], None),
            (&["gzip;q=0.000, *;q=0"], None),
        ] {
            assert_eq!(accepted(&headers(accept)), expected, "{accept:?}");
        }
    }

    #[tokio::test]
    async fn a_small_an_unaccepted_and_an_encoded_body_stay_as_they_are() {
        let body = "a body ".repeat(200);
        let compressed = async |accept: &str, minimum, encoding: Option<&str>| {
            let mut response = Response::new(Bytes::from(body.clone()));
            if let Some(encoding) = encoding {
                response.headers_mut().insert(CONTENT_ENCODING, encoding.parse().unwrap());
            }
            compress(response, &headers(&[accept]), minimum).await.body() != body.as_bytes()
        };
        assert!(compressed("gzip", Some(1_400), None).await);
        assert!(!compressed("gzip", Some(1_401), None).await);
        assert!(!compressed("gzip", None, None).await);
        assert!(!compressed("br", Some(0), None).await);
        assert!(!compressed("gzip", Some(0), Some("br")).await);
    }
}
