//! The way to the database for code of this process that speaks to tables through the SDK, as the functions do. It does not
//! go over the server, so that no fault of a test happens to it, and it is not counted.

use std::sync::Arc;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Credentials, Region, RuntimeComponents, SharedCredentialsProvider,
};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use tables::SdkConfig;

use super::Shared;

/// The engine looks at no address.
const ENDPOINT: &str = "http://localhost";

/// What the SDK needs to know to reach the database.
pub(super) fn sdk(shared: Arc<Shared>) -> SdkConfig {
    let connector = SharedHttpConnector::new(Connector(shared));
    let credentials = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static(crate::REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(ENDPOINT)
        .http_client(http_client_fn(move |_: &HttpConnectorSettings, _: &RuntimeComponents| {
            connector.clone()
        }))
        .build()
}

struct Connector(Arc<Shared>);

impl std::fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Connector").finish_non_exhaustive()
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(send(Arc::clone(&self.0), request))
    }
}

async fn send(shared: Arc<Shared>, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
    let (parts, body) = request.into_parts();
    let body = body.bytes().map(Bytes::copy_from_slice).unwrap_or_default();
    let sent = shared.engine.send(&parts, body).await;
    let (head, body) = sent.map_err(|error| ConnectorError::io(Box::new(error)))?;
    let response = hyper::Response::from_parts(head, SdkBody::from(body));
    HttpResponse::try_from(response).map_err(|error| ConnectorError::other(Box::new(error), None))
}
