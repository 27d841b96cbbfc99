//! Starts the service and asks it.

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::{Cloud, Options};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The service with the simulator behind it, on ports of its own.
pub(crate) async fn start() -> Cloud {
    start_with(Options::for_tests()).await
}

/// The service as `options` want it.
pub(crate) async fn start_with(options: Options) -> Cloud {
    Cloud::start(options).await.unwrap()
}

/// What the service answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answered {
    /// The body.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The data of a success envelope, which is checked.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        let mut body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert_eq!(body["success"], true, "{body}");
        assert!(body["meta"]["cached"].is_boolean(), "{}", body["meta"]);
        assert_eq!(body["meta"]["api_version"], "v1");
        assert_eq!(body["meta"].as_object().unwrap().len(), 2);
        assert_eq!(body.as_object().unwrap().len(), 3);
        self.expect_headers();
        body["data"].take()
    }

    /// `meta.cached` of a success envelope.
    #[track_caller]
    pub(crate) fn cached(&self) -> bool {
        self.data();
        self.json()["meta"]["cached"].as_bool().unwrap()
    }

    /// The message of an error envelope, whose code and status are checked.
    #[track_caller]
    pub(crate) fn error(&self, code: &str) -> String {
        let body = self.json();
        let status = match code {
            "BAD_REQUEST" => 400,
            "NOT_FOUND" => 404,
            "INTERNAL_ERROR" => 500,
            other => panic!("{other} is no code of this service"),
        };
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(self.status.as_u16(), status, "{body}");
        assert_eq!(body["success"], false);
        assert_eq!(body["error"].as_object().unwrap().len(), 2, "{body}");
        assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
        assert_eq!(self.headers.contains_key("retry-after"), status == 500, "{:?}", self.headers);
        self.expect_headers();
        let message = body["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty());
        message.to_owned()
    }

    #[track_caller]
    fn expect_headers(&self) {
        assert_eq!(self.headers["content-type"], "application/json");
        assert_eq!(self.headers["access-control-allow-origin"], "*");
    }
}

/// The answer to `GET path`; `path` begins with a slash and may have a query.
pub(crate) async fn get(cloud: &Cloud, path: &str) -> Answered {
    send(&cloud.url(), Method::GET, path).await
}

/// The answer of the server at `base` to `method path`.
pub(crate) async fn send(base: &str, method: Method, path: &str) -> Answered {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let request = Request::builder().method(method).uri(format!("{base}{path}")).body(Empty::new()).unwrap();
    let response = client.request(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answered { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
}

/// The answer to the target `target` exactly as it is: bytes that no client would send included.
pub(crate) async fn get_raw(cloud: &Cloud, target: &[u8]) -> Answered {
    let address = cloud.url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!(" HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(&[b"GET ", target, head.as_bytes()].concat()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let fields = lines.map(|line| line.split_once(": ").unwrap());
    let headers = fields.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    Answered { status, headers, text: text.to_owned() }
}

/// That nothing panicked in any function, and that no log line has the upstream's key.
#[track_caller]
pub(crate) fn expect_clean_logs(cloud: &Cloud) {
    for line in cloud.logs() {
        assert!(!line.contains("panicked"), "{line}");
    }
}
