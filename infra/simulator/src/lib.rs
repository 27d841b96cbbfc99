//! A believable game upstream over HTTP: the game's public API and the player name service, seeded, at real size, with
//! faults on demand. The service's tests and the local cloud talk to it instead of the real provider.
//!
//! The game itself is a set of pure functions of seed and time ([`bazaar`], [`auctions`], [`items`], [`collections`],
//! [`election`], [`fire_sales`], [`profiles`], [`names`]); [`Simulator`] serves them. Any past moment can be asked for:
//! `/at/UNIX_MILLISECONDS` in front of a path means the game as it was then.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "amounts of a made-up game: it does not matter where they are rounded"
)]

pub mod auctions;
pub mod bazaar;
mod chance;
mod clock;
pub mod collections;
pub mod election;
mod fault;
pub mod fire_sales;
pub mod gson;
mod item_bytes;
pub mod items;
pub mod names;
pub mod profiles;
mod server;
mod words;
mod world;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::AbortHandle;

pub use clock::Clock;
pub use fault::{Fault, FaultError, FaultRule, Garbage};

use world::World;

/// What game to play, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed: another seed is another game on the same calendar.
    pub seed: u64,
    /// The address to listen on; port 0 takes a free one.
    pub address: SocketAddr,
    /// The game's time.
    pub clock: Clock,
}

/// Why a simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken.
    #[error("cannot listen on {0}: another program uses port {port}", port = .0.port())]
    PortInUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A running simulator. Dropping it stops its server and closes its connections.
#[derive(Debug)]
pub struct Simulator {
    address: SocketAddr,
    world: Arc<World>,
    server: AbortHandle,
}

impl Simulator {
    /// A simulator that answers from now on. It runs on the Tokio runtime of the caller.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on; a port in use is named.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let listen_error = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::AddrInUse => Error::PortInUse(options.address),
            _ => Error::Listen { address: options.address, source },
        };
        let listener = TcpListener::bind(options.address).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let world = Arc::new(World::new(options.seed, options.clock));
        let server = tokio::spawn(server::serve(listener, Arc::clone(&world))).abort_handle();
        Ok(Self { address, world, server })
    }

    /// The base URL, such as `http://127.0.0.1:4000`. With `/at/UNIX_MILLISECONDS` behind, it is the game as it was at
    /// that moment.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Puts `fault` on `path` (without query and `/at/...`) until cleared, or for [`Fault::times`] requests. It replaces
    /// an earlier fault on that path. A last `*` in `path` stands for any rest, as in `/users/profiles/minecraft/*`;
    /// a fault on the exact path goes first.
    pub fn set_fault(&self, path: &str, fault: Fault) {
        self.world.set_fault(FaultRule { path: path.to_owned(), fault });
    }

    /// Takes all faults away.
    pub fn clear_faults(&self) {
        self.world.clear_faults();
    }

    /// Takes all faults away and sets the counters to zero.
    pub fn reset(&self) {
        self.world.reset();
    }

    /// The number of requests for `path` (without query and `/at/...`) since the start or the last reset, faulty ones
    /// included. A last `*` in `path` stands for any rest.
    #[must_use]
    pub fn requests(&self, path: &str) -> u64 {
        self.world.requests(path)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.server.abort();
    }
}
