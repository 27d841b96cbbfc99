//! Measures the processor time of a function's first TLS handshake: only the client's part, in memory, with the crates that
//! the functions use.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::generate_simple_self_signed;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

const NAME: &str = "provider.example";
/// More round trips than a handshake has.
const ROUND_TRIPS: usize = 10;

/// The time that the client works on one handshake, including its setup.
///
/// # Errors
/// A sentence, when the handshake fails.
pub(crate) fn client_time() -> Result<Duration, String> {
    handshake().map_err(|error| format!("the handshake failed: {error}"))
}

fn handshake() -> Result<Duration, Box<dyn std::error::Error>> {
    let certified = generate_simple_self_signed([NAME.to_owned()])?;
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)?;
    let mut server = ServerConnection::new(Arc::new(server))?;

    let mut worked = Duration::ZERO;
    let start = Instant::now();
    let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    roots.add(certified.cert.der().clone())?;
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(client), ServerName::try_from(NAME)?)?;
    worked += start.elapsed();

    for _ in 0..ROUND_TRIPS {
        let start = Instant::now();
        let mut sent = Vec::new();
        client.write_tls(&mut sent)?;
        worked += start.elapsed();
        if !client.is_handshaking() {
            return Ok(worked);
        }
        let mut received = Vec::new();
        if !sent.is_empty() {
            server.read_tls(&mut sent.as_slice())?;
            server.process_new_packets()?;
        }
        while server.wants_write() {
            server.write_tls(&mut received)?;
        }
        let start = Instant::now();
        let mut received = received.as_slice();
        while !received.is_empty() {
            client.read_tls(&mut received)?;
            client.process_new_packets()?;
        }
        worked += start.elapsed();
    }
    Err(format!("it has not completed after {ROUND_TRIPS} round trips").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_completes() {
        assert!(client_time().unwrap() > Duration::ZERO);
    }
}
