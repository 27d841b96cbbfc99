//! The `simulator` command.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks to its user")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use simulator::{Clock, FaultRule, Options, Simulator};

/// Simulate the upstream: the game's public API and the player name service on one port
#[derive(Parser)]
#[command(version, after_long_help = FAULTS)]
struct Arguments {
    /// Port to listen on; 0 for a free one
    #[arg(long, default_value_t = 4000)]
    port: u16,

    /// Address to listen on
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// Seed of the game
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// A fault, as PATH=KEY:VALUE,KEY:VALUE; can be repeated
    #[arg(long = "fault", value_name = "PATH=FAULT")]
    faults: Vec<FaultRule>,
}

const FAULTS: &str = "\
Faults, as --fault PATH=KEY:VALUE,KEY:VALUE. A trailing * in PATH matches any rest.
  status:503              respond with this status and the provider's body for it
  header:Retry-After=7    set a response header; can be repeated
  delay_ms:3000           delay the response
  hang                    accept the request and never respond
  close                   close the connection without a response
  truncate:1000           send this many bytes of the body, then close
  garbage:KIND            bytes, html, wrong_shape, failure (success:false) or gzip_bomb, with status 200
  rate_limit:60           429 as for an exhausted key, with this many seconds in RateLimit-Reset
  times:2                 apply to the next two requests only
  body:TEXT               respond with this body; must be the last part, may contain commas

Examples:
  simulator --fault '/v2/skyblock/bazaar=status:503,times:2'
  simulator --fault '/v2/skyblock/auctions=delay_ms:3000' --fault '/users/profiles/minecraft/*=status:429'

While it runs:
  GET /__stats            number of requests, by path
  PUT /__control          {\"path\": \"/v2/skyblock/bazaar\", \"status\": 503, \"times\": 2}
  DELETE /__control       remove all faults, reset the counters
  /at/UNIX_MILLISECONDS/  before any path: the game at that time";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let address = SocketAddr::new(arguments.address, arguments.port);
    let options = Options { seed: arguments.seed, address, clock: Clock::system() };
    let simulator = match Simulator::start(options).await {
        Ok(simulator) => simulator,
        Err(error) => {
            eprintln!("simulator: {error}");
            return ExitCode::FAILURE;
        }
    };
    for rule in arguments.faults {
        simulator.set_fault(&rule.path, rule.fault);
    }
    println!("simulating seed {} on {}", arguments.seed, simulator.url());
    // If signals cannot be received, stop at once.
    let _ = tokio::signal::ctrl_c().await;
    ExitCode::SUCCESS
}
