//! A realistic simulated upstream over HTTP: the game's public API and the player name service, seeded, at
//! real size, with faults on demand. The tests and the local cloud use it instead of the provider.
//!
//! The game itself is a set of pure functions of seed and time ([`RESOURCES`], [`auctions`], [`profiles`],
//! [`names`]); [`Simulator`] serves them.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "in a simulated game, rounding does not matter"
)]

pub mod auctions;
pub mod bazaar;
mod chance;
mod clock;
pub mod collections;
pub mod election;
mod famous;
mod fault;
pub mod fire_sales;
mod goods;
pub mod gson;
mod item_bytes;
pub mod items;
pub mod names;
mod people;
pub mod profiles;
mod resources;
mod server;
mod trade;
mod words;
mod world;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::AbortHandle;

pub use clock::Clock;
pub use fault::{Fault, Garbage};
pub use resources::Resource;

use auctions::ended;
use world::World;

/// Each resource without parameters.
pub const RESOURCES: [Resource; 6] = [
    Resource {
        path: "/v2/skyblock/auctions_ended",
        summary: "the sales of the last 62 to 64 s, about 100; the rows agree with the pages",
        refresh_ms: ended::REFRESH_MS,
        content: "auctions",
        refreshed_at: ended::refreshed_at,
        body: ended::body,
    },
    Resource {
        path: "/v2/skyblock/bazaar",
        summary: "about 1,900 products, 3 MB; a fifth with an empty side; 20 to 60 flips",
        refresh_ms: bazaar::REFRESH_MS,
        content: "products",
        refreshed_at: bazaar::refreshed_at,
        body: bazaar::body,
    },
    Resource {
        path: "/v2/skyblock/firesales",
        summary: "announced and active sales; often none",
        refresh_ms: fire_sales::REFRESH_MS,
        content: "sales",
        refreshed_at: fire_sales::refreshed_at,
        body: fire_sales::body,
    },
    Resource {
        path: "/v2/resources/skyblock/collections",
        summary: "88 collections; the content changes every four weeks",
        refresh_ms: collections::REFRESH_MS,
        content: "collections",
        refreshed_at: collections::refreshed_at,
        body: collections::body,
    },
    Resource {
        path: "/v2/resources/skyblock/election",
        summary: "the real calendar, special mayors, hidden votes",
        refresh_ms: election::REFRESH_MS,
        content: "mayor",
        refreshed_at: election::refreshed_at,
        body: election::body,
    },
    Resource {
        path: "/v2/resources/skyblock/items",
        summary: "4,709 items, a fifth without `tier`",
        refresh_ms: items::REFRESH_MS,
        content: "items",
        refreshed_at: items::refreshed_at,
        body: items::body,
    },
];

#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of the game. All seeds share one calendar.
    pub seed: u64,
    /// The address to listen on; port 0 for a free one.
    pub address: SocketAddr,
    pub clock: Clock,
}

/// Why a simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot listen on {0}: another program uses port {port}", port = .0.port())]
    PortInUse(SocketAddr),
    /// The simulator cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A running simulator. Dropping it stops its server and closes its connections.
pub struct Simulator {
    address: SocketAddr,
    world: Arc<World>,
    server: AbortHandle,
}

impl Simulator {
    /// Starts a simulator on the current Tokio runtime.
    ///
    /// # Errors
    ///
    /// If the simulator cannot listen on the address. The error names a port that is in use.
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

    /// The base URL, such as `http://127.0.0.1:4000`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Puts `fault` on `path` until all faults are cleared, or for [`Fault::times`] requests. The fault
    /// replaces an earlier fault on the same path. If the path has a query, as in
    /// `/v2/skyblock/auctions?page=7`, the fault applies only to requests with this query. A trailing `*`
    /// matches any rest. If several paths match, the longest takes precedence.
    pub fn set_fault(&self, path: &str, fault: Fault) {
        self.world.set_fault(path, fault);
    }

    pub fn clear_faults(&self) {
        self.world.clear_faults();
    }

    /// Calls `choose` with the path and the query of each request on whose path no fault is set. `choose`
    /// returns the request's fault, and may block. If it panics, the response is a 500.
    pub fn choose_faults(&self, choose: impl Fn(&str, &str) -> Fault + Send + Sync + 'static) {
        self.world.set_choice(Arc::new(choose));
    }

    /// The number of requests for `path` with any query, including requests that got a fault. A trailing `*`
    /// in `path` matches any rest.
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
