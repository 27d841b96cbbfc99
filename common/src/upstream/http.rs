//! The HTTP client for all outgoing requests, such as those to the provider and to DynamoDB: one TLS stack,
//! one set of timeouts.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Url};

use crate::config::ConfigError;

/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an idle connection is kept. Servers and NAT gateways usually keep it longer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for opening a connection during start-up: five times as long as a handshake takes.
const WARM_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// Why an HTTP client cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// An environment variable cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The TLS stack cannot be set up.
    #[error("cannot build the HTTP client")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Returns the TLS configuration of all connections. The configuration is built once, because a recorder has
/// three clients.
fn tls() -> Result<rustls::ClientConfig, ClientError> {
    static TLS: LazyLock<Result<rustls::ClientConfig, rustls::Error>> = LazyLock::new(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // The root certificates are compiled in: reading the system's certificates would double the start-up
        // time of a function.
        let roots: rustls::RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Ok(rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth())
    });
    TLS.clone().map_err(|error| ClientError::Tls(error.into()))
}

/// Returns a client with the settings that `configure` adds. The client follows no redirects and does not
/// decompress bodies.
pub fn client(configure: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Result<Client, ClientError> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls()?)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    configure(builder).build().map_err(|error| ClientError::Tls(error.into()))
}

/// Opens a connection to `base` while the function starts, when Lambda gives the function a whole core. Only
/// a TLS handshake is slow enough to be worth this, so nothing happens without TLS. A failure is ignored,
/// because the first request then reports the same failure.
pub async fn warm_up(client: &Client, base: &Url) {
    if base.scheme() == "https" {
        let request = client.head(base.clone()).send();
        let _ = tokio::time::timeout(WARM_UP_TIMEOUT, request).await;
    }
}
