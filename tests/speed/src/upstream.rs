//! The provider and the name service from memory: the captures at their paths, compressed once, so that a fetch costs as
//! little as it can.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;

use crate::server::Server;

/// The provider's paths and the folders of their captures.
const CAPTURES: [(&str, &str); 5] = [
    ("/v2/skyblock/bazaar", "bazaar"),
    ("/v2/skyblock/firesales", "firesales"),
    ("/v2/skyblock/auctions?page=0", "auctions"),
    ("/v2/resources/skyblock/items", "items"),
    ("/v2/resources/skyblock/election", "election"),
];

/// The player with the largest profiles.
pub(crate) const PLAYER: &str = "Co_op_Farmer";

/// Each fetch gets another body than the one before it, so that no function recognises one that it has already read: the last
/// digit of the first `lastUpdated` differs.
const VARIANTS: [u8; 3] = *b"357";
const VARIED: &[u8] = b"\"lastUpdated\":";

/// What the provider sends as it is; larger bodies are compressed.
const UNCOMPRESSED_BYTES: usize = 1024;
/// The provider's level is not known. It is that of most servers.
const LEVEL: Compression = Compression::new(6);

#[derive(Deserialize)]
struct Player {
    id: String,
    name: String,
    profiles: String,
}

struct Variant {
    plain: Bytes,
    gzip: Bytes,
}

#[derive(Default)]
struct Bodies {
    by_target: HashMap<String, Vec<Variant>>,
    served: AtomicUsize,
}

/// The provider and the name service. Dropping it closes all connections.
#[derive(Debug)]
pub(crate) struct Upstream {
    server: Server,
}

impl Upstream {
    /// # Errors
    /// A sentence, when there are no captures or no port is free.
    pub(crate) async fn start() -> Result<Self, String> {
        let folder =
            captures::folder().ok_or("there are no captures; tests/README.md says where they belong")?;
        let bodies = Arc::new(Bodies::read(&folder)?);
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
    fn read(folder: &Path) -> Result<Self, String> {
        let mut bodies = Self::default();
        for (target, kind) in CAPTURES {
            let name = captures::newest(kind).ok_or_else(|| format!("there is no capture in {kind}"))?;
            bodies.insert(target.to_owned(), &read(&folder.join(name))?)?;
        }
        let players = read(&folder.join("mojang/players.json"))?;
        let players: HashMap<String, Player> = serde_json::from_slice(&players)
            .map_err(|error| format!("the captured players are not as expected: {error}"))?;
        for (name, player) in players {
            let found = serde_json::json!({"id": player.id, "name": player.name}).to_string();
            bodies.insert(format!("/users/profiles/minecraft/{name}"), found.as_bytes())?;
            let profiles = read(&folder.join(player.profiles))?;
            bodies.insert(format!("/v2/skyblock/profiles?uuid={}", player.id), &profiles)?;
        }
        Ok(bodies)
    }

    fn insert(&mut self, target: String, body: &[u8]) -> Result<(), String> {
        let variants = variants(body).into_iter().map(Variant::new).collect::<Result<_, _>>()?;
        self.by_target.insert(target, variants);
        Ok(())
    }

    fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let target = request.uri().path_and_query().map(|target| target.as_str().to_lowercase());
        let variants = target.and_then(|target| self.by_target.get(&target));
        let turn = self.served.fetch_add(1, Ordering::Relaxed);
        let Some(variant) = variants.and_then(|variants| variants.get(turn % variants.len())) else {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        };
        let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let is_gzip = accepted.is_some_and(|accepted| accepted.contains("gzip")) && !variant.gzip.is_empty();
        let body = if is_gzip { &variant.gzip } else { &variant.plain };
        let mut response = Response::new(Full::new(body.clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if is_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

impl Variant {
    fn new(plain: Vec<u8>) -> Result<Self, String> {
        let mut gzip = Vec::new();
        if plain.len() > UNCOMPRESSED_BYTES {
            let mut encoder = GzEncoder::new(&mut gzip, LEVEL);
            let written = encoder.write_all(&plain).and_then(|()| encoder.finish().map(|_| ()));
            written.map_err(|error| format!("cannot compress a capture: {error}"))?;
        }
        Ok(Self { plain: plain.into(), gzip: gzip.into() })
    }
}

/// The body, with other times if it has any.
fn variants(body: &[u8]) -> Vec<Vec<u8>> {
    let field = body.windows(VARIED.len()).position(|window| window == VARIED);
    let Some(value) = field.map(|field| field + VARIED.len()) else { return vec![body.to_vec()] };
    let ends_number = |byte: &u8| !byte.is_ascii_digit() && *byte != b' ';
    let end = body.iter().skip(value).position(ends_number).map_or(body.len(), |count| value + count);
    let of_digit = |digit| {
        let mut varied = body.to_vec();
        if let Some(last) = end.checked_sub(1).and_then(|last| varied.get_mut(last)) {
            *last = digit;
        }
        varied
    };
    VARIANTS.map(of_digit).into()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_bodies_differ_in_their_time_only() {
        let bodies = variants(br#"{"lastUpdated": 1234,"rows":[]}"#);
        let texts: Vec<_> = bodies.iter().map(|body| std::str::from_utf8(body).unwrap()).collect();
        assert_eq!(texts[0], r#"{"lastUpdated": 1233,"rows":[]}"#);
        assert_eq!(texts[1], r#"{"lastUpdated": 1235,"rows":[]}"#);
        assert_eq!(texts.len(), VARIANTS.len());
        assert_eq!(variants(b"[]"), [b"[]".to_vec()]);
    }
}
