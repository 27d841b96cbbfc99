//! An SDK configuration for code in this process. Its requests bypass the server that applies faults and counts requests.

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
use dynoxide::Database;
use tables::SdkConfig;

use super::engine::Engine;
use super::{batch, operation};
use crate::arn::REGION;

/// The SDK requires an endpoint, but [`Connector`] does not use it.
const ENDPOINT: &str = "http://localhost";

pub(super) fn sdk(engine: Arc<Engine>, database: Database) -> SdkConfig {
    let connector = SharedHttpConnector::new(Connector { engine, database });
    let credentials = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static(REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(ENDPOINT)
        .http_client(http_client_fn(move |_: &HttpConnectorSettings, _: &RuntimeComponents| {
            connector.clone()
        }))
        .build()
}

#[derive(Clone)]
struct Connector {
    engine: Arc<Engine>,
    database: Database,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Connector").finish_non_exhaustive()
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(send(self.clone(), request))
    }
}

async fn send(to: Connector, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let sent = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
    let (parts, sent_body) = sent.into_parts();
    let body = sent_body.bytes().map(Bytes::copy_from_slice).unwrap_or_default();
    let written = match operation(&parts.headers) {
        batch::WRITE => batch::write(&to.database, body.clone()).await,
        _ => None,
    };
    let response = if let Some(written) = written.and_then(|written| serde_json::to_vec(&written).ok()) {
        hyper::Response::new(SdkBody::from(written))
    } else {
        let sent = to.engine.send(&parts, body).await;
        let (head, body) = sent.map_err(ConnectorError::io)?;
        hyper::Response::from_parts(head, SdkBody::from(body))
    };
    HttpResponse::try_from(response).map_err(|error| ConnectorError::other(Box::new(error), None))
}
