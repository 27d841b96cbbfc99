//! An SDK configuration for code in this process. Its requests reach the database without a server.

use std::fmt;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use dynoxide::Database;

use crate::response::respond;

/// The SDK requires an endpoint, but [`Connector`] does not use it.
const ENDPOINT: &str = "http://localhost";

/// Returns the configuration of a client of this database in the region.
#[must_use]
pub fn sdk(database: Database, region: &'static str) -> SdkConfig {
    let connector = SharedHttpConnector::new(Connector(database));
    let credentials = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static(region))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(ENDPOINT)
        .http_client(http_client_fn(move |_: &HttpConnectorSettings, _: &RuntimeComponents| {
            connector.clone()
        }))
        .build()
}

#[derive(Clone)]
struct Connector(Database);

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Connector").finish_non_exhaustive()
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(send(self.0.clone(), request))
    }
}

async fn send(database: Database, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let sent = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
    let (head, body) = sent.into_parts();
    let body = body.bytes().map(Bytes::copy_from_slice).unwrap_or_default();
    let response = respond(&database, &head, body).await.map(SdkBody::from);
    HttpResponse::try_from(response).map_err(|error| ConnectorError::other(Box::new(error), None))
}
