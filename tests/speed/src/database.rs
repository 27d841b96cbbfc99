//! DynamoDB from memory: the response to a query of 90 days, for every request.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
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
        let body = Bytes::from(history_response::body());
        let server = Server::start(move |request| {
            let mut response = Response::new(Full::new(body.clone()));
            let json = HeaderValue::from_static("application/x-amz-json-1.0");
            response.headers_mut().insert(CONTENT_TYPE, json);
            async move {
                // Otherwise the server closes the connection after the response.
                let _ = request.into_body().collect().await;
                response
            }
        });
        Ok(Self { server: server.await? })
    }

    /// The endpoint.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }
}
