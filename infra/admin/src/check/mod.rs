//! `check`: sends a deployment the requests of its clients, and reports which promises of the API it keeps. The check sees
//! only responses, so it works with any base URL.

mod client;
mod contract;
mod document;
mod judge;
mod keys;
mod promise;
mod report;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Args;
use common::auth::without_keys;
use common::request::parameters::Username;
use common::routes::{DOCS, INDEX, OPENAPI};
use conformance::Document;
use indicatif::ProgressBar;

use self::client::Client;
use self::contract::Subject;
use self::keys::{KeyArguments, Keys};
use self::report::Report;
use self::request::Request;
use self::response::at;
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
    /// How many requests per second to send with the key. The default is below the limit of the smallest tier
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RATE, value_parser = client::rate)]
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
    let served = client.send(&Request::anonymous(OPENAPI.path)).await;
    let served = served.map_err(|mismatch| Error::Unreachable { cause: mismatch.received })?;
    let document = match document::document(&served) {
        Ok(document) => Document::new(document),
        Err(mismatch) => {
            // The key must not reach another service.
            report.check("OpenAPI document is served", &Err(mismatch));
            report
                .skip("all other checks", "this is another service; --url must be the base URL of this one");
            report.finish(client.sent(), client.throttled());
            return Ok(report);
        }
    };
    report.check("OpenAPI document is served", &Ok(()));
    let subject = Subject {
        document: &document,
        keys,
        player: arguments.player.as_ref(),
        pages_are_off: are_pages_off(&client).await,
        throttles: arguments.throttle,
    };
    for promise in contract::promises(&subject)? {
        match &promise.ask {
            Ok(ask) => {
                let result = ask.send(&client).await.and_then(|responses| promise.judge(&responses));
                report.check(promise.name, &result);
            }
            Err(reason) => report.skip(promise.name, reason),
        }
    }
    report.finish(client.sent(), client.throttled());
    Ok(report)
}

/// Whether the operator has switched the pages off: the path is an unknown route, and the index names another documentation.
async fn are_pages_off(client: &Client) -> bool {
    let page = client.send(&Request::anonymous(DOCS.path)).await;
    let index = client.send(&Request::anonymous(INDEX.path)).await;
    let names_another = index
        .and_then(|index| index.json())
        .is_ok_and(|index| at(&index, "/data/documentation") != DOCS.path);
    names_another && page.is_ok_and(|page| judge::error(&page, 404).is_ok())
}

fn player(text: &str) -> Result<Username, &'static str> {
    text.parse().map_err(|_| "a player name has 1 to 16 letters, digits and underscores")
}
