//! The `cargo local` command.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use comfy_table::{ContentArrangement, Table, presets};
use hyper::Uri;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use local::template::Template;
use local::{Binaries, Cloud, Keys, Options, Progress, ProgressSink, Sink, Upstream};
use tokio::signal::unix::{SignalKind, signal};

/// What an example request asks for, by path.
const EXAMPLE_QUERIES: [(&str, &str); 3] = [
    ("/v1/bazaar", "?mode=flips&limit=5"),
    ("/v1/bazaar/history", "?item_id=INK_SACK:3&range=24h"),
    ("/v1/auctions", "?page=0"),
];
const EXAMPLE_PLAYER: &str = "Notch";

/// The cloud on your machine: API Gateway, Lambda, schedules and `DynamoDB` as template.yaml describes them
#[derive(Parser)]
#[command(name = "local", bin_name = "cargo local", display_name = "cargo local", version)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Port of the API; 0 takes a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Port of Lambda's Invoke API; 0 takes a free one
    #[arg(long, default_value_t = 3001)]
    lambda_port: u16,
    /// Port of `DynamoDB`; 0 takes a free one
    #[arg(long, default_value_t = 3002)]
    dynamodb_port: u16,
    /// Keep the tables in this folder; without it they are in memory and gone at the end
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Do not run the template's schedules
    #[arg(long)]
    no_schedules: bool,
    /// How many days of history the simulated game begins with, up to 90
    #[arg(long, value_name = "DAYS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=90))]
    history: u16,
    /// Ask this server instead of the simulator; with `HYPIXEL_API_KEY` from the environment, if it is set
    #[arg(long, value_name = "URL", conflicts_with = "live")]
    upstream: Option<String>,
    /// Look up players' names there
    #[arg(long, value_name = "URL")]
    names: Option<String>,
    /// Ask the real game; profiles need `HYPIXEL_API_KEY` in the environment
    #[arg(long)]
    live: bool,
    /// The simulated game; another seed is another game
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["live", "upstream"])]
    seed: u64,
    /// Override a parameter of the template; may be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
    /// Build the functions optimised, as they are deployed
    #[arg(long)]
    release: bool,
    /// How many instances of one function may run at a time
    #[arg(long, value_name = "N", default_value = "4", value_parser = concurrency)]
    concurrency: NonZeroU16,
}

#[derive(Subcommand)]
enum Command {
    /// Measure what history costs on AWS; exit code 1 if that is more than it may
    Cost {
        /// A body of the provider's bazaar to record instead of the simulator's
        #[arg(long, value_name = "FILE")]
        snapshot: Option<PathBuf>,
        /// Build the functions optimised, as they are deployed
        #[arg(long)]
        release: bool,
    },
}

/// The URL without a slash at its end. It is not repeated in the sentence: it may hold a key.
fn url(option: &str, text: &str) -> Result<String, String> {
    let refuse = |reason: &str| Err(format!("{option} must be a URL like http://127.0.0.1:4000, {reason}"));
    if text.contains(['?', '#']) {
        return refuse("without a query (?) or a fragment (#): paths are appended to it");
    }
    let Ok(url) = text.parse::<Uri>() else { return refuse("but what was given is none") };
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return refuse("beginning with http:// or https://");
    }
    let Some(authority) = url.authority().filter(|authority| !authority.host().is_empty()) else {
        return refuse("with the name or the address of a host");
    };
    // The parser takes any text for a port.
    if authority.port_u16().is_none() && !authority.as_str().ends_with(authority.host()) {
        return refuse("with a port up to 65535 or none");
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn concurrency(text: &str) -> Result<NonZeroU16, String> {
    let number: u16 =
        text.parse().map_err(|_| format!("it must be a whole number from 1 to {}", u16::MAX))?;
    NonZeroU16::new(number).ok_or_else(|| "it must be at least 1".to_owned())
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Arguments {
    /// # Errors
    /// The sentence that says what is wrong.
    fn options(self, bar: &ProgressBar) -> Result<Options, String> {
        Ok(Options {
            port: self.port,
            lambda_port: self.lambda_port,
            dynamodb_port: self.dynamodb_port,
            data: self.data,
            schedules: !self.no_schedules,
            history: self.history,
            progress: Some(shown_on(bar.clone())),
            upstream: match self.upstream {
                Some(text) => Upstream::Url(url("--upstream", &text)?),
                None if self.live => Upstream::Live,
                None => Upstream::Simulator { seed: self.seed },
            },
            names: self.names.map(|text| url("--names", &text)).transpose()?,
            upstream_key: std::env::var("HYPIXEL_API_KEY").ok().filter(|key| !key.is_empty()),
            parameters: BTreeMap::from_iter(self.parameters),
            binaries: Binaries::Build { release: self.release },
            concurrency: self.concurrency,
            access_log: Some(beside(bar.clone(), print)),
            function_log: Some(beside(bar.clone(), print_aside)),
            ..Options::default()
        })
    }
}

/// Draws the progress on the bar, which is invisible where nobody sees it: standard error is no terminal.
fn shown_on(bar: ProgressBar) -> ProgressSink {
    Arc::new(move |progress: &Progress| {
        if bar.length() != Some(progress.total) {
            bar.set_style(ProgressStyle::default_bar());
            bar.set_length(progress.total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_position(progress.done);
        if let Some(news) = &progress.news {
            bar.suspend(|| print_aside(news));
        }
        if progress.done == progress.total {
            bar.finish_and_clear();
        }
    })
}

/// Writes lines past the bar, which would be torn by them.
fn beside(bar: ProgressBar, write: fn(&str)) -> Sink {
    Arc::new(move |line: &str| bar.suspend(|| write(line)))
}

/// Whoever has closed our output does not want to read it; that is no reason to stop.
fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The same on standard error. (`eprintln!` panics when its reader is gone.)
fn print_aside(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = Arguments::parse();
    let ended = match arguments.command.take() {
        None => run(arguments).await,
        Some(Command::Cost { snapshot, release }) => cost(snapshot, release).await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            print_aside(&format!("error: {sentence}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let bar = ProgressBar::hidden();
    let options = arguments.options(&bar)?;
    let cloud = tokio::select! {
        started = Cloud::start(options) => started.map_err(|error| error.to_string())?,
        // Cargo, which may be building, ends when it is dropped.
        ended = asked_to_end() => return ended,
    };
    bar.suspend(|| greet(&cloud));
    let ended = asked_to_end().await;
    cloud.shutdown().await;
    ended
}

/// # Errors
/// A sentence, also when a target is missed.
async fn cost(snapshot: Option<PathBuf>, release: bool) -> Result<(), String> {
    let progress = Some(shown_on(ProgressBar::hidden()));
    let binaries = Binaries::Build { release };
    let options = local::cost::Options { snapshot, binaries, progress, ..local::cost::Options::default() };
    let report = tokio::select! {
        measured = local::cost::measure(options) => measured.map_err(|error| error.to_string())?,
        ended = asked_to_end() => return ended.and(Err("ended before all was measured".to_owned())),
    };
    print(&report.to_string());
    match report.missed().len() {
        0 => Ok(()),
        missed => Err(format!("history costs more than it may: missed targets: {missed}")),
    }
}

fn greet(cloud: &Cloud) {
    print(&routes(cloud.template(), cloud.keys(), &cloud.url()).trim_fmt());
    if let Some(simulator) = cloud.simulator() {
        print(&format!("upstream {}", simulator.url()));
    }
    print(&format!("dynamodb {}", cloud.dynamodb().url()));
    print(&format!("lambda {}", cloud.lambda_url()));
    for (name, key) in cloud.keys().into_iter().flat_map(Keys::named) {
        print(&format!("key {name} {}", key.expose()));
    }
    print(&format!("ready {}", cloud.url()));
}

/// Waits for Ctrl-C or a polite request to end.
async fn asked_to_end() -> Result<(), String> {
    let mut terminate =
        signal(SignalKind::terminate()).map_err(|error| format!("cannot listen for signals: {error}"))?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => {
            interrupted.map_err(|error| format!("cannot listen for signals: {error}"))
        }
        _ = terminate.recv() => Ok(()),
    }
}

fn routes(template: &Template, keys: Option<&Keys>, base: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["METHOD", "PATH", "FUNCTION", "TTL", "EXAMPLE"]);
    for route in &template.api.routes {
        let binary = template.functions.get(&route.function).map_or("", |function| function.binary.as_str());
        let ttl = route.cache_ttl.map_or_else(|| "-".to_owned(), |ttl| format!("{} s", ttl.as_secs()));
        let authorizer = route.authorizer.as_ref().and_then(|name| template.api.authorizers.get(name));
        let header = authorizer.and_then(|authorizer| authorizer.identity_headers.first());
        let key = header.zip(keys).map(|(header, keys)| format!("-H '{header}: {}' ", keys.pro.expose()));
        let example = example(&route.method, &route.path, &key.unwrap_or_default(), base);
        table.add_row([&route.method, &route.path, binary, &ttl, &example]);
    }
    table
}

fn example(method: &str, path: &str, header: &str, base: &str) -> String {
    let query = EXAMPLE_QUERIES.iter().find(|(known, _)| *known == path).map_or("", |(_, query)| *query);
    let path = path.replace("{proxy+}", "nowhere").replace("{username}", EXAMPLE_PLAYER);
    let option = match method {
        "GET" => String::new(),
        "ANY" => "-X POST ".to_owned(),
        other => format!("-X {other} "),
    };
    format!("curl {option}{header}'{base}{path}{query}'")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn options_are_for_the_cloud_or_for_a_command() {
        Arguments::command().debug_assert();
        let parse = |line: &str| Arguments::try_parse_from(line.split(' '));
        let cloud = parse("local --release --port 3000").unwrap();
        assert!(cloud.command.is_none() && cloud.release && cloud.port == 3000);
        let cost = parse("local cost --release --snapshot a.json").unwrap();
        let Some(Command::Cost { snapshot: Some(snapshot), release: true }) = cost.command else {
            panic!("no snapshot");
        };
        assert_eq!(snapshot, PathBuf::from("a.json"));
        // It would have no effect.
        assert!(parse("local --port 3000 cost").is_err());
        assert!(parse("local price").is_err());
    }

    #[test]
    fn an_upstream_is_a_base_url() {
        for (given, taken) in [
            ("http://127.0.0.1:4000", "http://127.0.0.1:4000"),
            ("https://example.com/", "https://example.com"),
            ("HTTP://[::1]:80/a/b//", "HTTP://[::1]:80/a/b"),
        ] {
            assert_eq!(url("--upstream", given).as_deref(), Ok(taken));
        }
        for (given, reason) in [
            ("", "is none"),
            ("http://", "is none"),
            ("http://a b", "is none"),
            ("example.com", "beginning with http"),
            ("ftp://example.com", "beginning with http"),
            ("/v2", "beginning with http"),
            ("http://:80", "a host"),
            ("http://a:99999", "a port"),
            ("http://a/?key=secret", "without a query"),
            ("http://a/#b", "without a query"),
        ] {
            let said = url("--names", given).unwrap_err();
            assert!(said.starts_with("--names must be") && said.contains(reason), "{given}: {said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
