//! The `simulator` command.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks to its user")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use simulator::{Clock, Options, Simulator};

/// Simulate the upstream: the game's public API and the player name service on one port
#[derive(Parser)]
#[command(version)]
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
}

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
    println!("simulating seed {} on {}", arguments.seed, simulator.url());
    // If signals cannot be received, the simulator stops at once.
    let _ = tokio::signal::ctrl_c().await;
    ExitCode::SUCCESS
}
