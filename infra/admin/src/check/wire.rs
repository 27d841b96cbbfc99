//! Sends a request whose header has a chosen spelling, over a chosen version of HTTP. The client of the other checks writes
//! header names in lower case, over HTTP/1.1.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use common::auth::ApiKey;
use common::error::chain;
use futures_util::future::{Either, select};
use http::Request;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::client::TIMEOUT;

/// How much of a response is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// What only the body of a success has.
const SUCCESS: &str = r#""success":true"#;

/// The header that carries the key.
pub(super) struct KeyHeader {
    pub(super) name: &'static str,
    pub(super) version: Version,
}

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

impl Version {
    /// Its name in a TLS handshake.
    const fn protocol(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// Why there is no response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WireError {
    /// Such a request cannot be sent to this server, or not from here.
    Unavailable(String),
    Failed(String),
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WireResponse {
    pub(super) status: u16,
    /// Whether the body has the envelope of a success.
    pub(super) is_success: bool,
}

/// The response to `GET url` with the key in this header.
///
/// # Errors
/// If the request cannot be sent, or there is no response.
pub(super) async fn send(url: &str, header: &KeyHeader, key: &ApiKey) -> Result<WireResponse, WireError> {
    let exchange = async {
        let url: Url = url.parse().map_err(|_| unavailable("the URL is invalid"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = url.port_or_known_default().unwrap_or_default();
        if url.scheme() == "http" && header.version == Version::Http2 {
            return Err(unavailable("not available: HTTP/2 requires https"));
        }
        // The other requests may have gone through a proxy.
        let connect = TcpStream::connect((host.as_str(), port)).await;
        let stream = connect.map_err(|error| unavailable(format!("no direct connection: {error}")))?;
        if url.scheme() == "http" {
            return over_http1(stream, &url, header.name, key).await;
        }
        let configuration = common::http::tls().map_err(|error| failed(&error))?;
        let stream = secure(configuration, stream, host, header.version).await?;
        match header.version {
            Version::Http1 => over_http1(stream, &url, header.name, key).await,
            Version::Http2 => over_http2(stream, &url, header.name, key).await,
        }
    };
    timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| Err(WireError::Failed("timed out".to_owned())))
}

fn unavailable(reason: impl Into<String>) -> WireError {
    WireError::Unavailable(reason.into())
}

fn failed(error: &(dyn std::error::Error + 'static)) -> WireError {
    WireError::Failed(chain(error))
}

/// Opens a TLS connection for this version of HTTP.
async fn secure<S: AsyncRead + AsyncWrite + Unpin>(
    mut configuration: ClientConfig,
    stream: S,
    host: String,
    version: Version,
) -> Result<TlsStream<S>, WireError> {
    configuration.alpn_protocols = vec![version.protocol().to_vec()];
    let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
    let stream = TlsConnector::from(Arc::new(configuration)).connect(name, stream).await;
    let stream = match stream {
        Ok(stream) => stream,
        // Some servers refuse the handshake instead of choosing another version.
        Err(error) if version == Version::Http2 => {
            return Err(unavailable(format!("not available: the server does not offer HTTP/2: {error}")));
        }
        Err(error) => return Err(failed(&error)),
    };
    let is_agreed = stream.get_ref().1.alpn_protocol() == Some(version.protocol());
    if version == Version::Http2 && !is_agreed {
        return Err(unavailable("not available: the server does not offer HTTP/2"));
    }
    Ok(stream)
}

async fn over_http1(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    url: &Url,
    name: &str,
    key: &ApiKey,
) -> Result<WireResponse, WireError> {
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let (path, query) = (url.path(), url.query().map(|query| format!("?{query}")).unwrap_or_default());
    let request = format!(
        "GET {path}{query} HTTP/1.1\r\nHost: {host}\r\n{name}: {}\r\nConnection: close\r\n\r\n",
        key.expose()
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| failed(&error))?;
    stream.flush().await.map_err(|error| failed(&error))?;
    let mut response = Vec::new();
    while response.len() < MAX_BYTES {
        match stream.read_buf(&mut response).await {
            Ok(0) => break,
            Ok(_) => {}
            // Many servers close a TLS connection without a word.
            Err(_) if !response.is_empty() => break,
            Err(error) => return Err(failed(&error)),
        }
    }
    let response = String::from_utf8_lossy(&response);
    let status = response.strip_prefix("HTTP/1.").and_then(|rest| rest.split_whitespace().nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| WireError::Failed("the response has no status line".to_owned()))?;
    Ok(WireResponse { status, is_success: response.contains(SUCCESS) })
}

async fn over_http2(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    url: &Url,
    name: &str,
    key: &ApiKey,
) -> Result<WireResponse, WireError> {
    let (mut sender, connection) = h2::client::handshake(stream).await.map_err(|error| failed(&error))?;
    let request = Request::get(url.as_str()).header(name, key.expose()).body(());
    let request = request.map_err(|error| failed(&error))?;
    let response = async {
        poll_fn(|context| sender.poll_ready(context)).await?;
        let (response, _) = sender.send_request(request, true)?;
        let response = response.await?;
        let status = response.status().as_u16();
        let (mut data, mut body) = (response.into_body(), Vec::new());
        while let Some(chunk) = data.data().await {
            let chunk = chunk?;
            let _ = data.flow_control().release_capacity(chunk.len());
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_BYTES {
                break;
            }
        }
        let is_success = String::from_utf8_lossy(&body).contains(SUCCESS);
        Ok::<_, h2::Error>(WireResponse { status, is_success })
    };
    // The connection must be polled while the response is awaited.
    let response = match select(Box::pin(response), Box::pin(connection)).await {
        Either::Left((response, _)) => response,
        Either::Right((Ok(()), response)) => response.await,
        Either::Right((Err(error), _)) => Err(error),
    };
    response.map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use http::Response;
    use tokio::io::duplex;
    use tokio_rustls::rustls;

    use super::*;

    fn url() -> Url {
        "https://api.example/live/v1/mayor?a=b".parse().unwrap()
    }

    fn key() -> ApiKey {
        ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap()
    }

    #[tokio::test]
    async fn a_header_name_is_sent_as_it_is_spelled() {
        let (client, mut server) = duplex(4096);
        let answer = async {
            let mut request = vec![0; 4096];
            let length = server.read(&mut request).await.unwrap();
            server.write_all(b"HTTP/1.1 401 Unauthorized\r\n\r\n{}").await.unwrap();
            drop(server);
            String::from_utf8(request[..length].to_vec()).unwrap()
        };
        let (key, url) = (key(), url());
        let (status, request) = tokio::join!(over_http1(client, &url, "X-API-Key", &key), answer);
        assert_eq!(status, Ok(WireResponse { status: 401, is_success: false }));
        let lines: Vec<&str> = request.lines().collect();
        assert_eq!(lines[0], "GET /live/v1/mayor?a=b HTTP/1.1");
        assert_eq!(lines[1], "Host: api.example");
        assert_eq!(lines[2], format!("X-API-Key: {}", key.expose()));
    }

    #[tokio::test]
    async fn a_response_without_a_status_is_an_error() {
        for text in [&b""[..], b"HTTP/1.1", b"hello 200 \n", &[0xff; 3]] {
            let (client, mut server) = duplex(4096);
            server.write_all(text).await.unwrap();
            server.shutdown().await.unwrap();
            assert!(over_http1(client, &url(), "X-API-Key", &key()).await.is_err(), "{text:?}");
        }
    }

    #[tokio::test]
    async fn http_2_sends_the_key() {
        let (client, server) = duplex(65_536);
        let answer = async {
            let mut connection = h2::server::handshake(server).await.unwrap();
            let (request, mut respond) = connection.accept().await.unwrap().unwrap();
            let mut body = respond.send_response(Response::new(()), false).unwrap();
            body.send_data(r#"{"success":true}"#.into(), true).unwrap();
            assert!(connection.accept().await.is_none());
            request
        };
        let (key, url) = (key(), url());
        let (status, request) = tokio::join!(over_http2(client, &url, "x-api-key", &key), answer);
        assert_eq!(status, Ok(WireResponse { status: 200, is_success: true }));
        assert_eq!(request.headers()["x-api-key"], key.expose());
        assert_eq!(request.uri().path_and_query().unwrap(), "/live/v1/mayor?a=b");
    }

    /// A TLS connection to a server that offers these versions, or why the handshake failed.
    async fn secured(version: Version, offered: &[Version]) -> Result<(), WireError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let generated = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = generated.cert.der().clone();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let client = client.with_safe_default_protocol_versions().unwrap();
        let client = client.with_root_certificates(roots).with_no_client_auth();
        let server = rustls::ServerConfig::builder_with_provider(provider);
        let server = server.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let private_key = generated.signing_key.serialize_der().try_into().unwrap();
        let mut server = server.with_single_cert(vec![certificate], private_key).unwrap();
        server.alpn_protocols = offered.iter().map(|version| version.protocol().to_vec()).collect();
        let (near, far) = duplex(65_536);
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server));
        let (stream, _) =
            tokio::join!(secure(client, near, "localhost".to_owned(), version), acceptor.accept(far));
        stream.map(drop)
    }

    #[tokio::test]
    async fn http_2_is_negotiated_if_the_server_offers_it() {
        let both = [Version::Http1, Version::Http2];
        for (version, offered) in
            [(Version::Http1, &both[..]), (Version::Http2, &both), (Version::Http1, &[])]
        {
            assert_eq!(secured(version, offered).await, Ok(()), "{version} {offered:?}");
        }
        for offered in [&[][..], &[Version::Http1]] {
            let result = secured(Version::Http2, offered).await;
            assert!(matches!(result, Err(WireError::Unavailable(_))), "{offered:?}: {result:?}");
        }
    }

    #[tokio::test]
    async fn http_2_is_not_available_without_tls() {
        let header = KeyHeader { name: "x-api-key", version: Version::Http2 };
        let result = send("http://127.0.0.1:9", &header, &key()).await;
        assert_eq!(result, Err(unavailable("not available: HTTP/2 requires https")));
    }
}
