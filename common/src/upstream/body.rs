//! Reads and decompresses response bodies, with a limit on their size.

use lambda_http::http::header::{self, HeaderMap};
use libdeflater::{DecompressionError, Decompressor};
use memchr::memmem;

use super::error::UpstreamError;
use crate::error::chain;

/// The maximum size of a body in bytes, compressed and decompressed.
const LARGEST_BODY: usize = 32 * 1024 * 1024;
const TOO_LARGE: &str = "it has more than 33554432 bytes";

/// The maximum number of gzip members in a body. Bytes that only look like the beginning of a member also
/// count.
const MOST_MEMBERS: usize = 32;

pub(super) async fn read(path: &str, mut response: reqwest::Response) -> Result<Vec<u8>, UpstreamError> {
    let unreadable = |cause: String| UpstreamError::Unreadable { path: path.to_owned(), cause };
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut compressed = Vec::with_capacity(announced.min(LARGEST_BODY));
    loop {
        let chunk = response.chunk().await.map_err(|error| unreadable(chain(&error.without_url())))?;
        let Some(chunk) = chunk else { return Ok(compressed) };
        if compressed.len() + chunk.len() > LARGEST_BODY {
            return Err(unreadable(TOO_LARGE.to_owned()));
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
    let plain = match encoding(headers).as_slice() {
        [] => compressed,
        [only] if matches!(only.as_str(), "gzip" | "x-gzip") => {
            inflate(&compressed).map_err(|reason| unreadable(reason.to_owned()))?
        }
        // The error does not repeat the name of the encoding: it could be any text, even the key that the
        // upstream has received.
        _ => return Err(unreadable("unknown encoding".to_owned())),
    };
    String::from_utf8(plain).map_err(|error| unreadable(error.to_string()))
}

/// Returns the encodings of the body, without `identity`. They are in lower case, because case does not
/// matter in their names (RFC 9110, 8.4.1).
fn encoding(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONTENT_ENCODING).into_iter();
    let names = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    names
        .flat_map(|names| names.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
        .filter(|name| !matches!(name.as_str(), "" | "identity"))
        .collect()
}

/// Decompresses a body of one or more gzip members. The library decompresses a whole member at once, in 0.6
/// of the time of a stream decoder, but does not return where the member ends, so the next member is searched
/// for.
fn inflate(compressed: &[u8]) -> Result<Vec<u8>, &'static str> {
    if find_member(compressed, 1).is_none() {
        return inflate_member(compressed);
    }
    let mut plain = Vec::new();
    let mut rest = compressed;
    let mut from = 1;
    for _ in 0..MOST_MEMBERS {
        let end = find_member(rest, from);
        let member = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let inflated = inflate_member(member);
        match (inflated, end) {
            (Ok(part), _) if plain.len() + part.len() > LARGEST_BODY => return Err(TOO_LARGE),
            (Ok(part), end) => {
                plain.extend(part);
                let Some(end) = end else { return Ok(plain) };
                (rest, from) = (rest.get(end..).unwrap_or_default(), 1);
            }
            // The bytes at `end` only look like the beginning of a member, and are part of this member.
            (Err(_), Some(end)) => from = end + 1,
            (Err(reason), None) => return Err(reason),
        }
    }
    Err("it has too many gzip members")
}

/// Returns the first position, at `from` or later, that looks like the beginning of a gzip member (RFC 1952,
/// 2.3.1).
fn find_member(compressed: &[u8], from: usize) -> Option<usize> {
    const BEGINNING: [u8; 3] = [0x1f, 0x8b, 8];
    Some(from + memmem::find(compressed.get(from..)?, &BEGINNING)?)
}

/// Returns the length that the end of a member announces.
fn announced_length(member: &[u8]) -> Result<usize, &'static str> {
    let length = member.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
    if length > LARGEST_BODY { Err(TOO_LARGE) } else { Ok(length) }
}

/// Decompresses a member, which must have the announced length.
fn inflate_member(member: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut plain = vec![0; announced_length(member)?];
    match Decompressor::new().gzip_decompress(member, &mut plain) {
        Ok(length) if length == plain.len() => Ok(plain),
        Ok(_) | Err(DecompressionError::InsufficientSpace) => Err("its length is not the announced length"),
        Err(DecompressionError::BadData) => Err("it is not valid gzip data"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lambda_http::http::header::HeaderValue;

    use super::*;

    fn decompressed(headers: &HeaderMap, compressed: Vec<u8>) -> Option<String> {
        decompress("/", headers, compressed).ok()
    }

    fn stored(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn encodings_are_compared_without_case_and_blanks() {
        let decompressed = |encodings: &[&str], body: Vec<u8>| {
            let header = |value: &&str| (header::CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
            decompressed(&encodings.iter().map(header).collect(), body)
        };
        for name in ["gzip", "GZIP", "Gzip", "x-gzip", "X-GZip", " gzip ", "gzip,", "identity, gzip"] {
            assert_eq!(decompressed(&[name], gzip(b"{}")).as_deref(), Some("{}"), "{name:?}");
        }
        for name in ["", " ", "identity", "Identity", "IDENTITY, identity"] {
            assert_eq!(decompressed(&[name], b"{}".to_vec()).as_deref(), Some("{}"), "{name:?}");
        }
        for name in ["br", "gzip, gzip", "gzip, br", "deflate", "gzipped", "x_gzip", "g zip"] {
            assert_eq!(decompressed(&[name], gzip(b"{}")), None, "{name:?}");
        }
        assert_eq!(decompressed(&["gzip", "br"], gzip(b"{}")), None, "two headers");
        assert_eq!(decompressed(&["identity", "gzip"], gzip(b"{}")).as_deref(), Some("{}"), "two headers");
    }

    #[test]
    fn members_are_joined_however_many_there_are() {
        let text = "some text that is long enough to be compressed, compressed, compressed";
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        for split in 0..=text.len() {
            let (first, second) = text.as_bytes().split_at(split);
            let body = [gzip(first), gzip(second)].concat();
            assert_eq!(decompressed(&headers, body).as_deref(), Some(text), "{split}");
        }
        let many = |members: usize| gzip(b"12").repeat(members);
        assert_eq!(decompressed(&headers, many(MOST_MEMBERS)), Some("12".repeat(MOST_MEMBERS)));
        assert_eq!(decompressed(&headers, many(MOST_MEMBERS + 1)), None);
        // The bytes that look like a second member are in the middle of the only one, which is stored
        // uncompressed.
        let stored = stored(b"before \x1f\x8b\x08 after");
        assert_eq!(inflate(&stored).as_deref(), Ok(&b"before \x1f\x8b\x08 after"[..]));
        assert_eq!(decompressed(&headers, gzip(b"")).as_deref(), Some(""));
    }

    #[test]
    fn a_cut_or_corrupt_body_is_an_error() {
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        let body = gzip("some text that is long enough to be compressed".repeat(20).as_bytes());
        for length in 0..body.len() {
            assert_eq!(decompressed(&headers, body[..length].to_vec()), None, "{length}");
        }
        // Begins after the gzip header, whose fields have no checksum.
        for position in 10..body.len() {
            let mut corrupt = body.clone();
            corrupt[position] ^= 0x10;
            assert_eq!(decompressed(&headers, corrupt), None, "{position}");
        }
        let longer = u32::try_from(decompressed(&headers, body.clone()).unwrap().len() + 1).unwrap();
        for more in [*b"more", longer.to_le_bytes()] {
            assert_eq!(decompressed(&headers, [&body[..], &more].concat()), None, "{more:?}");
        }
    }
}
