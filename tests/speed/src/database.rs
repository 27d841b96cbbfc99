//! DynamoDB from memory: the responses to the queries of a request for 90 days.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Full};
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};

use crate::server::Server;

/// A server with DynamoDB's protocol. Dropping it closes all connections.
#[derive(Debug)]
pub(crate) struct Database {
    server: Server,
}

impl Database {
    /// # Errors
    /// A sentence, when no port is free.
    pub(crate) async fn start() -> Result<Self, String> {
        let server = Server::start(|request| async {
            let query = request.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
            let body = history_response::response(&String::from_utf8_lossy(&query));
            let mut response = Response::new(Full::new(Bytes::from(body)));
            let json = HeaderValue::from_static("application/x-amz-json-1.0");
            response.headers_mut().insert(CONTENT_TYPE, json);
            response
        });
        Ok(Self { server: server.await? })
    }

    /// The endpoint.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }
}
