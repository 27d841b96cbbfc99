//! Compresses answers for clients that ask for it, as the gateway does: from `MinimumCompressionSize` on, and never what
//! is encoded already.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::Response;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};

/// How a body can be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Deflate,
}

/// The response as it is sent to a client with these headers. `minimum` is the smallest body that is compressed.
pub(super) async fn compress(
    mut response: Response<Bytes>,
    asked: &HeaderMap,
    minimum: Option<u64>,
) -> Response<Bytes> {
    let is_large = minimum.is_some_and(|minimum| response.body().len() as u64 >= minimum);
    if !is_large || response.body().is_empty() || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let Some(encoding) = accepted(asked) else { return response };
    let body = response.body().clone();
    // Megabytes take a while, and other requests need not wait for them. If it fails, the body goes as it is.
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
            // In HTTP it has zlib's frame (RFC 9110).
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(body)?;
                encoder.finish()
            }
        }
    }
}

/// The encoding that the client likes best, if it likes one at least as much as a body that is not encoded.
fn accepted(headers: &HeaderMap) -> Option<Encoding> {
    let (mut gzip, mut deflate, mut identity, mut others) = (None, None, None, None);
    for value in headers.get_all(ACCEPT_ENCODING) {
        for item in value.to_str().unwrap_or_default().split(',') {
            let (name, weight) = weighed(item);
            let place = match name.as_str() {
                "gzip" | "x-gzip" => &mut gzip,
                "deflate" => &mut deflate,
                "identity" => &mut identity,
                "*" => &mut others,
                _ => continue,
            };
            *place = Some(weight);
        }
    }
    let others = others.unwrap_or_default();
    let (gzip, deflate) = (gzip.unwrap_or(others), deflate.unwrap_or(others));
    let (best, weight) = if gzip >= deflate { (Encoding::Gzip, gzip) } else { (Encoding::Deflate, deflate) };
    (weight > 0.0 && weight >= identity.unwrap_or_default()).then_some(best)
}

/// A name in lower case, and how much it is liked: from 0, not at all, to 1. What is no weight is none.
fn weighed(item: &str) -> (String, f32) {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let weight = weight.map_or(1.0, |weight| weight.parse().unwrap_or_default());
    (name, if (0.0..=1.0).contains(&weight) { weight } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::{GzDecoder, ZlibDecoder};

    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (ACCEPT_ENCODING, value.parse().unwrap())).collect()
    }

    #[test]
    fn the_client_says_what_it_likes_best() {
        let (gzip, deflate) = (Some(Encoding::Gzip), Some(Encoding::Deflate));
        for (asked, expected) in [
            (&["gzip"][..], gzip),
            (&["GZIP"], gzip),
            (&["x-gzip"], gzip),
            (&["deflate"], deflate),
            (&["gzip, deflate, br, zstd"], gzip),
            (&["deflate, gzip"], gzip),
            (&["gzip;q=0.5, deflate"], deflate),
            (&["gzip; q=0.5 , deflate;q=0.4"], gzip),
            (&["gzip;q=0.5", "deflate;q=0.8"], deflate),
            (&["*"], gzip),
            (&["*;q=0.1"], gzip),
            (&["gzip;q=0, *"], deflate),
            (&["deflate;q=0.1, *;q=0"], deflate),
            (&["gzip;q=1.000"], gzip),
            (&["gzip;Q=0.5"], gzip),
            (&["identity, gzip"], gzip),
            (&["identity;q=0, *;q=0.5"], gzip),
            (&[], None),
            (&[""], None),
            (&["br"], None),
            (&["identity"], None),
            (&["gzip;q=0"], None),
            (&["gzip;q=0.000, deflate;q=0"], None),
            (&["*;q=0"], None),
            (&["gzip;q=0.5, identity"], None),
            (&["gzip;q=2"], None),
            (&["gzip;q=NaN"], None),
            (&["gzip;q=much"], None),
            (&["notgzip"], None),
        ] {
            assert_eq!(accepted(&headers(asked)), expected, "{asked:?}");
        }
    }

    async fn sent(body: &str, asked: &str, minimum: Option<u64>) -> Response<Bytes> {
        compress(Response::new(Bytes::from(body.to_owned())), &headers(&[asked]), minimum).await
    }

    #[tokio::test]
    async fn a_body_that_is_large_enough_is_encoded() {
        let body = "a body ".repeat(200);
        let response = sent(&body, "gzip", Some(1_400)).await;
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        let mut decoded = String::new();
        GzDecoder::new(&response.body()[..]).read_to_string(&mut decoded).unwrap();
        assert_eq!(decoded, body);

        let response = sent(&body, "deflate", Some(0)).await;
        assert_eq!(response.headers()[CONTENT_ENCODING], "deflate");
        let mut decoded = String::new();
        ZlibDecoder::new(&response.body()[..]).read_to_string(&mut decoded).unwrap();
        assert_eq!(decoded, body);
    }

    #[tokio::test]
    async fn a_body_stays_as_it_is_where_nobody_asks_or_the_template_does_not_say_so() {
        let body = "a body ".repeat(200);
        for (asked, minimum) in [("gzip", Some(1_401)), ("br", Some(0)), ("gzip", None)] {
            let response = sent(&body, asked, minimum).await;
            assert_eq!(response.body(), body.as_bytes());
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
        }
        assert!(!sent("", "gzip", Some(0)).await.headers().contains_key(CONTENT_ENCODING));
    }

    #[tokio::test]
    async fn a_body_is_not_encoded_twice() {
        let mut response = Response::new(Bytes::from_static(b"encoded"));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
        let response = compress(response, &headers(&["gzip"]), Some(0)).await;
        assert_eq!(
            (response.body().as_ref(), &response.headers()[CONTENT_ENCODING]),
            (&b"encoded"[..], &HeaderValue::from_static("br"))
        );
    }
}
