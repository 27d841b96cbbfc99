//! Signatures of requests (Signature Version 4).

use std::error::Error;
use std::time::SystemTime;

use aws_credential_types::provider::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use reqwest::Request;
use reqwest::header::HeaderValue;

use crate::service::Identity;

/// Adds the signature for the service with the name `service` to the request.
///
/// # Errors
/// If there are no credentials, or the request cannot be signed.
pub(crate) async fn add_signature(
    request: &mut Request,
    service: &str,
    identity: &Identity,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let credentials = identity.credentials.provide_credentials().await?.into();
    let parameters = v4::SigningParams::builder()
        .identity(&credentials)
        .region(&identity.region)
        .name(service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()?;
    let url = request.url().to_string();
    let headers = request.headers().iter();
    let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
    let signable = SignableRequest::new(request.method().as_str(), &url, headers, SignableBody::Bytes(body))?;
    let (instructions, _) = sign(signable, &parameters.into())?.into_parts();
    let (added, _) = instructions.into_parts();
    for header in added {
        let mut value = HeaderValue::from_str(header.value())?;
        value.set_sensitive(header.sensitive());
        request.headers_mut().insert(header.name(), value);
    }
    Ok(())
}
