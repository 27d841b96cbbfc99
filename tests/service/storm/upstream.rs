//! The upstream of the storm: serves the game and the names of its players, with faults by chance, and keeps a journal.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use simulator::{Resource, names};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::journal::{Journal, Moment};
use super::snapshot::{Game, Snapshot};
use crate::oracle::Source;

type Body = UnsyncBoxBody<Bytes, io::Error>;

const NAME_SERVICE: &str = "/users/profiles/minecraft/";

/// How likely faults are, in per mille of the requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weather {
    pub(super) faults: u32,
    /// Of the faults, how many hang.
    pub(super) hangs: u32,
}

impl Weather {
    pub(super) const CALM: Self = Self { faults: 0, hangs: 0 };
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Status(u16),
    Page(u16),
    Failure,
    Shape,
    HalfJson,
    Cut,
    Close,
    RateLimit(u64),
    Hang,
    /// Serves a good body late.
    Slow(Duration),
    NotGzip,
    HalfGzip,
    /// Serves a good body with another name of its encoding.
    OtherGzip(&'static str),
    LostPage,
    /// Serves the rows of the page before.
    RepeatedPage,
    /// Serves a body with some rows that cannot be used.
    SomeRows,
    MostRows,
}

impl Fault {
    /// A fault that the source can have, or none.
    fn any(rng: &mut Rng, weather: Weather, source: &Source) -> Option<Self> {
        if rng.u32(..1_000) >= weather.faults {
            return None;
        }
        if rng.u32(..1_000) < weather.hangs {
            return Some(Self::Hang);
        }
        let has_rows = !matches!(source, Source::Election | Source::Passed(_) | Source::Names);
        let kinds = match source {
            Source::Auctions(1..) => 18,
            Source::Auctions(_) => 17,
            _ if has_rows => 16,
            _ => 14,
        };
        Some(match rng.u32(..kinds) {
            0 => Self::Status(*rng.choice(&[500, 502, 503, 504]).unwrap()),
            1 => Self::Status(*rng.choice(&[301, 400, 401, 403, 404, 404, 418, 422, 451, 520, 530]).unwrap()),
            2 => Self::Page(*rng.choice(&[200, 403]).unwrap()),
            3 => Self::Failure,
            4 => Self::Shape,
            5 => Self::HalfJson,
            6 => Self::Cut,
            7 => Self::Close,
            8 => Self::RateLimit(rng.u64(1..20)),
            9 | 10 => {
                let longest = if weather.hangs > 0 { 6_000 } else { 1_500 };
                Self::Slow(Duration::from_millis(rng.u64(50..longest)))
            }
            11 => Self::NotGzip,
            12 => Self::HalfGzip,
            13 => Self::OtherGzip(rng.choice(["GZIP", "x-gzip", "Gzip"]).unwrap()),
            14 => Self::SomeRows,
            15 => Self::MostRows,
            16 => Self::LostPage,
            _ => Self::RepeatedPage,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Status(_) => "another status",
            Self::Page(200) => "an HTML page",
            Self::Page(_) => "a firewall's page",
            Self::Failure => "success: false",
            Self::Shape => "another shape",
            Self::HalfJson => "half a body",
            Self::Cut => "a cut body",
            Self::Close => "a closed connection",
            Self::RateLimit(_) => "429",
            Self::Hang => "no response",
            Self::Slow(_) => "a slow response",
            Self::NotGzip => "gzip that is not gzip",
            Self::HalfGzip => "half a gzip stream",
            Self::OtherGzip(_) => "gzip by another name",
            Self::RepeatedPage => "a page that repeats another one",
            Self::LostPage => "404 of a page that exists",
            Self::SomeRows => "some unusable rows",
            Self::MostRows => "most rows unusable",
        }
    }
}

/// The upstream of one cloud. Dropping it stops it.
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    server: AbortHandle,
}

struct Shared {
    game: Arc<Game>,
    journal: Arc<Journal>,
    faults: AtomicU32,
    hangs: AtomicU32,
    rng: Mutex<Rng>,
}

/// Closes the connection without a response.
#[derive(Debug)]
struct CloseConnection;

impl std::fmt::Display for CloseConnection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("closed on purpose")
    }
}

impl std::error::Error for CloseConnection {}

impl Upstream {
    pub(super) async fn start(game: Arc<Game>, journal: Arc<Journal>, seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            game,
            journal,
            faults: AtomicU32::new(0),
            hangs: AtomicU32::new(0),
            rng: Mutex::new(Rng::with_seed(seed)),
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared))).abort_handle();
        Self { address, shared, server }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn set(&self, weather: Weather) {
        self.shared.faults.store(weather.faults, Ordering::Relaxed);
        self.shared.hangs.store(weather.hangs, Ordering::Relaxed);
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(serve_connection(stream, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| respond(Arc::clone(&shared), request));
    // It fails on purpose, or because a function was killed.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Body>, CloseConnection> {
    let requested = Moment::now(&shared.journal.clock);
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let parameter = query.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
    let source = match path.as_str() {
        "/v2/resources/skyblock/election" => Source::Election,
        "/v2/resources/skyblock/items" => Source::Items,
        "/v2/skyblock/firesales" => Source::FireSales,
        "/v2/skyblock/bazaar" => Source::Bazaar,
        "/v2/skyblock/auctions" => Source::Auctions(parameter.parse().unwrap()),
        "/v2/skyblock/auctions_ended" => Source::EndedAuctions,
        "/v2/skyblock/profiles" => Source::Profiles(parameter),
        other => Resource::at(other).map_or(Source::Names, Source::Passed),
    };
    let (fault, mut rng) = {
        let mut rng = shared.rng.lock().unwrap();
        let weather = Weather {
            faults: shared.faults.load(Ordering::Relaxed),
            hangs: shared.hangs.load(Ordering::Relaxed),
        };
        (Fault::any(&mut rng, weather, &source), rng.fork())
    };
    if let Some(fault) = fault {
        shared.journal.count(fault.name());
    }
    if matches!(fault, Some(Fault::LostPage)) {
        shared.journal.lose_page();
    }
    match fault {
        Some(Fault::Hang) => return std::future::pending().await,
        Some(Fault::Close) => return Err(CloseConnection),
        Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
        Some(fault) => {
            if let Some(response) = replacement(fault) {
                return Ok(response);
            }
        }
        None => {}
    }
    if source == Source::Names {
        let found = names::lookup(shared.game.seed, path.strip_prefix(NAME_SERVICE).unwrap());
        let (status, text) = (found.status, found.body);
        return Ok(match fault {
            Some(Fault::Cut) => cut(&text.into()),
            Some(Fault::HalfJson) => response(200, text[..text.len() / 2].to_owned()),
            _ => response(status, text),
        });
    }
    let journal = Arc::clone(&shared.journal);
    let rendered = tokio::task::spawn_blocking(move || {
        let snapshot = match (fault, &source) {
            (Some(Fault::RepeatedPage), Source::Auctions(page)) => {
                let before = shared.game.snapshot(&Source::Auctions(page - 1), requested.cloud_ms);
                before.map(|before| before.repeated())
            }
            _ => shared.game.snapshot(&source, requested.cloud_ms),
        };
        snapshot.map(|snapshot| body(&journal, &snapshot, fault, &mut rng, requested))
    });
    Ok(rendered.await.unwrap().unwrap_or_else(lost_page))
}

/// The response of a fault that does not depend on the resource.
fn replacement(fault: Fault) -> Option<Response<Body>> {
    match fault {
        Fault::Status(status) => Some(response(status, "junk")),
        Fault::Page(status) => Some(response(status, "<!DOCTYPE html><html>maintenance</html>")),
        Fault::Failure => Some(response(200, r#"{"success":false,"cause":"maintenance"}"#)),
        Fault::Shape => Some(response(
            200,
            r#"{"success":true,"lastUpdated":"soon","products":[1],"auctions":{},"mayor":7,"items":"none","sales":3}"#,
        )),
        Fault::RateLimit(seconds) => {
            Some(with_header(response(429, r#"{"success":false,"throttle":true}"#), "retry-after", seconds))
        }
        Fault::NotGzip => Some(with_header(response(200, r#"{"success":true}"#), "content-encoding", "gzip")),
        Fault::LostPage => Some(lost_page()),
        _ => None,
    }
}

fn lost_page() -> Response<Body> {
    response(404, r#"{"success":false,"cause":"Page not found"}"#)
}

/// The response with this snapshot, as the fault changes it.
fn body(
    journal: &Journal,
    snapshot: &Arc<Snapshot>,
    fault: Option<Fault>,
    rng: &mut Rng,
    requested: Moment,
) -> Response<Body> {
    let gzipped = |encoding: &'static str| {
        journal.serve(snapshot, requested);
        with_header(response(200, snapshot.gzipped()), CONTENT_ENCODING.as_str(), encoding)
    };
    let spoiled = |most: bool, rng: &mut Rng| {
        let spoiled = snapshot.spoiled(rng, most).unwrap_or_else(|| Arc::clone(snapshot));
        if !spoiled.facts().is_usable() {
            journal.count("too many rows unusable");
        }
        journal.serve(&spoiled, requested);
        response(200, spoiled.text.clone())
    };
    match fault {
        Some(Fault::Cut) => cut(&snapshot.text.clone().into()),
        Some(Fault::HalfJson) => {
            let half = snapshot.text.floor_char_boundary(snapshot.text.len() / 2);
            response(200, snapshot.text[..half].to_owned())
        }
        Some(Fault::HalfGzip) => {
            let half = snapshot.gzipped();
            let half = half.slice(..half.len() / 2);
            with_header(response(200, half), CONTENT_ENCODING.as_str(), "gzip")
        }
        Some(Fault::OtherGzip(name)) => gzipped(name),
        Some(Fault::SomeRows) => spoiled(false, rng),
        Some(Fault::MostRows) => spoiled(true, rng),
        _ if rng.bool() => gzipped("gzip"),
        _ => {
            journal.serve(snapshot, requested);
            response(200, snapshot.text.clone())
        }
    }
}

/// Announces the whole body, sends half of it, and closes the connection.
fn cut(text: &Bytes) -> Response<Body> {
    let frames = [Ok(Frame::data(text.slice(..text.len() / 2))), Err(io::Error::other("cut on purpose"))];
    let mut response = response(200, Bytes::new());
    *response.body_mut() = StreamBody::new(stream::iter(frames)).boxed_unsync();
    with_header(response, CONTENT_LENGTH.as_str(), text.len())
}

fn response(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync();
    let response = Response::builder().status(status);
    response.header(CONTENT_TYPE, "application/json").body(body).unwrap()
}

fn with_header(
    mut response: Response<Body>,
    name: &'static str,
    value: impl std::fmt::Display,
) -> Response<Body> {
    let value = HeaderValue::try_from(value.to_string()).unwrap();
    response.headers_mut().insert(HeaderName::from_static(name), value);
    response
}
