//! The engine's own server, which implements every operation and error of `DynamoDB`, and a client for it. The engine
//! blocks its thread, so the server has a separate thread: on the runtime's threads, a long query would block the gateway.
//! One thread is enough, because the database handles one request at a time.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StandardListener};

use bytes::Bytes;
use dynoxide::Database;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::{Request, http::request, http::response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(super) struct Engine {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Dropping it ends the thread.
    _running: oneshot::Sender<()>,
}

impl Engine {
    /// Serves the database on a free port.
    ///
    /// # Errors
    /// When no port or no thread is available.
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
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { address, client, _running: running })
    }

    /// The engine's response to a request.
    ///
    /// # Errors
    /// When the engine has ended.
    pub(super) async fn send(
        &self,
        parts: &request::Parts,
        body: Bytes,
    ) -> Result<(response::Parts, Bytes), Box<dyn Error + Send + Sync>> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request =
            Request::builder().method(parts.method.clone()).uri(format!("http://{}{path}", self.address));
        for (name, value) in &parts.headers {
            // These headers describe how the original body was sent.
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                request = request.header(name, value);
            }
        }
        let (head, body) = self.client.request(request.body(Full::new(body))?).await?.into_parts();
        Ok((head, body.collect().await?.to_bytes()))
    }
}
