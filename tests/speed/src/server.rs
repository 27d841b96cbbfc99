//! An HTTP/1.1 server on a free port of the loopback address. Dropping it closes all its connections.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `handler` on a free port.
    ///
    /// # Errors
    /// If no port is free.
    pub(crate) async fn start<Handler, Responding>(handler: Handler) -> Result<Self, String>
    where
        Handler: Fn(Request<Incoming>) -> Responding + Clone + Send + 'static,
        Responding: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = bound.map_err(|error| format!("cannot listen: {error}"))?;
        let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
        Ok(Self { address, task: tokio::spawn(accept(listener, handler)) })
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

async fn accept<Handler, Responding>(listener: TcpListener, handler: Handler)
where
    Handler: Fn(Request<Incoming>) -> Responding + Clone + Send + 'static,
    Responding: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Without this option, the kernel may delay a small response by 40 ms. Setting the option fails only
        // on a closed socket.
        let _ = stream.set_nodelay(true);
        let handler = handler.clone();
        let service = service_fn(move |request| {
            let responding = handler(request);
            async move { Ok::<_, Infallible>(responding.await) }
        });
        // This fails if the client closes the connection.
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        while connections.try_join_next().is_some() {}
    }
}
