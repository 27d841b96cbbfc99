//! A proxy that puts a stage in front of all paths, as API Gateway does without a custom domain.

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use local::Cloud;

/// The first segment of all paths.
const STAGE: &str = "/live";

/// A running proxy. Dropping it ends it.
pub(crate) struct Stage {
    url: String,
    _tasks: JoinSet<()>,
}

impl Stage {
    /// Serves the cloud on a free port.
    pub(crate) async fn of(cloud: &Cloud) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{STAGE}", listener.local_addr().unwrap());
        let gateway = cloud.url().strip_prefix("http://").unwrap().to_owned();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(serve(client, gateway.clone()));
            }
        });
        Self { url, _tasks: tasks }
    }

    /// The base URL of the API, without a slash at its end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// Forwards one request without the stage. A path outside the stage gets a 403, as on AWS.
async fn serve(mut client: TcpStream, gateway: String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match client.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let Some(rest) = head.strip_prefix(&format!("GET {STAGE}/")) else {
        let refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let _ = client.write_all(refusal).await;
        return;
    };
    // Only the first request of a connection is rewritten, so a connection has only one request.
    let request = format!("GET /{}", rest.replacen("Connection: keep-alive", "Connection: close", 1));
    let mut server = TcpStream::connect(gateway).await.unwrap();
    server.write_all(request.as_bytes()).await.unwrap();
    let _ = copy_bidirectional(&mut client, &mut server).await;
}
