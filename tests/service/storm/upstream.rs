//! The upstream of the storm serves the game and the names of its players, with random faults, and keeps a journal.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use simulator::{Resource, names};
use tokio::net::TcpListener;

use super::journal::{Journal, Moment};
use super::snapshot::{Game, Snapshot};
use crate::oracle::Source;

type Body = UnsyncBoxBody<Bytes, io::Error>;

const NAME_SERVICE: &str = "/users/profiles/minecraft/";

/// The probability of faults.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weather {
    /// Faults per 1,000 requests.
    pub(super) faults: u32,
    /// Hanging requests per 1,000 faults.
    pub(super) hangs: u32,
}

impl Weather {
    pub(super) const CALM: Self = Self { faults: 0, hangs: 0 };
}

/// Statuses that something in front of the provider sends, or that the provider sends while a refresh makes a path unavailable for a moment.
const STATUSES: [u16; 12] = [500, 502, 503, 504, 301, 400, 401, 403, 404, 404, 422, 530];

/// Bodies that are not valid responses, with their statuses.
const BODIES: [(u16, &str); 4] = [
    (200, "<!DOCTYPE html><html>maintenance</html>"),
    (403, "<!DOCTYPE html><html>maintenance</html>"),
    (200, r#"{"success":false,"cause":"maintenance"}"#),
    (
        200,
        r#"{"success":true,"lastUpdated":"soon","products":[1],"auctions":{},"mayor":7,"items":"none","sales":3}"#,
    ),
];

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Another status or body.
    Other(u16, &'static str),
    HalfJson,
    Cut,
    Close,
    RateLimit(u64),
    Hang,
    /// A good body, but late.
    Slow(Duration),
    /// A 404 for a page that exists.
    LostPage,
    /// The rows of the previous page.
    RepeatedPage,
    /// A body with some unusable rows.
    SomeRows,
    MostRows,
}

impl Fault {
    /// A random fault that the source can have, or none.
    fn any(rng: &mut Rng, weather: Weather, source: &Source) -> Option<Self> {
        if rng.u32(..1_000) >= weather.faults {
            return None;
        }
        if rng.u32(..1_000) < weather.hangs {
            return Some(Self::Hang);
        }
        let kinds = match source {
            Source::Election | Source::Passed(_) | Source::Names => 12,
            Source::Auctions(1..) => 16,
            Source::Auctions(0) => 15,
            _ => 14,
        };
        Some(match rng.u32(..kinds) {
            0..3 => Self::Other(*rng.choice(&STATUSES).unwrap(), "junk"),
            3..6 => {
                let (status, body) = *rng.choice(&BODIES).unwrap();
                Self::Other(status, body)
            }
            6 => Self::HalfJson,
            7 => Self::Cut,
            8 => Self::Close,
            9 => Self::RateLimit(rng.u64(1..20)),
            10 | 11 => {
                let longest = if weather.hangs > 0 { 6_000 } else { 1_500 };
                Self::Slow(Duration::from_millis(rng.u64(50..longest)))
            }
            12 => Self::SomeRows,
            13 => Self::MostRows,
            14 => Self::LostPage,
            _ => Self::RepeatedPage,
        })
    }
}

pub(super) struct Upstream {
    pub(super) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    game: Game,
    journal: Arc<Journal>,
    weather: Mutex<Weather>,
    rng: Mutex<Rng>,
}

impl Upstream {
    pub(super) async fn start(game: Game, journal: Arc<Journal>, seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            game,
            journal,
            weather: Mutex::new(Weather::CALM),
            rng: Mutex::new(Rng::with_seed(seed)),
        });
        tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { url, shared }
    }

    pub(super) fn set(&self, weather: Weather) {
        *self.shared.weather.lock().unwrap() = weather;
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| respond(Arc::clone(&shared), request));
        // The connection may fail on purpose, or because a function was killed.
        tokio::spawn(Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn source_at(path: &str, parameter: String) -> Source {
    match path {
        "/v2/resources/skyblock/election" => Source::Election,
        "/v2/resources/skyblock/items" => Source::Items,
        "/v2/skyblock/firesales" => Source::FireSales,
        "/v2/skyblock/bazaar" => Source::Bazaar,
        "/v2/skyblock/auctions" => Source::Auctions(parameter.parse().unwrap()),
        "/v2/skyblock/auctions_ended" => Source::EndedAuctions,
        "/v2/skyblock/profiles" => Source::Profiles(parameter),
        other => Resource::at(other).map_or(Source::Names, Source::Passed),
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let requested = Moment::now(&shared.journal.clock);
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let parameter = query.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
    let source = source_at(&path, parameter);
    let (fault, mut rng) = {
        let mut rng = shared.rng.lock().unwrap();
        let weather = *shared.weather.lock().unwrap();
        (Fault::any(&mut rng, weather, &source), rng.fork())
    };
    if let Some(fault) = fault {
        // Counts the fault without its parameters.
        shared.journal.count(format!("{fault:?}").split('(').next().unwrap());
    }
    match fault {
        Some(Fault::Hang) => return std::future::pending().await,
        Some(Fault::Close) => return Err(io::Error::other("closed on purpose")),
        Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
        Some(Fault::Other(status, body)) => return Ok(response(status, body)),
        Some(Fault::RateLimit(seconds)) => {
            return Ok(with_header(
                response(429, r#"{"success":false,"throttle":true}"#),
                RETRY_AFTER,
                seconds,
            ));
        }
        Some(Fault::LostPage) => {
            shared.journal.entries().lost_pages.push(requested.cloud_ms);
            return Ok(lost_page());
        }
        _ => {}
    }
    if source == Source::Names {
        let found = names::lookup(shared.game.seed, path.strip_prefix(NAME_SERVICE).unwrap());
        return Ok(match fault {
            Some(Fault::Cut) => cut(&found.body.into()),
            Some(Fault::HalfJson) => response(200, found.body[..found.body.len() / 2].to_owned()),
            _ => response(found.status, found.body),
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

fn lost_page() -> Response<Body> {
    response(404, r#"{"success":false,"cause":"Page not found"}"#)
}

/// The response with this snapshot, changed by the fault.
fn body(
    journal: &Journal,
    snapshot: &Arc<Snapshot>,
    fault: Option<Fault>,
    rng: &mut Rng,
    requested: Moment,
) -> Response<Body> {
    let spoiled = |most: bool, rng: &mut Rng| {
        let spoiled = snapshot.spoiled(rng, most).unwrap_or_else(|| Arc::clone(snapshot));
        if !spoiled.facts().is_usable() {
            journal.count("too many unusable rows");
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
        Some(Fault::SomeRows) => spoiled(false, rng),
        Some(Fault::MostRows) => spoiled(true, rng),
        _ => {
            journal.serve(snapshot, requested);
            if rng.bool() {
                return with_header(response(200, snapshot.gzipped()), CONTENT_ENCODING, "gzip");
            }
            response(200, snapshot.text.clone())
        }
    }
}

/// Announces the whole body, sends half of it, and closes the connection.
fn cut(text: &Bytes) -> Response<Body> {
    let frames = [Ok(Frame::data(text.slice(..text.len() / 2))), Err(io::Error::other("cut on purpose"))];
    let mut response = response(200, Bytes::new());
    *response.body_mut() = StreamBody::new(stream::iter(frames)).boxed_unsync();
    with_header(response, CONTENT_LENGTH, text.len())
}

fn response(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync();
    let response = Response::builder().status(status);
    response.header(CONTENT_TYPE, "application/json").body(body).unwrap()
}

fn with_header(
    mut response: Response<Body>,
    name: HeaderName,
    value: impl std::fmt::Display,
) -> Response<Body> {
    let value = HeaderValue::try_from(value.to_string()).unwrap();
    response.headers_mut().insert(name, value);
    response
}
