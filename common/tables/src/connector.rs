//! Sends the SDK's requests with the service's own HTTP client. The SDK's client would read the system's
//! certificates, which takes longer than the rest of a function's start, and would link HTTP/2, which
//! DynamoDB does not support.

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::{RuntimeComponents, SharedHttpClient};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use reqwest::Client;

/// Wraps `client` as the SDK's HTTP client.
#[must_use]
pub fn over(client: Client) -> SharedHttpClient {
    let connector = SharedHttpConnector::new(Connector(client));
    http_client_fn(move |_: &HttpConnectorSettings, _: &RuntimeComponents| connector.clone())
}

#[derive(Debug)]
struct Connector(Client);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = self.0.clone();
        HttpConnectorFuture::new(send(client, request))
    }
}

async fn send(client: Client, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let http_request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
    // Bodies of requests to DynamoDB are never streams.
    let bytes = |body: SdkBody| body.bytes().map(Bytes::copy_from_slice).unwrap_or_default();
    let copied = reqwest::Request::try_from(http_request.map(bytes))
        .map_err(|error| ConnectorError::user(error.into()))?;
    let mut response = client.execute(copied).await.map_err(failure)?;
    let headers = std::mem::take(response.headers_mut());
    let status = response.status().as_u16().try_into();
    let status = status.map_err(|error| ConnectorError::other(Box::new(error), None))?;
    let body = response.bytes().await.map_err(failure)?;
    let mut converted = HttpResponse::new(status, SdkBody::from(body));
    for (name, value) in &headers {
        // The SDK reads only headers whose values are text.
        if let Ok(value) = value.to_str() {
            converted.headers_mut().append(name.as_str().to_owned(), value.to_owned());
        }
    }
    Ok(converted)
}

fn failure(error: reqwest::Error) -> ConnectorError {
    // The URL may contain a password.
    let without_url = error.without_url();
    if without_url.is_timeout() {
        ConnectorError::timeout(without_url.into())
    } else {
        ConnectorError::io(without_url.into())
    }
}
