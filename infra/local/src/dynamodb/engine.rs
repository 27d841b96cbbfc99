//! The engine's own server, which knows every operation and every error of `DynamoDB`, and the way to it. It runs on a
//! thread of its own because it works while it holds one: on the runtime's threads a long query would keep the gateway
//! from answering. One is enough, for the database lets in one request at a time.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StandardListener};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use dynoxide::Database;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::{Request, http::request, http::response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// Why the engine's server gave no answer, which means that it has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    #[error("no answer: {0}")]
    Http(#[from] hyper::Error),
    #[error("no request: {0}")]
    Request(#[from] hyper::http::Error),
}

pub(super) struct Engine {
    address: SocketAddr,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    /// The thread ends when it is dropped.
    _running: oneshot::Sender<()>,
}

impl Engine {
    /// Serves the database on a free port.
    ///
    /// # Errors
    /// When no port or no thread is left.
    pub(super) fn start(database: Database) -> io::Result<Self> {
        let listener = StandardListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (running, ended) = oneshot::channel();
        std::thread::Builder::new().name("dynamodb".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = dynoxide::server::serve_on(listener, database) => {}
                    _ = ended => {}
                }
            });
        })?;
        Ok(Self { address, idle: Mutex::default(), _running: running })
    }

    /// The engine's answer to a request.
    ///
    /// # Errors
    /// When the engine has ended.
    pub(super) async fn send(
        &self,
        parts: &request::Parts,
        body: Bytes,
    ) -> Result<(response::Parts, Bytes), NoAnswer> {
        let mut request = Request::builder()
            .method(parts.method.clone())
            .uri(parts.uri.path_and_query().map_or("/", |path| path.as_str()));
        for (name, value) in &parts.headers {
            // These say how the body came here, and it may not be the same body.
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                request = request.header(name, value);
            }
        }
        let request = request.body(Full::new(body))?;
        let mut connection = match self.take_idle() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let (head, body) = connection.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok((head, body))
    }

    fn take_idle(&self) -> Option<SendRequest<Full<Bytes>>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(connection) = idle.pop() {
            if connection.is_ready() {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, NoAnswer> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // It ends when its sender is dropped; an error shows there, too.
        tokio::spawn(async move { connection.await.map(drop) });
        Ok(sender)
    }
}
