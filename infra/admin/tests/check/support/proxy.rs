//! A proxy between `cargo admin check` and a local cloud. It breaks the promises of a run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use local::{Cloud, Keys};
use reqwest::Client;
use reqwest::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::message::{Request, Response};
use super::mutation::Broken;
use super::stage_cache::StageCache;

/// What is between the proxy and the cloud.
pub(crate) enum Behind {
    Nothing,
    StageCache(StageCache),
    /// Hangs up after this many requests.
    Outage {
        after: usize,
    },
    /// After a request with two items, the response about the first is served for the last.
    MixedUpItems,
}

/// What the proxy needs to answer requests.
struct Upstream {
    url: String,
    keys: Keys,
    client: Client,
    broken: Arc<Vec<Broken>>,
    behind: Behind,
    requests: AtomicUsize,
    mixed_up: Mutex<HashMap<String, String>>,
}

/// A running proxy. It ends when it is dropped.
pub(crate) struct Proxy {
    pub(crate) url: String,
    _connections: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start(cloud: &Cloud, broken: Arc<Vec<Broken>>, behind: Behind) -> Self {
        let upstream = Arc::new(Upstream {
            url: cloud.url(),
            keys: cloud.keys().unwrap().clone(),
            client: common::http::client(|builder| builder).unwrap(),
            broken,
            behind,
            requests: AtomicUsize::new(0),
            mixed_up: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut connections = JoinSet::new();
        connections.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let upstream = Arc::clone(&upstream);
                served.spawn(async move {
                    let spelling = Mutex::new(key_spelling(&stream).await);
                    let service = service_fn(|request| {
                        respond(Arc::clone(&upstream), request, spelling.lock().unwrap().take())
                    });
                    let connection = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service);
                    drop(connection.await);
                });
            }
        });
        Self { url, _connections: connections }
    }
}

/// How the header with the key is spelled in the request that comes next.
async fn key_spelling(stream: &TcpStream) -> Option<String> {
    let mut head = vec![0; 4096];
    let length = stream.peek(&mut head).await.ok()?;
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let mut names = head.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name);
    names.find(|name| name.eq_ignore_ascii_case("x-api-key")).map(str::to_owned)
}

/// The response to a request of the program. An error closes the connection without a response.
async fn respond(
    upstream: Arc<Upstream>,
    request: hyper::Request<Incoming>,
    spelling: Option<String>,
) -> Result<hyper::Response<Full<Bytes>>, std::io::Error> {
    let (head, _) = request.into_parts();
    let target = head.uri.path_and_query().unwrap().as_str().to_owned();
    let request = Request { method: head.method, target, headers: head.headers, spelling };
    let response = upstream.respond(request).await.ok_or(std::io::ErrorKind::ConnectionAborted)?;
    let mut result = hyper::Response::new(Full::new(Bytes::from(response.body)));
    *result.status_mut() = response.status;
    *result.headers_mut() = response.headers;
    Ok(result)
}

impl Upstream {
    async fn respond(&self, mut request: Request) -> Option<Response> {
        for change in self.broken.iter().filter_map(|broken| broken.on_request.as_ref()) {
            change(&mut request, &self.keys);
        }
        let mut response = match &self.behind {
            Behind::Nothing => self.forward(&request).await,
            Behind::StageCache(cache) => self.through(cache, &request).await,
            Behind::Outage { after } => {
                if self.requests.fetch_add(1, Ordering::Relaxed) >= *after {
                    return None;
                }
                self.forward(&request).await
            }
            Behind::MixedUpItems => {
                self.mix_up(&mut request);
                self.forward(&request).await
            }
        };
        for change in self.broken.iter().filter_map(|broken| broken.on_response.as_ref()) {
            change(&request, &mut response);
        }
        Some(response)
    }

    async fn forward(&self, request: &Request) -> Response {
        let mut headers = request.headers.clone();
        headers.remove(HOST);
        headers.remove(CONNECTION);
        let url = format!("{}{}", self.url, request.target);
        let sent = self.client.request(request.method.clone(), url).headers(headers).send().await.unwrap();
        let (status, mut headers) = (sent.status(), sent.headers().clone());
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        Response { status, headers, body: sent.bytes().await.unwrap().to_vec() }
    }

    async fn through(&self, cache: &StageCache, request: &Request) -> Response {
        if !StageCache::handles(request) {
            return self.forward(request).await;
        }
        if cache.authorizes {
            let target = "/v1/mayor/history?limit=1".to_owned();
            let checked = self.forward(&Request { target, ..request.clone() }).await;
            if matches!(checked.status.as_u16(), 401 | 403) {
                return checked;
            }
        }
        if let Some(stored) = cache.get(request) {
            return stored;
        }
        let mut response = self.forward(request).await;
        cache.put(request, &mut response);
        response
    }

    fn mix_up(&self, request: &mut Request) {
        let (_, query) = request.target.split_once('?').unwrap_or_default();
        let ids = query.split('&').filter_map(|pair| pair.strip_prefix("id=")).map(str::to_owned);
        let ids: Vec<String> = ids.collect();
        let mut mixed_up = self.mixed_up.lock().unwrap();
        match ids.as_slice() {
            [first, last] => drop(mixed_up.insert(last.clone(), first.clone())),
            [only] => {
                if let Some(other) = mixed_up.get(only) {
                    request.target = request.target.replace(only, other);
                }
            }
            _ => {}
        }
    }
}
