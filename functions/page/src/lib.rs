//! The pages for people: `GET /docs`, the API reference, `GET /market`, the market, and the files that they load. All of it is
//! embedded in the binary.
//!
//! The pages are in `docs/` and `market/`; `vendor/` holds libraries as their authors publish them. The addresses of the files
//! contain a hash of all of them, so that browsers can keep them for ever.

use common::config::Config;
use common::error::ApiError;
use common::excerpt::Excerpt;
use common::file::File;
use common::lambda::{Handler, StartError};
use common::params::{Allowed, InvalidValue, Value};
use common::request::Request;
use common::response::Response;
use common::routes::{self, Route};

/// What the build script has made of the files.
mod files {
    use common::file::File;

    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// The hash of all files that the pages load, in hexadecimal digits: a segment of their addresses.
pub const HASH: &str = files::HASH;

/// What the market page has in place of the address where users get their keys.
const DASHBOARD: &str = "{dashboard}";

/// The handler.
#[derive(Debug)]
pub struct Page {
    market: &'static File,
}

impl Handler for Page {
    const ROUTE: &'static Route = &routes::ASSETS;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { market: with_dashboard(&files::MARKET, &config.dashboard_url) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let resource = request.resource();
        if resource == routes::DOCS.path {
            Ok(page(request, &files::DOCS))
        } else if resource == routes::MARKET.path {
            Ok(page(request, self.market))
        } else if resource == routes::FAVICON.path {
            Ok(Response::File(&files::FAVICON))
        } else {
            asset(request).map(Response::File)
        }
    }
}

/// Returns the page with the address where users get their keys. It lasts as long as the process.
fn with_dashboard(page: &File, dashboard_url: &str) -> &'static File {
    // As an attribute of HTML in a JSON string.
    let escaped = |character| match character {
        '&' => "&amp;".to_owned(),
        '<' | '"' | '\\' | '\0'..=' ' => format!("&#{};", u32::from(character)),
        other => String::from(other),
    };
    let attribute: String = dashboard_url.chars().map(escaped).collect();
    let json = page.json.replace(DASHBOARD, &attribute);
    let bytes = page.bytes + json.len() - page.json.len();
    Box::leak(Box::new(File { json: json.leak(), bytes, ..*page }))
}

/// Returns the page. Its addresses are relative to the folder that it is in, so the path must not end with a slash.
fn page(request: &Request, file: &'static File) -> Response {
    let path = request.path();
    let Some(page) = path.strip_suffix('/') else { return Response::File(file) };
    let name = page.rsplit('/').next().unwrap_or_default();
    let query = request.query();
    let mark = if query.is_empty() { "" } else { "?" };
    Response::Redirect(format!("../{name}{mark}{query}"))
}

/// Returns the file that a page loads.
fn asset(request: &Request) -> Result<&'static File, ApiError> {
    let hash = request.required::<Name>("hash", "")?;
    let name = if request.resource() == routes::REFERENCE_SCRIPT.path {
        Name("scalar.js".to_owned())
    } else {
        request.required::<Name>("file", "")?
    };
    let file = files::ASSETS.iter().find(|file| hash.0 == HASH && file.name == name.0);
    file.ok_or_else(|| {
        let (hash, name) = (Excerpt::of(&hash.0), Excerpt::of(&name.0));
        ApiError::not_found(format!(
            "File {hash}/{name} not found. The page that loads it may be of another version: reload that page."
        ))
    })
}

/// A segment of an address.
struct Name(String);

impl Value for Name {
    const ALLOWED: Allowed = Allowed::AnyText;
}

impl std::str::FromStr for Name {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Ok(Self(text.to_owned()))
    }
}
