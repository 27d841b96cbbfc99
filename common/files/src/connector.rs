//! Sends the requests to S3 with the service's own HTTP client. The one of the library would link HTTP/2, and read the system's
//! certificates.

use async_trait::async_trait;
use http_body_util::BodyExt;
use lambda_http::http;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService,
};
use reqwest::Client;

/// The HTTP client of the service.
#[derive(Debug, Clone)]
pub(crate) struct Connector(pub(crate) Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let request = http::Request::from_parts(parts, body).try_into().map_err(failure)?;
        let mut response = self.0.execute(request).await.map_err(failure)?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let mut converted = HttpResponse::new(response.bytes().await.map_err(failure)?.into());
        (*converted.status_mut(), *converted.headers_mut()) = (status, headers);
        Ok(converted)
    }
}

/// Each request replaces a whole file or only reads, so it is repeated after a failure of the connection.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = match &error {
        error if error.is_timeout() => HttpErrorKind::Timeout,
        error if error.is_connect() => HttpErrorKind::Connect,
        _ => HttpErrorKind::Request,
    };
    HttpError::new(kind, error.without_url())
}
