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
mod escapes;
mod examples;
mod front_end;
mod inspection;
mod json;
mod keys;
mod latency;
mod observations;
mod openapi;
mod pages;
mod rate_limiter;
mod recorded_prices;
mod report;
mod request;
mod response;
mod spellings;
mod throttling;
mod wire;

use std::process::ExitCode;

use clap::Args;
use common::auth::without_keys;
use common::params::Username;
use indicatif::ProgressBar;

use self::client::Client;
use self::inspection::Inspection;
use self::keys::{KeyArguments, Keys};
use self::latency::Latency;
use self::report::Report;
use crate::console::Console;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::output::Format;

/// The default of `--rate`. The smallest tier allows 2.
const DEFAULT_RATE: f64 = 1.5;

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The base URL of the service: the stack's output `BaseUrl`, a custom domain, or the URL of the local cloud
    #[arg(long, value_parser = client::base_url)]
    url: String,
    #[command(flatten)]
    keys: KeyArguments,
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
    let keys = Keys::read(&arguments.keys, console).await?;
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
        puts_key_into_url: arguments.keys.key_in_url,
        document,
        player: arguments.player.as_ref(),
        repetitions: arguments.requests,
    };
    let mut latency = Latency::default();
    examples::check(&inspection, &mut report, &mut latency).await;
    error_responses::check(&inspection, &mut report).await;
    recorded_prices::check(&inspection, &mut report).await;
    authorization::check(&inspection, &mut report).await;
    spellings::check(&inspection, &mut report).await;
    cors::check(&inspection, &mut report).await;
    compression::check(&inspection, &mut report).await;
    escapes::check(&inspection, &mut report).await;
    pages::check(&inspection, &mut report).await;
    let expect_stage_cache = observations::functions_expect_stage_cache(&inspection, &mut report).await;
    let cache_key_is_broken = cache_key::check(&inspection, expect_stage_cache, &mut report).await;
    observations::observe(&inspection, cache_key_is_broken, &mut report).await;
    front_end::observe(&inspection, &mut report).await;
    throttling::check(&inspection, arguments.throttle, &mut report).await;
    report.finish(latency, client.sent(), client.throttled());
    Ok(report)
}

fn player(text: &str) -> Result<Username, &'static str> {
    text.parse().map_err(|_| "a player name has 1 to 16 letters, digits and underscores")
}
