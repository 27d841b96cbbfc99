//! Reads and decompresses response bodies, with a limit on their size.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use lambda_http::http::header::{self, HeaderMap, HeaderValue};

use super::error::UpstreamError;
use crate::error::chain;

/// How many bytes a body may have, compressed and decompressed.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// Reads the body as it arrives.
pub(super) async fn read(path: &str, mut response: reqwest::Response) -> Result<Vec<u8>, UpstreamError> {
    let unreadable = |cause: String| UpstreamError::Unreadable { path: path.to_owned(), cause };
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut compressed = Vec::with_capacity(announced.min(LARGEST_BODY));
    loop {
        let chunk = response.chunk().await.map_err(|error| unreadable(chain(&error.without_url())))?;
        let Some(chunk) = chunk else { return Ok(compressed) };
        if compressed.len() + chunk.len() > LARGEST_BODY {
            return Err(unreadable(format!("it has more than {LARGEST_BODY} bytes")));
        }
        compressed.extend_from_slice(&chunk);
    }
}

/// Decompresses the body if it is compressed, and returns its text.
pub(super) fn decompress(
    path: &str,
    headers: &HeaderMap,
    compressed: Vec<u8>,
) -> Result<String, UpstreamError> {
    let unreadable = |cause: String| UpstreamError::Unreadable { path: path.to_owned(), cause };
    let plain = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => compressed,
        Some(b"gzip") => inflate(&compressed).map_err(|error| unreadable(error.to_string()))?,
        Some(other) => {
            return Err(unreadable(format!("unknown encoding {}", String::from_utf8_lossy(other))));
        }
    };
    if plain.len() > LARGEST_BODY {
        return Err(unreadable(format!("it decompresses to more than {LARGEST_BODY} bytes")));
    }
    String::from_utf8(plain).map_err(|error| unreadable(error.to_string()))
}

/// Decompresses at most one byte more than the limit, so that the caller can tell.
fn inflate(compressed: &[u8]) -> std::io::Result<Vec<u8>> {
    // The last four bytes give the length, if the body is one gzip member and not malicious.
    let announced = compressed.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
    let mut plain = Vec::with_capacity(announced.min(LARGEST_BODY));
    MultiGzDecoder::new(compressed).take(LARGEST_BODY as u64 + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_body_that_decompresses_to_more_than_the_limit_is_an_error() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let blanks = vec![b' '; 1024 * 1024];
        for _ in 0..=32 {
            encoder.write_all(&blanks).unwrap();
        }
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        let error = decompress("/", &headers, encoder.finish().unwrap()).unwrap_err();
        assert!(error.to_string().contains("33554432"), "{error}");
    }
}
