//! One HTTP/1.1 server on the loopback address, four times in use: gateway, Invoke API, Runtime API, DynamoDB. It ends,
//! with all of its connections, when it is dropped.

mod request_line;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use self::request_line::Lenient;

/// After a failed accept (usually: too many open files), so that the loop does not spin.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Among the extensions of a response, it says that the connection is to be closed instead.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("closed without an answer, as asked for")]
pub(crate) struct CloseUnanswered;

#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `handler` on the listener. With `half_close` a client that has sent its request and says that nothing more
    /// will come is answered; without it, it counts as gone, and what it asked for is dropped.
    ///
    /// # Errors
    /// When the listener does not know its address.
    pub(crate) fn start<Handler, Answer>(
        listener: TcpListener,
        half_close: bool,
        handler: Handler,
    ) -> io::Result<Self>
    where
        Handler: Fn(Request<Incoming>, SocketAddr) -> Answer + Clone + Send + 'static,
        Answer: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        Ok(Self {
            address: listener.local_addr()?,
            task: tokio::spawn(accept(listener, half_close, handler)),
        })
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

async fn accept<Handler, Answer>(listener: TcpListener, half_close: bool, handler: Handler)
where
    Handler: Fn(Request<Incoming>, SocketAddr) -> Answer + Clone + Send + 'static,
    Answer: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
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
        // Without it the kernel may hold a small answer back for 40 ms. A socket that refuses is a closed one.
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        let handler = handler.clone();
        let service = service_fn(move |request| {
            let answer = handler(request, peer);
            async move {
                let response = answer.await;
                match response.extensions().get::<CloseUnanswered>() {
                    None => Ok(response),
                    Some(close) => Err(*close),
                }
            }
        });
        connections.spawn(async move {
            // An error here is a client that hung up or does not speak HTTP, which hyper has answered already.
            let _ = http1::Builder::new()
                .half_close(half_close)
                .serve_connection(TokioIo::new(Lenient::new(stream)), service)
                .await;
        });
    }
}

/// What came of reading a body.
pub(crate) enum Body {
    Whole(Bytes),
    TooLarge,
    /// The client hung up in the middle, or sent what is no chunk.
    Broken,
}

/// Reads a body to its end. What is beyond the limit is read and thrown away, so that the client, who sends before it
/// reads, gets to see the answer.
pub(crate) async fn read(mut body: Incoming, limit: usize) -> Body {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX).min(limit);
    let mut collected = BytesMut::with_capacity(expected);
    let mut too_large = false;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Body::Broken };
        let Ok(data) = frame.into_data() else { continue };
        too_large = too_large || collected.len() + data.len() > limit;
        if !too_large {
            collected.extend_from_slice(&data);
        }
    }
    if too_large { Body::TooLarge } else { Body::Whole(collected.freeze()) }
}
