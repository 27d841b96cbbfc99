//! The HTTP server: the provider's paths and errors, and faults. It uses hyper directly, because a fault must
//! be able to drop a connection.

use std::convert::Infallible;
use std::io;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
};
use hyper::http::uri::PathAndQuery;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::fault::{Fault, Garbage};
use crate::item_bytes::gzip;
use crate::resources::Resource;
use crate::world::{RateLimit, Rendered, Target, World, provider_error};

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// The supported times in Unix milliseconds: the years 2001 to 2286.
const MOMENTS: RangeInclusive<i64> = 1_000_000_000_000..=9_999_999_999_999;

const NAME_SERVICE: &str = "/users/profiles/minecraft/";

/// The inflated size of a [`Garbage::GzipBomb`], in bytes.
const BOMB_BYTES: usize = 48 << 20;

/// The delay before a truncated response ends, so that its bytes are sent.
const TRUNCATION_PAUSE: Duration = Duration::from_millis(20);

static BOMB: LazyLock<Bytes> = LazyLock::new(|| {
    let mut text = vec![b' '; BOMB_BYTES];
    text.extend(br#"{"success":true}"#);
    gzip(&text, Compression::best()).into()
});

/// Closes the connection without a response.
#[derive(Debug, thiserror::Error)]
#[error("closed on demand")]
struct CloseConnection;

/// Accepts connections until the task is aborted, which also closes all connections.
pub(crate) async fn serve(listener: TcpListener, world: Arc<World>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, Arc::clone(&world)));
                }
                // Out of file descriptors, or the client is gone: try again, but not in a tight loop.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection(stream: TcpStream, world: Arc<World>) {
    // Without this option, the kernel may delay a small response by 40 ms.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| respond(Arc::clone(&world), request));
    // An error means that the client disconnected, or that a fault closed the connection.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(world: Arc<World>, request: Request<Incoming>) -> Result<Response<Body>, CloseConnection> {
    let path = request.uri().path().to_owned();
    if request.method() != Method::GET {
        return Ok(error(405, "Method not allowed"));
    }
    let target = request.uri().path_and_query().map_or(path.as_str(), PathAndQuery::as_str);
    let fault = match world.admit(&path, target) {
        Some(fault) => fault,
        None => chosen_fault(&world, request.uri().clone()).await,
    };
    tokio::time::sleep(Duration::from_millis(fault.delay_ms)).await;
    if fault.hang {
        return std::future::pending().await;
    }
    if fault.close {
        return Err(CloseConnection);
    }
    let response = match fault_response(&fault, &path).await {
        Some(response) => response,
        None => game_response(world, &request, &path, &fault).await,
    };
    Ok(finish(response, &fault))
}

/// The fault that a test's function chooses, if it has set one. The function may block.
async fn chosen_fault(world: &World, uri: Uri) -> Fault {
    let Some(choose) = world.choice() else { return Fault::default() };
    let chosen = tokio::task::spawn_blocking(move || choose(uri.path(), uri.query().unwrap_or_default()));
    chosen.await.unwrap_or_else(|_| Fault::status(500))
}

/// The response of the fault, if the fault replaces the game's response.
async fn fault_response(fault: &Fault, path: &str) -> Option<Response<Body>> {
    if let Some(reset) = fault.rate_limit {
        let mut response =
            json(429, fault.body.clone().unwrap_or_else(|| error_body(429, path).into_bytes()));
        limit_headers(
            &mut response,
            &RateLimit { limit: RateLimit::LIMIT, remaining: 0, reset_seconds: reset.into() },
        );
        return Some(response);
    }
    let status = fault.status.unwrap_or(200);
    if let Some(body) = &fault.body {
        return Some(json(status, body.clone()));
    }
    if let Some(garbage) = fault.garbage
        && let Some(response) = garbage_response(status, garbage).await
    {
        return Some(response);
    }
    fault.status.map(|status| json(status, error_body(status, path)))
}

async fn garbage_response(status: u16, garbage: Garbage) -> Option<Response<Body>> {
    let response = match garbage {
        Garbage::Bytes => {
            let mut bytes = vec![0; 4_096];
            fastrand::Rng::with_seed(1).fill(&mut bytes);
            json(status, bytes)
        }
        Garbage::Html => {
            let page = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n<body>cloudflare</body></html>\n";
            let mut response = json(status, page);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=UTF-8"));
            response
        }
        Garbage::WrongShape => {
            let body = r#"{"success":true,"lastUpdated":"soon","products":[1],"auctions":{},"mayor":7,"items":"none"}"#;
            json(status, body)
        }
        Garbage::Failure => {
            json(status, r#"{"success":false,"cause":"This endpoint is currently disabled"}"#)
        }
        Garbage::GzipBomb => {
            let bomb = tokio::task::spawn_blocking(|| BOMB.clone()).await.unwrap_or_default();
            let mut response = json(status, bomb);
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        }
    };
    Some(response)
}

async fn game_response(
    world: Arc<World>,
    request: &Request<Incoming>,
    path: &str,
    fault: &Fault,
) -> Response<Body> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let is_keyed = path == "/v2/skyblock/profiles";
    let target = match header("API-Key") {
        None | Some("") if is_keyed => return error(400, "Missing API-Key header"),
        Some("invalid") if is_keyed => return error(403, "Invalid API key"),
        _ => target(path, request.uri().query().unwrap_or_default()),
    };
    let limit = is_keyed.then(|| world.use_key());
    let mut response = match target {
        Err((status, cause)) => error(status, cause),
        Ok(target) => {
            let accepts_gzip = fault.truncate.is_none()
                && header(ACCEPT_ENCODING.as_str()).is_some_and(|accepted| accepted.contains("gzip"));
            let now_ms = world.now_ms().clamp(*MOMENTS.start(), *MOMENTS.end()) - i64::from(fault.back_ms);
            let render = move || world.render(&target, now_ms, accepts_gzip);
            match tokio::task::spawn_blocking(render).await {
                Ok(Rendered { status, body, is_gzipped }) => {
                    let mut response = json(status, body);
                    if is_gzipped {
                        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                    }
                    response
                }
                Err(_) => error(500, "The simulator failed"),
            }
        }
    };
    if let Some(limit) = limit {
        limit_headers(&mut response, &limit);
    }
    response
}

/// Returns the target of the request, or the provider's error: the status and the cause.
fn target(path: &str, query: &str) -> Result<Target, (u16, &'static str)> {
    // As with the provider, the last value of a repeated parameter wins.
    let parameter = |name: &str| {
        query
            .split('&')
            .rev()
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    };
    match path {
        "/v2/skyblock/auctions" => {
            let page = parameter("page").unwrap_or("0");
            if page.is_empty() || !page.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err((422, "Invalid page"));
            }
            page.parse().map(Target::Auctions).map_err(|_| (404, "Page not found"))
        }
        "/v2/skyblock/profiles" => {
            let given = parameter("uuid").ok_or((400, "Missing one or more fields [...]"))?;
            let uuid = given.replace('-', "").to_ascii_lowercase();
            if uuid.len() != 32 || !uuid.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err((422, "Malformed UUID"));
            }
            Ok(Target::Profiles(uuid))
        }
        _ => match (path.strip_prefix(NAME_SERVICE), Resource::at(path)) {
            (Some(name), _) => Ok(Target::Name(name.to_owned())),
            (None, Some(resource)) => Ok(Target::Resource(resource)),
            (None, None) => Err((404, "Not found")),
        },
    }
}

/// Sets the fault's headers and truncates the body.
fn finish(mut response: Response<Body>, fault: &Fault) -> Response<Body> {
    for (name, value) in &fault.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    let Some(keep) = fault.truncate else { return response };
    let (mut parts, body) = response.into_parts();
    // `Content-Length` is the length of the complete body.
    if let Some(length) = hyper::body::Body::size_hint(&body).exact() {
        parts.headers.insert(CONTENT_LENGTH, length.into());
    }
    parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Response::from_parts(parts, truncated(body, keep))
}

/// The first `keep` bytes of `body`, then an error, at which hyper closes the connection.
fn truncated(body: Body, keep: usize) -> Body {
    let kept = stream::once(async move {
        let bytes = body.collect().await?.to_bytes();
        Ok(Frame::data(bytes.slice(..keep.min(bytes.len()))))
    });
    let cut = stream::once(async {
        // Without a pause, hyper would drop the bytes in its buffer.
        tokio::time::sleep(TRUNCATION_PAUSE).await;
        Err(io::Error::other("truncated on demand"))
    });
    StreamBody::new(kept.chain(cut)).boxed_unsync()
}

fn json(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let mut response =
        Response::new(Full::new(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn error(status: u16, cause: &str) -> Response<Body> {
    json(
        status,
        crate::gson::object(128, |root| {
            root.key("success").boolean(false);
            root.key("cause").string(cause);
        }),
    )
}

/// The provider's body for an error status on this path.
fn error_body(status: u16, path: &str) -> String {
    if path.starts_with(NAME_SERVICE) {
        // The name service's 429 has no message.
        return format!("{{\n  \"path\" : \"{path}\"\n}}");
    }
    provider_error(status).to_owned()
}

fn limit_headers(response: &mut Response<Body>, limit: &RateLimit) {
    let headers = response.headers_mut();
    headers.insert("RateLimit-Limit", limit.limit.into());
    headers.insert("RateLimit-Remaining", limit.remaining.into());
    headers.insert("RateLimit-Reset", limit.reset_seconds.into());
}
