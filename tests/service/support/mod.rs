//! Starts the service in the local cloud, and sends it requests.

mod control_plane;
mod dynamodb;
mod examples;
mod http;
mod invoke;
mod listings;
mod logs;
mod prices;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use local::template::{Document, Template};
use local::{Cloud, Options};
use simulator::Simulator;
use tokio::process::Command;

pub(crate) use control_plane::control;
pub(crate) use dynamodb::call;
pub(crate) use examples::{
    NAME_SERVICE, examples, for_every_live_route, live_examples, passing_examples, recorded_requests,
    request_with, serve_small_bodies,
};
pub(crate) use http::{KEY_HEADER, Response, cache_authorization, get, get_raw, send, send_with};
pub(crate) use invoke::{event, get_at, invoke};
pub(crate) use listings::{House, clean_auction, listings_of, object, record_listings};
pub(crate) use logs::{Log, await_logs, expect_clean_logs, line_of, log_lines, logged};
pub(crate) use prices::{record_names, record_prices, record_prices_of, store_day};

/// The functions that run on schedules, which have no route.
pub(crate) const RECORDERS: [&str; 5] =
    ["record-auctions", "record-bazaar", "record-candles", "record-fire-sales", "record-mayor"];

/// The function that decides on keys.
pub(crate) const AUTHORIZER: &str = "authorizer";

/// The function that manages accounts and keys.
pub(crate) const ACCOUNTS: &str = "accounts";

/// Starts the service with its own simulator, on free ports.
pub(crate) async fn start() -> Cloud {
    start_with(Options::for_tests()).await
}

pub(crate) async fn start_with(options: Options) -> Cloud {
    Cloud::start(options).await.unwrap()
}

/// Options for a cloud with one instance of each function, so all requests to a function share a cache.
pub(crate) fn one_instance_each() -> Options {
    Options { concurrency: NonZeroU16::MIN, ..Options::for_tests() }
}

/// Options for a cloud whose recorders have only ten seconds for a run, which is too short to repeat a fetch.
pub(crate) fn without_repeated_fetches() -> Options {
    Options { longest_timeout: Duration::from_secs(10), ..Options::for_tests() }
}

/// Adds these values of the template's parameters to the options.
pub(crate) fn with_parameters(mut options: Options, parameters: &[(&str, &str)]) -> Options {
    let owned = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    options.parameters.extend(owned);
    options
}

/// The deployed template with the defaults of its parameters.
pub(crate) fn deployed_template() -> Template {
    template_with(&[])
}

/// The deployed template with these values of its parameters.
pub(crate) fn template_with(parameters: &[(&str, &str)]) -> Template {
    let document = Document::read(&Options::default().template).unwrap();
    let given = [("DashboardUrl", "https://dashboard.example")].iter().chain(parameters);
    let owned = given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    document.evaluate(&owned.collect::<BTreeMap<_, _>>()).unwrap()
}

pub(crate) fn in_repository(path: &str) -> PathBuf {
    Options::default().template.with_file_name(path)
}

/// The command of the alias `cargo NAME` with these arguments.
pub(crate) fn cargo(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::from(local::cargo(&in_repository("")));
    command.args(["run", "--package", name, "--"]).args(arguments);
    command
}

#[track_caller]
pub(crate) fn simulator(cloud: &Cloud) -> &Simulator {
    cloud.simulator().unwrap()
}
