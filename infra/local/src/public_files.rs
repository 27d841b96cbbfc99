//! Serves the public files under `/public/` as S3 and `CloudFront` do: entity tags, ranges, conditions,
//! compression and CORS. On AWS, the files are at the root of a separate address.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, RANGE, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{GetOptions, GetRange, ObjectStore as _};

use crate::folder::Folder;
use crate::gateway::compression::{accepts_gzip, gzip};
use crate::server::empty_response;

/// The path of the files at the gateway's address.
pub(crate) const PREFIX: &str = "/public/";

/// The sizes of files that `CloudFront` compresses, in bytes.
const COMPRESSED_SIZES: Range<usize> = 1_000..10_000_000;

const CACHE: &str = "public, max-age=60, stale-if-error=3600";
const EXPOSED: &str = "ETag, Last-Modified, Content-Length, Content-Range";

#[derive(Debug)]
pub(crate) struct PublicFiles {
    /// The base URL, without a slash at its end.
    url: String,
    folder: Folder,
    store: LocalFileSystem,
}

impl PublicFiles {
    /// Opens the folder `public` in `data`, or a new temporary one. `gateway` is the base URL of the gateway.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn open(data: Option<&Path>, gateway: &str) -> io::Result<Self> {
        let folder = Folder::open(data, "public")?;
        let store = LocalFileSystem::new_with_prefix(folder.path()).map_err(io::Error::other)?;
        let url = format!("{gateway}{}", PREFIX.trim_end_matches('/'));
        Ok(Self { url, folder, store })
    }

    /// Returns the value of the functions' variable `PUBLIC_FILES`.
    pub(crate) fn variable(&self) -> String {
        self.folder.variable()
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the response to a request for a path that begins with [`PREFIX`].
    pub(crate) async fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = match *request.method() {
            Method::GET | Method::HEAD => self.file(request).await,
            Method::OPTIONS => {
                let mut response = empty_response(StatusCode::OK);
                set(&mut response, ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS");
                set(&mut response, ACCESS_CONTROL_ALLOW_HEADERS, "*");
                response
            }
            _ => {
                let mut response = empty_response(StatusCode::FORBIDDEN);
                set(&mut response, ALLOW, "GET, HEAD, OPTIONS");
                response
            }
        };
        set(&mut response, ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        set(&mut response, ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        response
    }

    async fn file(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let name = request.uri().path().trim_start_matches(PREFIX);
        let missing = || {
            let mut response = empty_response(StatusCode::NOT_FOUND);
            *response.body_mut() = Full::new(Bytes::from_static(
                b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code></Error>",
            ));
            set(&mut response, CONTENT_TYPE, "application/xml");
            response
        };
        let Ok(location) = Name::parse(name) else { return missing() };
        let headers = request.headers();
        let range = headers.get(RANGE).and_then(|range| parse_range(range.to_str().ok()?));
        let is_range = range.is_some();
        let file = match self.store.get_opts(&location, GetOptions { range, ..GetOptions::default() }).await {
            Ok(file) => file,
            Err(object_store::Error::NotFound { .. }) => return missing(),
            Err(_) if is_range => return empty_response(StatusCode::RANGE_NOT_SATISFIABLE),
            Err(_) => return missing(),
        };
        let meta = file.meta.clone();
        let part = file.range.clone();
        let modified = SystemTime::from(meta.last_modified);
        let Ok(body) = file.bytes().await else { return missing() };
        let is_compressed = Path::new(name).extension().is_some_and(|extension| extension == "gz");
        let may_compress = !is_range && !is_compressed && COMPRESSED_SIZES.contains(&body.len());
        let compressed = if may_compress && accepts_gzip(headers) { gzip(&body).ok() } else { None };
        let e_tag = meta.e_tag.unwrap_or_default();
        let weak = if compressed.is_some() { "W/" } else { "" };
        let e_tag = format!("{weak}\"{}\"", e_tag.trim_matches('"'));
        let is_unmodified = is_unmodified(headers, &e_tag, modified);
        let status = match (is_unmodified, is_range) {
            (true, _) => StatusCode::NOT_MODIFIED,
            (false, true) => StatusCode::PARTIAL_CONTENT,
            (false, false) => StatusCode::OK,
        };
        let mut response = empty_response(status);
        set(&mut response, ETAG, &e_tag);
        set(&mut response, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
        set(&mut response, CACHE_CONTROL, CACHE);
        set(&mut response, ACCEPT_RANGES, "bytes");
        set(&mut response, VARY, "Accept-Encoding");
        if is_unmodified {
            return response;
        }
        set(&mut response, CONTENT_TYPE, if is_compressed { "application/gzip" } else { "application/json" });
        if is_range {
            let last = part.end.saturating_sub(1);
            set(&mut response, CONTENT_RANGE, &format!("bytes {}-{last}/{}", part.start, meta.size));
        }
        if compressed.is_some() {
            set(&mut response, CONTENT_ENCODING, "gzip");
        }
        // In a response to HEAD, hyper sends the length of the body, but not the body.
        *response.body_mut() = Full::new(compressed.map_or(body, Bytes::from));
        response
    }
}

fn set(response: &mut Response<Full<Bytes>>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Returns the range of a header with exactly one range. For any other header the whole file is sent, as by
/// S3.
fn parse_range(header: &str) -> Option<GetRange> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    match (first, last) {
        ("", length) => Some(GetRange::Suffix(length.parse().ok()?)),
        (first, "") => Some(GetRange::Offset(first.parse().ok()?)),
        (first, last) => {
            let range = first.parse().ok()?..last.parse::<u64>().ok()?.saturating_add(1);
            (!range.is_empty()).then_some(GetRange::Bounded(range))
        }
    }
}

/// Whether the client has this version of the file. Entity tags take precedence over dates, and are compared
/// weakly.
fn is_unmodified(headers: &HeaderMap, e_tag: &str, modified: SystemTime) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(tags) = text(IF_NONE_MATCH) {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        return tags.split(',').any(|tag| tag.trim() == "*" || opaque(tag) == opaque(e_tag));
    }
    let since = text(IF_MODIFIED_SINCE).and_then(|date| httpdate::parse_http_date(date).ok());
    // A date has no fractions of a second.
    since.is_some_and(|since| modified <= since + Duration::from_millis(999))
}
