//! `check` sends requests to a deployment as clients do, and reports which promises of the API the deployment
//! keeps. The command sees only responses, so it works with every base URL of a deployment.

mod client;
mod contract;
mod keys;
mod report;

use std::process::ExitCode;

use clap::Args;
use common::auth::ApiKey;
use common::routes::OPENAPI;
use conformance::{Document, Mismatch};
use reqwest::{Method, Url};
use serde_json::Value;

use self::client::Client;
use self::contract::Run;
use self::keys::Keys;
use self::report::Report;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::output::{Format, write};

/// The OpenAPI document of this program's version.
const DOCUMENT: &str = include_str!("../../../../functions/index/openapi.json");

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The base URL of the service: the stack's output `BaseUrl`, a custom domain, or the URL of the local
    /// cloud
    #[arg(long, value_parser = base_url)]
    url: String,
    /// Exceed the key's limits at the end, to check the 429; the key stays throttled for a while afterwards
    #[arg(long)]
    throttle: bool,
    /// Write one JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// Checks the deployment. The environment variable `API_KEY` or standard input must hold a key that the
/// service accepts.
///
/// # Errors
/// If the check cannot start: without a key, or if nothing answers at the URL.
pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let format = if arguments.json { Format::Json } else { Format::Text };
    let report = unless_interrupted(check(arguments)).await?;
    write(format, || report.text(), &report)?;
    Ok(if report.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn check(arguments: Arguments) -> Result<Report, Error> {
    let Arguments { url, throttle, .. } = arguments;
    let keys = Keys::read().await?;
    let client = Client::new(&url)?;
    let sent = client.send(client.request(Method::GET, OPENAPI.path, None)).await;
    let served = sent.map_err(|Mismatch { received, .. }| Error::Unreachable {
        cause: format!("GET {}: {received}", OPENAPI.path),
    })?;
    let mut report = Report::of(&url);
    let document: Value = serde_json::from_str(&served.body).unwrap_or_default();
    if document.get("openapi").is_some() {
        report.add("OpenAPI document is served", Ok(()));
        let own: Value = serde_json::from_str(DOCUMENT).unwrap_or_default();
        let is_own = if document == own { Ok(()) } else { Err(another_version(&document)) };
        report.add("OpenAPI document is of this version", is_own);
        let document = Document::new(own);
        let unknown = ApiKey::generate(getrandom::fill).map_err(Error::Random)?;
        let mut run = Run { client: &client, keys: &keys, document: &document, report: &mut report };
        run.check(&unknown, throttle).await;
    } else {
        // Another service must not receive the key.
        let mismatch = Mismatch::new("an OpenAPI document", served.summary());
        report.add("OpenAPI document is served", Err(mismatch));
        report.skip("all other checks", "another service responds; --url must be this service's base URL");
    }
    report.requests = client.requests.get();
    Ok(report)
}

fn another_version(document: &Value) -> Mismatch {
    let version = document.pointer("/info/version").unwrap_or(&Value::Null);
    let expected = format!("the document of this program, version {}", env!("CARGO_PKG_VERSION"));
    Mismatch::new(expected, format!("another document, version {version}"))
}

/// Parses a base URL and removes trailing slashes. Errors do not repeat the URL, which may hold a secret.
fn base_url(text: &str) -> Result<String, &'static str> {
    let url = text.parse().ok().filter(|url: &Url| matches!(url.scheme(), "http" | "https"));
    url.map(|url| url.as_str().trim_end_matches('/').to_owned())
        .ok_or("must be a URL like https://api.example.com/live")
}
