//! The `cargo local` command.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::num::{NonZero, NonZeroU16};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use comfy_table::{ContentArrangement, Table, presets};
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Uri;
use local::template::Template;
use local::{Binaries, Cloud, Keys, Options, Upstream};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// The queries of the example requests, by path.
const EXAMPLE_QUERIES: [(&str, &str); 8] = [
    ("/v1/bazaar", "?mode=flips&limit=5"),
    ("/v1/bazaar/history", "?item_id=INK_SACK:3&range=24h"),
    ("/v1/bazaar/candles", "?item_id=INK_SACK:3&interval=5m"),
    ("/v1/bazaar/candles/all", "?interval=1d&opened_at=YESTERDAY"),
    ("/v1/auctions", "?page=0"),
    ("/v1/auctions/listings", "?id=HYPERION&clean=true"),
    ("/v1/auctions/candles", "?id=SHEEP%3B4&interval=1h"),
    ("/v1/auctions/sales", "?id=SHEEP%3B4&limit=10"),
];
const EXAMPLE_PLAYER: &str = "Notch";

/// The item whose chart the link to the market shows.
const EXAMPLE_ITEM: &str = "ENCHANTED_DIAMOND";

/// Run the service on your machine: API Gateway, Lambda, schedules and DynamoDB, as template.yaml describes
/// them
#[derive(Parser)]
#[command(name = "local", bin_name = "cargo local", display_name = "cargo local", version)]
struct Arguments {
    /// Port of the API; 0 for a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Port of Lambda's Invoke API; 0 for a free one [default: the port after --port]
    #[arg(long, value_name = "PORT")]
    lambda_port: Option<u16>,
    /// Port of DynamoDB; 0 for a free one [default: the second port after --port]
    #[arg(long, value_name = "PORT")]
    dynamodb_port: Option<u16>,
    /// Keep the tables and the public files in this folder; without it, tables are in memory
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Do not run the template's schedules
    #[arg(long)]
    no_schedules: bool,
    /// Days of past prices and candles to generate for the simulated game, 0 to 90; auctions get at least 7;
    /// 0 generates nothing. Seven days take four minutes on two processors, 0.7 GB of memory and 0.6 million
    /// rows
    #[arg(long, value_name = "DAYS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=90))]
    history: u16,
    /// Use this upstream instead of the simulator, with `HYPIXEL_API_KEY` from the environment if it is set
    #[arg(long, value_name = "URL", conflicts_with = "live")]
    upstream: Option<String>,
    /// Use the real provider; profiles need `HYPIXEL_API_KEY` in the environment
    #[arg(long)]
    live: bool,
    /// Seed of the simulated game
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["live", "upstream"])]
    seed: u64,
    /// Set a parameter of the template; can be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
    /// Cargo profile of the functions; `release` builds them as they are deployed
    #[arg(long, value_name = "NAME", default_value = "dev")]
    profile: String,
    /// Use the functions' programs in this folder instead of building them
    #[arg(long, value_name = "DIR", conflicts_with = "profile")]
    binaries: Option<PathBuf>,
    /// Maximum number of concurrent instances of a function; further requests wait
    #[arg(long, value_name = "N", default_value = "4")]
    concurrency: NonZeroU16,
}

/// Parses a base URL, and removes trailing slashes. The error does not repeat the URL, which may contain a
/// key.
fn base_url(text: &str) -> Result<String, String> {
    let url = text.parse::<Uri>().ok().filter(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
    });
    if url.is_none() || text.contains(['?', '#']) {
        return Err("--upstream must be a base URL like http://127.0.0.1:4000, without a query".to_owned());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Returns the port that is `distance` after the port of the API, or 0, a free one, if that is 0.
fn port_after(port: u16, distance: u16) -> Result<u16, String> {
    let next = if port == 0 { Some(0) } else { port.checked_add(distance) };
    next.ok_or_else(|| {
        let highest = u16::MAX - 2;
        format!(
            "--port must be at most {highest}, because the next two ports are used as well, but was {port}"
        )
    })
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Arguments {
    /// # Errors
    /// A sentence about an invalid option.
    fn options(self) -> Result<Options, String> {
        Ok(Options {
            port: self.port,
            lambda_port: self.lambda_port.map_or_else(|| port_after(self.port, 1), Ok)?,
            dynamodb_port: self.dynamodb_port.map_or_else(|| port_after(self.port, 2), Ok)?,
            data: self.data,
            schedules: !self.no_schedules,
            history: self.history,
            upstream: match self.upstream {
                Some(text) => Upstream::Url(base_url(&text)?),
                None if self.live => Upstream::Live,
                None => Upstream::Simulator { seed: self.seed },
            },
            upstream_key: std::env::var("HYPIXEL_API_KEY").ok().filter(|key| !key.is_empty()),
            parameters: BTreeMap::from_iter(self.parameters),
            binaries: self.binaries.map_or(Binaries::Build { profile: self.profile }, Binaries::Folder),
            concurrency: self.concurrency,
            access_log: Some(Arc::new(print)),
            function_log: Some(Arc::new(print_error)),
            ..Options::default()
        })
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Each thread keeps memory for the rows that it handles, so there are only as many blocking threads as
    // processors.
    let threads = std::thread::available_parallelism().map_or(2, NonZero::get).max(2);
    let runtime = Builder::new_multi_thread().max_blocking_threads(threads).enable_all().build();
    let result =
        runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(run(arguments)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            print_error(&format!("error: {sentence}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let options = arguments.options()?;
    let cloud = tokio::select! {
        started = Cloud::start(options) => started.map_err(|error| error.to_string())?,
        // Dropping the future of `Cloud::start` also ends a running cargo.
        interrupted = interruption() => return interrupted,
    };
    print_greeting(&cloud);
    let interrupted = interruption().await;
    cloud.shutdown().await;
    interrupted
}

fn print_greeting(cloud: &Cloud) {
    print(&routes(cloud.template(), cloud.keys(), &cloud.url()).trim_fmt());
    if let Some(simulator) = cloud.simulator() {
        print(&format!("upstream {}", simulator.url()));
    }
    print(&format!("dynamodb {}", cloud.dynamodb().url()));
    print(&format!("lambda {}", cloud.lambda_url()));
    if let Some(url) = cloud.files_url() {
        print(&format!("files {url}"));
    }
    for (name, key) in cloud.keys().into_iter().flat_map(Keys::named) {
        print(&format!("key {name} {}", key.expose()));
    }
    for line in pages(cloud.template(), cloud.keys(), &cloud.url()) {
        print(&line);
    }
    print(&format!("ready {}", cloud.url()));
}

/// Links to the pages, if they are on. The link to the market names an item, and carries a key in the URL
/// fragment, which browsers never send.
fn pages(template: &Template, keys: Option<&Keys>, base: &str) -> Vec<String> {
    let is_on = |path: &str| template.api.routes.iter().any(|route| route.path == path);
    let key = keys.map(|keys| format!("#key={}", keys.pro.expose())).unwrap_or_default();
    let links = [("/docs", String::new()), ("/market", format!("?item={EXAMPLE_ITEM}{key}"))];
    let shown = links.into_iter().filter(|(path, _)| is_on(path));
    shown.map(|(path, rest)| format!("{} {base}{path}{rest}", path.trim_start_matches('/'))).collect()
}

fn routes(template: &Template, keys: Option<&Keys>, base: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["METHOD", "PATH", "FUNCTION", "TTL", "EXAMPLE"]);
    for route in &template.api.routes {
        let binary = template.functions.get(&route.function).map_or("", |function| function.binary.as_str());
        let ttl = route.cache_ttl.map_or_else(|| "-".to_owned(), |ttl| format!("{} s", ttl.as_secs()));
        let authorizer = route.authorizer.as_ref().and_then(|name| template.api.authorizers.get(name));
        let header = authorizer.map(|authorizer| &authorizer.identity_header);
        let key = header.zip(keys).map(|(header, keys)| format!("-H '{header}: {}' ", keys.pro.expose()));
        let request = example(&route.method, &route.path, &key.unwrap_or_default(), base);
        table.add_row([&route.method, &route.path, binary, &ttl, &request]);
    }
    table
}

fn example(method: &str, path: &str, header: &str, base: &str) -> String {
    let query = EXAMPLE_QUERIES.iter().find(|(known, _)| *known == path).map_or("", |(_, query)| *query);
    let query = query.replace("YESTERDAY", &yesterday());
    let path = path.replace("{proxy+}", "nowhere").replace("{username}", EXAMPLE_PLAYER);
    // All other path parameters are in the addresses of a page's files. Only the page knows the values.
    if path.contains('{') {
        return "-".to_owned();
    }
    let option = match method {
        "GET" => String::new(),
        "ANY" => "-X POST ".to_owned(),
        "HEAD" => "-I ".to_owned(),
        other => format!("-X {other} "),
    };
    format!("curl {option}{header}'{base}{path}{query}'")
}

/// Returns the start of yesterday (UTC).
fn yesterday() -> String {
    let day = Duration::from_hours(24);
    UnixSeconds::from(UnixMilliseconds::of_system_clock()).rounded_down(day).minus(day).to_string()
}

/// Prints a line to standard output. A closed output is not an error.
fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints a line to standard error. A closed output is not an error.
fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// When signals cannot be received.
async fn interruption() -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot listen for signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ports of the API, Lambda and `DynamoDB`, or the error.
    fn ports(options: &str) -> Result<[u16; 3], String> {
        let arguments = Arguments::try_parse_from(["local"].into_iter().chain(options.split_whitespace()));
        let options = arguments.map_err(|error| error.to_string())?.options()?;
        Ok([options.port, options.lambda_port, options.dynamodb_port])
    }

    #[test]
    fn the_other_ports_follow_the_port_of_the_api_unless_they_are_given() {
        for (options, expected) in [
            ("", [3_000, 3_001, 3_002]),
            ("--port 4000", [4_000, 4_001, 4_002]),
            ("--port 65533", [65_533, 65_534, 65_535]),
            ("--port 0", [0, 0, 0]),
            ("--lambda-port 5000", [3_000, 5_000, 3_002]),
            ("--port 4000 --dynamodb-port 0", [4_000, 4_001, 0]),
            ("--port 0 --lambda-port 5000", [0, 5_000, 0]),
            ("--port 65535 --lambda-port 5000 --dynamodb-port 0", [65_535, 5_000, 0]),
        ] {
            assert_eq!(ports(options), Ok(expected), "{options}");
        }
        for port in ["65534", "65535", "65535 --lambda-port 1", "65535 --dynamodb-port 1"] {
            let error = ports(&format!("--port {port}")).unwrap_err();
            assert!(error.starts_with("--port must be at most 65533"), "{error}");
        }
        assert!(ports("--port 65536").is_err());
    }
}
