//! The pages for people, which are the API reference (`GET /docs`) and the market (`GET /market`), and the
//! files that they load. The binary contains all of them.
//!
//! The pages are in `docs/` and `market/`; `vendor/` holds libraries as their authors publish them. The build
//! script chooses the headers of each file. The addresses of the files contain a hash of all files, so
//! browsers can keep them permanently.

use common::config::Config;
use common::error::ApiError;
use common::excerpt::Excerpt;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::{Allowed, InvalidValue, Value};
use common::response::Response;
use common::response::file::File;
use common::routes::{self, Route};
use reqwest::Url;

/// The code that the build script writes.
#[expect(clippy::unreadable_literal, reason = "generated code")]
mod files {
    use common::response::file::File;

    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// The placeholders in the pages for the address where users get their keys, and for the address of the
/// public files.
const DASHBOARD: &str = "{dashboard}";
const PUBLIC_FILES: &str = "{files}";

/// The part of the market page's policy that allows connections. The origin of the public files is added to
/// it.
const CONNECTIONS: &str = "connect-src 'self'";

#[derive(Debug)]
pub struct Pages {
    // Leaked: both last as long as the process.
    docs: &'static File,
    market: &'static File,
}

impl Handler for Pages {
    const ROUTE: &'static Route = &routes::ASSETS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let [dashboard, public_files] =
            ["DASHBOARD_URL", "PUBLIC_FILES_URL"].map(|variable| config.text(variable).unwrap_or_default());
        let [docs, market] = [&files::DOCS, &files::MARKET]
            .map(|page| page.with_value(DASHBOARD, &dashboard).with_value(PUBLIC_FILES, &public_files));
        let market = match origin(&public_files) {
            Some(origin) => with_connection(&market, &origin),
            None => market,
        };
        Ok(Self { docs: Box::leak(Box::new(docs)), market: Box::leak(Box::new(market)) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match request.resource() {
            path if path == routes::DOCS.path => Ok(page(request, path, self.docs)),
            path if path == routes::MARKET.path => Ok(page(request, path, self.market)),
            path if path == routes::FAVICON.path => Ok(Response::File(&files::FAVICON)),
            _ => asset(request).map(Response::File),
        }
    }
}

/// Returns the origin of an address, such as `https://files.example.org`; `None` if it is relative.
fn origin(address: &str) -> Option<String> {
    Url::parse(address).ok().map(|url| url.origin().ascii_serialization())
}

/// Returns the page with a policy that also allows connections to this origin.
fn with_connection(page: &File, origin: &str) -> File {
    let policy = page.content_security_policy.replace(CONNECTIONS, &format!("{CONNECTIONS} {origin}"));
    File { content_security_policy: policy.leak(), ..*page }
}

/// Returns the page of the route `path`. The page loads its files from relative addresses, so a request with
/// a slash at the end is redirected to the address without the slash. The location is also relative, and
/// contains no part of the request's path.
fn page(request: &Request, path: &str, file: &'static File) -> Response {
    if !request.path().ends_with('/') {
        return Response::File(file);
    }
    let query = request.query();
    let mark = if query.is_empty() { "" } else { "?" };
    Response::Redirect(format!("..{path}{mark}{query}"))
}

/// Returns every file that the function can serve, including the pages.
pub fn files() -> impl Iterator<Item = &'static File> {
    files::ASSETS.iter().chain([&files::DOCS, &files::MARKET, &files::FAVICON])
}

/// Returns the file with the hash and the name in the request.
fn asset(request: &Request) -> Result<&'static File, ApiError> {
    let Segment(hash) = request.required("hash", "")?;
    let Segment(name) = match routes::REFERENCE_SCRIPT.path.rsplit_once('/') {
        Some((_, name)) if request.resource() == routes::REFERENCE_SCRIPT.path => Segment(name.to_owned()),
        _ => request.required("file", "")?,
    };
    let file = files::ASSETS.iter().find(|file| hash == files::HASH && file.name == name);
    file.ok_or_else(|| {
        let (hash, name) = (Excerpt::of(&hash), Excerpt::of(&name));
        ApiError::not_found(format!(
            "File {hash}/{name} not found. If a page loads it, the page is of another version: reload the page."
        ))
    })
}

struct Segment(String);

impl Value for Segment {
    const ALLOWED: Allowed = Allowed::AnyText;
}

impl std::str::FromStr for Segment {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Ok(Self(text.to_owned()))
    }
}
