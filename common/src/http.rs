//! The HTTP client that everything outgoing goes through, to the provider and to DynamoDB: one TLS stack, one set of
//! timeouts.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Url};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an idle connection is kept: less than servers and address translators usually keep it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long opening a connection during start-up may take: a handshake takes a fifth of that.
const WARM_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// Why nobody can be asked at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the HTTP client")]
pub struct ClientError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// A client with what `configure` adds to it. It follows no redirects and leaves bodies as they come.
///
/// # Errors
/// If the TLS stack cannot be set up.
pub fn client(configure: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Result<Client, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // Compiled in, because reading the system's certificates would double the time that a function takes to start.
    let roots: rustls::RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    configure(builder).build().map_err(|error| ClientError(error.into()))
}

/// Opens a connection to `base` while the function starts, when Lambda lends it a whole core. Only the TLS handshake is
/// worth that, so it is not done without TLS. Failures are left to the first request to meet.
pub async fn warm_up(client: &Client, base: &Url) {
    if base.scheme() == "https" {
        let request = client.head(base.clone()).send();
        let _ = tokio::time::timeout(WARM_UP_TIMEOUT, request).await;
    }
}
