//! `check`: sends a deployment the requests of its clients, and reports which promises of the API it keeps. The check sees
//! only responses, so it works with any base URL. Behaviour of API Gateway that AWS does not document is observed and
//! reported, but cannot fail.

mod authorization;
mod cache_key;
mod caching;
mod client;
mod compression;
mod cors;
mod envelope;
mod error_responses;
mod examples;
mod inspection;
mod json;
mod latency;
mod observations;
mod openapi;
mod rate_limiter;
mod report;
mod request;
mod response;
mod throttling;

use std::process::ExitCode;

use clap::Args;
use common::auth::{ApiKey, without_keys};
use common::params::Username;
use indicatif::ProgressBar;

use self::client::Client;
use self::inspection::{Inspection, Keys};
use self::latency::Latency;
use self::report::Report;
use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::output::Format;
use crate::standard_input;

/// The environment variable that holds the good key if no option gives it.
const KEY_VARIABLE: &str = "API_KEY";
/// The default of `--rate`. The smallest tier allows 2.
const DEFAULT_RATE: f64 = 1.5;

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The base URL of the service: the stack's output `BaseUrl`, a custom domain, or the URL of the local cloud
    #[arg(long, value_parser = client::base_url)]
    url: String,
    /// An API key that the service accepts; - reads it from standard input; the default is the environment variable
    /// `API_KEY`
    #[arg(long)]
    key: Option<String>,
    /// A key whose account is not paid for; without it, 403 is not checked
    #[arg(long, value_name = "KEY")]
    lapsed_key: Option<String>,
    /// A revoked key; without it, its 401 is not checked
    #[arg(long, value_name = "KEY")]
    revoked_key: Option<String>,
    /// The player to request instead of the one in the examples
    #[arg(long, value_name = "NAME", value_parser = player)]
    player: Option<Username>,
    /// How often to repeat the request of each example, for the table of latencies
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=50))]
    requests: u16,
    /// How many requests per second to send with the key; bursts have up to twenty times as many. The default is below
    /// the limits of the smallest tier
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RATE, value_parser = rate_limiter::rate)]
    rate: f64,
    /// Exceed the limits of the key at the end, to check the 429; the key is throttled for a while afterwards
    #[arg(long)]
    throttle: bool,
    /// Write one JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// Checks the deployment.
///
/// # Errors
/// If the check cannot start: without a key, or if nothing answers at the URL.
pub(crate) async fn run(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    unless_interrupted(check(arguments, console)).await
}

async fn check(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    let format = if arguments.json { Format::Json } else { Format::Text };
    let keys = Keys {
        good: good_key(arguments.key.clone(), console).await?,
        lapsed: arguments.lapsed_key.as_deref().map(|key| parse_key("--lapsed-key", key)).transpose()?,
        revoked: arguments.revoked_key.as_deref().map(|key| parse_key("--revoked-key", key)).transpose()?,
    };
    let progress = console.progress_in_rows(None);
    let result = inspect(&arguments, &keys, &progress).await;
    progress.finish_and_clear();
    let report = result?;
    report.write(format)?;
    Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn inspect(arguments: &Arguments, keys: &Keys, progress: &ProgressBar) -> Result<Report, Error> {
    let client = Client::new(&arguments.url, arguments.rate, progress.clone())?;
    let mut report = Report::new(&without_keys(&arguments.url));
    let Some(document) = openapi::fetch(&client, &mut report).await? else {
        // The key must not reach another service.
        report.skip("all other checks", "this is another service; --url must be the base URL of this one");
        report.finish(Latency::default(), client.sent(), client.throttled());
        return Ok(report);
    };
    let inspection = Inspection {
        client: &client,
        keys,
        document,
        player: arguments.player.as_ref(),
        repetitions: arguments.requests,
    };
    let mut latency = Latency::default();
    examples::check(&inspection, &mut report, &mut latency).await;
    error_responses::check(&inspection, &mut report).await;
    authorization::check(&inspection, &mut report).await;
    cors::check(&inspection, &mut report).await;
    compression::check(&inspection, &mut report).await;
    let cache_key_is_broken = cache_key::check(&inspection, &mut report).await;
    observations::observe(&inspection, cache_key_is_broken, &mut report).await;
    throttling::check(&inspection, arguments.throttle, &mut report).await;
    report.finish(latency, client.sent(), client.throttled());
    Ok(report)
}

/// The good key, from the option, standard input or the environment.
async fn good_key(option: Option<String>, console: &Console) -> Result<ApiKey, Error> {
    match option {
        Some(option) if option == STANDARD_STREAM => {
            let line = standard_input::read_key(console).await;
            let line = line
                .map_err(|error| if matches!(error, Error::EmptyInput) { Error::NoApiKey } else { error })?;
            parse_key("standard input", standard_input::trim(&line))
        }
        Some(key) => parse_key("--key", &key),
        None => match std::env::var(KEY_VARIABLE) {
            Ok(key) if !key.trim().is_empty() => parse_key(KEY_VARIABLE, standard_input::trim(&key)),
            _ => Err(Error::NoApiKey),
        },
    }
}

/// Parses a key. Errors do not repeat the text.
fn parse_key(place: &'static str, text: &str) -> Result<ApiKey, Error> {
    text.parse().map_err(|cause| Error::MalformedApiKey { place, cause })
}

fn player(text: &str) -> Result<Username, &'static str> {
    text.parse().map_err(|_| "a player name has 1 to 16 letters, digits and underscores")
}
