//! Sends requests to S3 with the service's own HTTP client. The client of `object_store` would link HTTP/2,
//! and read the system's certificates.

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
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        let mut body = response.bytes().await.map_err(failure)?;
        if status.is_client_error() || status.is_server_error() {
            // `object_store` puts the body into its error, and the body of an S3 error may repeat the request
            // with its credentials.
            body = code(&body).into();
        }
        let mut converted = HttpResponse::new(body.into());
        (*converted.status_mut(), *converted.headers_mut()) = (status, headers);
        Ok(converted)
    }
}

/// Returns the code of an error of S3, such as `AccessDenied`.
fn code(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map(|(code, _)| code.to_owned()).unwrap_or_default()
}

/// Converts the error. The kind of the error decides whether the library retries the request. If a write
/// succeeds but its response is lost, the retry is refused as if another run had written the file, and the
/// next run writes the file.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = match &error {
        error if error.is_connect() => HttpErrorKind::Connect,
        error if error.is_timeout() => HttpErrorKind::Timeout,
        _ => HttpErrorKind::Request,
    };
    HttpError::new(kind, error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_an_error_is_passed_on() {
        let body = b"<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><CanonicalRequest>s3cret</CanonicalRequest></Error>";
        assert_eq!(code(body), "SignatureDoesNotMatch");
        assert_eq!(code(b"s3cret"), "");
    }
}
