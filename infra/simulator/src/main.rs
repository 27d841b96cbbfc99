//! The `simulator` command: a game upstream to point a service at.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks to its user")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use simulator::{Clock, FaultRule, Options, Simulator};

/// A believable game upstream: the game's public API and the player name service on one port.
#[derive(Parser)]
#[command(version, after_long_help = FAULTS)]
struct Arguments {
    /// The port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 4000)]
    port: u16,

    /// The address to listen on
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// Another seed is another game on the same calendar
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// A fault from the start, as PATH=KEY:VALUE,KEY:VALUE; can be given several times
    #[arg(long = "fault", value_name = "PATH=FAULT")]
    faults: Vec<FaultRule>,
}

const FAULTS: &str = "\
Faults, as --fault PATH=KEY:VALUE,KEY:VALUE. A * at the end of PATH stands for any rest.
  status:503              answer with this status and the provider's body for it
  header:Retry-After=7    set a header, also on the game's own answer; several are possible
  delay_ms:3000           wait first
  hang                    accept and never answer
  close                   close the connection without an answer
  truncate:1000           send so many bytes of the body, then close
  garbage:KIND            bytes, html, wrong_shape, failure (success:false) or gzip_bomb, with status 200
  rate_limit:60           429 as for a used-up key, with so many seconds in RateLimit-Reset
  times:2                 only for the next two requests
  body:TEXT               answer with this body; always the last part, commas are its own

Examples:
  simulator --fault '/v2/skyblock/bazaar=status:503,times:2'
  simulator --fault '/v2/skyblock/auctions=delay_ms:3000' --fault '/users/profiles/minecraft/*=status:429'

While it runs:
  GET /__stats            requests seen, by path
  PUT /__control          {\"path\": \"/v2/skyblock/bazaar\", \"status\": 503, \"times\": 2}
  DELETE /__control       no faults, counters to zero
  /at/UNIX_MILLISECONDS/  in front of any path: the game as it was at that moment";

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
    // If waiting fails, there is nothing to wait for: stop as if interrupted.
    let _ = tokio::signal::ctrl_c().await;
    ExitCode::SUCCESS
}
