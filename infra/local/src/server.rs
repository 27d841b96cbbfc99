//! An HTTP/1.1 server on the loopback address. The gateway, the Invoke API, the Runtime API and DynamoDB each
//! have one. Dropping a server closes all its connections.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// The pause after a failed accept, usually because of too many open files. It keeps the loop from spinning.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(50);

/// An extension of a response that closes the connection instead of sending the response.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the connection is closed without a response, on demand")]
pub(crate) struct CloseConnection;

#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `handler` on the listener. With `half_close`, a client that closes its side of the connection
    /// after its request still gets the response. Without it, the request is dropped.
    pub(crate) fn start<Handler, Responding>(
        listener: TcpListener,
        half_close: bool,
        handler: Handler,
    ) -> io::Result<Self>
    where
        Handler: Fn(Request<Incoming>, SocketAddr) -> Responding + Clone + Send + 'static,
        Responding: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    Some(_) = connections.join_next() => continue,
                };
                let Ok((stream, peer)) = accepted else {
                    tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
                    continue;
                };
                // Without this option, the kernel may delay a small response by 40 ms. Setting it fails only
                // on a closed socket.
                if stream.set_nodelay(true).is_err() {
                    continue;
                }
                let handler = handler.clone();
                let service = service_fn(move |request| {
                    let responding = handler(request, peer);
                    async move {
                        let response = responding.await;
                        match response.extensions().get::<CloseConnection>() {
                            None => Ok(response),
                            Some(close) => Err(*close),
                        }
                    }
                });
                connections.spawn(async move {
                    // An error means that the client disconnected, or sent no HTTP and got hyper's response.
                    let _ = http1::Builder::new()
                        .half_close(half_close)
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(Self { address, task })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) enum Body {
    Complete(Bytes),
    TooLarge,
    /// The client disconnected, or the chunks are malformed.
    Incomplete,
}

/// Reads a body to its end. Bytes beyond the limit are read and discarded: some clients read the response
/// only after they have sent everything.
pub(crate) async fn read(mut body: Incoming, limit: usize) -> Body {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX).min(limit);
    let mut collected = BytesMut::with_capacity(expected);
    let mut too_large = false;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Body::Incomplete };
        let Ok(data) = frame.into_data() else { continue };
        too_large = too_large || collected.len() + data.len() > limit;
        if !too_large {
            collected.extend_from_slice(&data);
        }
    }
    if too_large { Body::TooLarge } else { Body::Complete(collected.freeze()) }
}

pub(crate) fn empty_response(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

pub(crate) fn json_response(status: StatusCode, body: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = empty_response(status);
    *response.body_mut() = Full::new(Bytes::from(body.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
