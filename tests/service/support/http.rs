//! Sends requests, and checks the promises that all responses share.

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::Cloud;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const KEY_HEADER: &str = "x-api-key";

/// A response, read to its end.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Response {
    pub(super) async fn read(response: hyper::Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Self { status: head.status, headers: head.headers, text: String::from_utf8(bytes).unwrap() }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns `data` of a success envelope. Panics if the envelope is not exactly as documented.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        self.success()["data"].take()
    }

    /// Returns `meta.cached` of a success envelope. Panics if the envelope is not exactly as documented.
    #[track_caller]
    pub(crate) fn cached(&self) -> bool {
        self.success()["meta"]["cached"].as_bool().unwrap()
    }

    #[track_caller]
    fn success(&self) -> Value {
        let body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert_eq!(body["success"], true, "{body}");
        assert!(body["meta"]["cached"].is_boolean(), "{}", body["meta"]);
        assert_eq!(body["meta"]["api_version"], "v1");
        assert_eq!(body["meta"].as_object().unwrap().len(), 2);
        assert_eq!(body.as_object().unwrap().len(), 3);
        self.expect_headers();
        body
    }

    /// Panics unless this response is a replay of `earlier` from a cache: the same data and times, and
    /// `cached: true`.
    #[track_caller]
    pub(crate) fn expect_replay_of(&self, earlier: &Self) {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        let (fresh, replayed) =
            (r#""cached":false,"api_version":"v1"}}"#, r#""cached":true,"api_version":"v1"}}"#);
        let data =
            |text: &'_ str| text.strip_suffix(fresh).or_else(|| text.strip_suffix(replayed)).map(str::len);
        assert!(self.text.ends_with(replayed), "{:.200}", self.text);
        let length = data(&self.text).unwrap();
        assert!(data(&earlier.text) == Some(length), "the responses differ in length");
        assert!(self.text[..length] == earlier.text[..length], "the responses differ");
        for header in ["expires", "last-modified"] {
            assert_eq!(self.headers[header], earlier.headers[header], "{header}");
        }
        self.expect_headers();
    }

    /// Returns the message of an error envelope. Panics if the envelope, its code or the status is not as
    /// documented.
    #[track_caller]
    pub(crate) fn error(&self, code: &str) -> String {
        let body = self.json();
        let status = match code {
            "BAD_REQUEST" => 400,
            "UNAUTHORIZED" => 401,
            "FORBIDDEN" => 403,
            "NOT_FOUND" => 404,
            "RATE_LIMITED" => 429,
            "INTERNAL_ERROR" => 500,
            other => panic!("{other} is not an error code of the service"),
        };
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(self.status.as_u16(), status, "{body}");
        assert_eq!(body["success"], false);
        assert_eq!(body["error"].as_object().unwrap().len(), 2, "{body}");
        assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
        assert_eq!(
            self.headers.contains_key("retry-after"),
            matches!(status, 429 | 500),
            "{:?}",
            self.headers
        );
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

/// The key of an account on the tier `pro`, if the cloud checks keys.
fn key(cloud: &Cloud) -> Option<&str> {
    cloud.keys().map(|keys| keys.pro.expose())
}

/// Sends `GET path` with a key of the tier `pro`. `path` begins with a slash and may have a query.
pub(crate) async fn get(cloud: &Cloud, path: &str) -> Response {
    let headers: Vec<_> = key(cloud).map(|key| (KEY_HEADER, key)).into_iter().collect();
    send_with(&cloud.url(), Method::GET, path, &headers).await
}

/// Sends `method path` to the server at `base`, without a key.
pub(crate) async fn send(base: &str, method: Method, path: &str) -> Response {
    send_with(base, method, path, &[]).await
}

/// Sends `method path` to the server at `base`, with these headers.
pub(crate) async fn send_with(base: &str, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let mut request = Request::builder().method(method).uri(format!("{base}{path}"));
    for (name, value) in headers {
        request = request.header(*name, value.as_bytes());
    }
    let response = client.request(request.body(Empty::new()).unwrap()).await.unwrap();
    Response::read(response).await
}

/// Makes the gateway cache the authorizer's decision on the key of [`get`] for a minute, so that later faults
/// of the table reach only the functions.
pub(crate) async fn cache_authorization(cloud: &Cloud) {
    get(cloud, "/v1/auctions?page=x").await.error("BAD_REQUEST");
}

/// Sends `GET target` with a key of the tier `pro`. The target is sent byte for byte, even if no client would
/// send it.
pub(crate) async fn get_raw(cloud: &Cloud, target: &[u8]) -> Response {
    let address = cloud.url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let key_line = key(cloud).map(|key| format!("{KEY_HEADER}: {key}\r\n")).unwrap_or_default();
    let head = format!(" HTTP/1.1\r\nhost: {address}\r\n{key_line}connection: close\r\n\r\n");
    stream.write_all(&[b"GET ", target, head.as_bytes()].concat()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8(response).unwrap();
    let (head, text) = response.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let fields = lines.map(|line| line.split_once(": ").unwrap());
    let headers = fields.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    Response { status, headers, text: text.to_owned() }
}
