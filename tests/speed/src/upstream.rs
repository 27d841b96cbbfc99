//! Serves the captures as the provider and the name service, from memory and compressed in advance, so that a
//! fetch costs as little as possible.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};

use crate::server::Server;

pub(crate) const BAZAAR: &str = "/v2/skyblock/bazaar";
pub(crate) const AUCTIONS: &str = "/v2/skyblock/auctions?page=0";
pub(crate) const ITEMS: &str = "/v2/resources/skyblock/items";
/// The player with the largest profiles.
pub(crate) const PLAYER: &str = "Co_op_Farmer";
pub(crate) const PLAYER_NAME: &str = "/users/profiles/minecraft/co_op_farmer";
pub(crate) const PLAYER_PROFILES: &str = "/v2/skyblock/profiles?uuid=7da0c47581dc42b4962118f8049147b7";

const FOUND_PLAYER: &str = r#"{"id":"7da0c47581dc42b4962118f8049147b7","name":"Co_op_Farmer"}"#;
const CAPTURED_PROFILES: &str = "profiles/v2-elite-7da0c475.json";

/// The field with the body's time. Successive bodies have different times, so that no function recognises a
/// body.
const VARIED: &str = "\"lastUpdated\":";

/// The server in place of the provider and the name service. Dropping it closes all connections.
#[derive(Debug)]
pub(crate) struct Upstream {
    server: Server,
}

/// The compressed variants of the body at each target, and the number of served bodies.
#[derive(Default)]
struct Bodies {
    by_target: HashMap<&'static str, Vec<Bytes>>,
    served: AtomicUsize,
}

impl Upstream {
    /// # Errors
    /// If there are no captures, or no port is free.
    pub(crate) async fn start() -> Result<Self, String> {
        let mut bodies = Bodies::default();
        for (target, folder) in [(BAZAAR, "bazaar"), (AUCTIONS, "auctions"), (ITEMS, "items")] {
            let name = captures::newest(folder).ok_or_else(|| missing(folder))?;
            bodies.insert(target, &captured(&name)?)?;
        }
        bodies.insert(PLAYER_NAME, FOUND_PLAYER)?;
        bodies.insert(PLAYER_PROFILES, &captured(CAPTURED_PROFILES)?)?;
        let bodies = Arc::new(bodies);
        let server = Server::start(move |request| {
            let response = bodies.respond(&request);
            async move { response }
        });
        Ok(Self { server: server.await? })
    }

    /// The base URL of both services.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }
}

impl Bodies {
    fn insert(&mut self, target: &'static str, body: &str) -> Result<(), String> {
        let bodies = variants(body).unwrap_or_else(|| vec![body.to_owned()]);
        let compressed = bodies.iter().map(|variant| compress(variant)).collect::<Result<_, _>>()?;
        self.by_target.insert(target, compressed);
        Ok(())
    }

    fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let target = request.uri().path_and_query().map(|target| target.as_str().to_lowercase());
        let variants = target.and_then(|target| self.by_target.get(target.as_str()));
        let turn = self.served.fetch_add(1, Ordering::Relaxed);
        let Some(body) = variants.and_then(|variants| variants.get(turn % variants.len())) else {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        };
        let mut response = Response::new(Full::new(body.clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    }
}

/// Two variants of the body with different times. `None` if the body has no time.
fn variants(body: &str) -> Option<Vec<String>> {
    let (before, after) = body.split_once(VARIED)?;
    let (number, rest) = after.split_once(',')?;
    let time: i64 = number.trim().parse().ok()?;
    Some([time, time + 1].map(|time| format!("{before}{VARIED}{time},{rest}")).into())
}

/// Compresses with the usual level of servers. The provider's level is unknown.
fn compress(body: &str) -> Result<Bytes, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    let compressed = encoder.write_all(body.as_bytes()).and_then(|()| encoder.finish());
    compressed.map(Bytes::from).map_err(|error| format!("cannot compress a capture: {error}"))
}

fn captured(name: &str) -> Result<String, String> {
    captures::text(name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> String {
    format!("there is no capture {name}; tests/README.md names the folder of captures")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_bodies_differ_in_their_time_only() {
        let bodies = variants(r#"{"lastUpdated": 1239,"rows":[]}"#).unwrap();
        assert_eq!(bodies, [r#"{"lastUpdated":1239,"rows":[]}"#, r#"{"lastUpdated":1240,"rows":[]}"#]);
        assert_eq!(variants("[]"), None);
    }
}
