//! Starts the service and asks it.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::routes::{self, Route};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::template::{Document, Template};
use local::{Cloud, Options};
use serde_json::{Value, json};
use simulator::Simulator;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::task::JoinSet;

/// The functions that no route leads to: they act on schedules.
pub(crate) const RECORDERS: [&str; 3] = ["record-bazaar", "record-fire-sales", "record-mayor"];

/// The function that the gateway asks who may ask.
pub(crate) const AUTHORIZER: &str = "authorizer";

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
        self.success()["data"].take()
    }

    /// `meta.cached` of a success envelope, which is checked.
    #[track_caller]
    pub(crate) fn cached(&self) -> bool {
        self.success()["meta"]["cached"].as_bool().unwrap()
    }

    /// A success envelope, which is checked.
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

    /// That this is `earlier` once more, served from a cache: the same bytes and times, and `cached: true`.
    #[track_caller]
    pub(crate) fn expect_replay_of(&self, earlier: &Self) {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        let (fresh, replayed) =
            (r#""cached":false,"api_version":"v1"}}"#, r#""cached":true,"api_version":"v1"}}"#);
        let data =
            |text: &'_ str| text.strip_suffix(fresh).or_else(|| text.strip_suffix(replayed)).map(str::len);
        assert!(self.text.ends_with(replayed), "{:.200}", self.text);
        let length = data(&self.text).unwrap();
        assert!(data(&earlier.text) == Some(length), "the answers differ in length");
        assert!(self.text[..length] == earlier.text[..length], "the answers differ");
        for header in ["expires", "last-modified"] {
            assert_eq!(self.headers[header], earlier.headers[header], "{header}");
        }
        self.expect_headers();
    }

    /// The message of an error envelope, whose code and status are checked.
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
            other => panic!("{other} is no code of this service"),
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

/// The header that carries a key.
pub(crate) const KEY_HEADER: &str = "x-api-key";

/// A paying caller's key, if the cloud looks at keys.
fn key(cloud: &Cloud) -> Option<&str> {
    cloud.keys().map(|keys| keys.pro.expose())
}

/// The answer to a paying caller's `GET path`; `path` begins with a slash and may have a query.
pub(crate) async fn get(cloud: &Cloud, path: &str) -> Answered {
    let headers: Vec<_> = key(cloud).map(|key| (KEY_HEADER, key)).into_iter().collect();
    send_with(&cloud.url(), Method::GET, path, &headers).await
}

/// The answer of the server at `base` to `method path` without a key.
pub(crate) async fn send(base: &str, method: Method, path: &str) -> Answered {
    send_with(base, method, path, &[]).await
}

/// The answer of the server at `base` to `method path` with these headers.
pub(crate) async fn send_with(base: &str, method: Method, path: &str, headers: &[(&str, &str)]) -> Answered {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let mut request = Request::builder().method(method).uri(format!("{base}{path}"));
    for (name, value) in headers {
        request = request.header(*name, value.as_bytes());
    }
    let response = client.request(request.body(Empty::new()).unwrap()).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answered { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
}

/// Has the gateway ask whether the caller of [`get`] may ask. It remembers that for a minute: faults of the table are the
/// functions' alone then.
pub(crate) async fn let_in(cloud: &Cloud) {
    get(cloud, "/v1/auctions?page=x").await.error("BAD_REQUEST");
}

/// The answer to a paying caller's target exactly as it is: bytes that no client would send included.
pub(crate) async fn get_raw(cloud: &Cloud, target: &[u8]) -> Answered {
    let address = cloud.url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let key = key(cloud).map(|key| format!("{KEY_HEADER}: {key}\r\n")).unwrap_or_default();
    let head = format!(" HTTP/1.1\r\nhost: {address}\r\n{key}connection: close\r\n\r\n");
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

/// That nothing panicked in any function.
#[track_caller]
pub(crate) fn expect_clean_logs(cloud: &Cloud) {
    for line in cloud.logs() {
        assert!(!line.contains("panicked"), "{line}");
    }
}

/// A request to one route, and what the route asks the upstreams for it: nothing if it answers with history.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) route: &'static Route,
    /// What to ask for.
    pub(crate) path: &'static str,
    /// The upstream paths, in the order in which they are asked.
    pub(crate) upstream: &'static [&'static str],
}

/// One request to every route under `/v1`.
pub(crate) fn examples() -> impl Iterator<Item = Example> {
    routes::VERSION_1.into_iter().map(|route| {
        let (path, upstream): (_, &[_]) = match route.function {
            "mayor" => ("/v1/mayor", &["/v2/resources/skyblock/election"]),
            "mayor-history" => ("/v1/mayor/history", &[]),
            "fire-sales-history" => ("/v1/fire-sales/history", &[]),
            "bazaar-history" => ("/v1/bazaar/history?item_id=INK_SACK:3", &[]),
            "fire-sales" => ("/v1/fire-sales", &["/v2/skyblock/firesales"]),
            "bazaar" => ("/v1/bazaar", &["/v2/skyblock/bazaar"]),
            "auctions" => ("/v1/auctions", &["/v2/skyblock/auctions"]),
            "collections" => ("/v1/collections", &["/v2/resources/skyblock/collections"]),
            "items" => ("/v1/items", &["/v2/resources/skyblock/items"]),
            "profile" => ("/v1/profile/Notch", &["/users/profiles/minecraft/Notch", "/v2/skyblock/profiles"]),
            other => panic!("{other} is a new route: say here what it asks the upstreams"),
        };
        Example { route, path, upstream }
    })
}

/// One request to every route that asks an upstream.
pub(crate) fn live_examples() -> impl Iterator<Item = Example> {
    examples().filter(|example| !example.upstream.is_empty())
}

/// Options for a cloud with one instance of each function, so that what is cached is cached for every request.
pub(crate) fn one_instance_each() -> Options {
    Options { concurrency: NonZeroU16::MIN, ..Options::for_tests() }
}

/// The same options with these values for the template's parameters.
pub(crate) fn with_parameters(mut options: Options, parameters: &[(&str, &str)]) -> Options {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    options.parameters.extend(parameters);
    options
}

/// The template as it is deployed, its parameters at their defaults: with the stage cache.
pub(crate) fn template() -> Template {
    let document = Document::read(&Options::default().template).unwrap();
    let parameters = [("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())];
    document.evaluate(&BTreeMap::from(parameters)).unwrap()
}

/// `cargo NAME` with these arguments, where NAME is an alias in `.cargo/config.toml`.
pub(crate) fn cargo(name: &str, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg(name).args(arguments).current_dir(Options::default().template.parent().unwrap());
    command.stdin(Stdio::null());
    command
}

/// The game behind the service.
#[track_caller]
pub(crate) fn simulator(cloud: &Cloud) -> &Simulator {
    cloud.simulator().unwrap()
}

/// The function that answers `path`, and the event by which the gateway tells it of a request at `time_ms`.
pub(crate) fn event(path: &str, time_ms: i64) -> (&'static str, String) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut parameters = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        parameters.entry(name).or_default().push(value);
    }
    let route = examples()
        .map(|example| example.route)
        .find(|route| match route.path.split_once("{username}") {
            Some((front, _)) => path.starts_with(front),
            None => path == route.path,
        })
        .unwrap_or_else(|| panic!("no route has {path}"));
    let event = json!({
        "httpMethod": "GET",
        "path": path,
        "resource": route.path,
        "headers": {},
        "multiValueHeaders": {},
        "queryStringParameters": {},
        "multiValueQueryStringParameters": parameters,
        "pathParameters": {"username": path.rsplit('/').next()},
        "requestContext": {"requestTimeEpoch": time_ms},
        "body": null,
        "isBase64Encoded": false,
    });
    (route.function, event.to_string())
}

/// What the function that answers `path` makes of a request that arrives at `time_ms`, by Lambda's Invoke API: there a
/// test chooses the time to the millisecond.
pub(crate) async fn get_at(cloud: &Cloud, path: &str, time_ms: i64) -> Answered {
    let (function, event) = event(path, time_ms);
    let response = invoke(cloud, function, event).await.json();
    let headers = response["headers"].as_object().unwrap_or_else(|| panic!("no response: {response}"));
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.as_str().unwrap().parse().unwrap()))
        .collect();
    let status = u16::try_from(response["statusCode"].as_u64().unwrap()).unwrap();
    let text = response["body"].as_str().unwrap().to_owned();
    Answered { status: status.try_into().unwrap(), headers, text }
}

/// What the Invoke API answers when `function` gets the event `payload`.
pub(crate) async fn invoke(cloud: &Cloud, function: &str, payload: String) -> Answered {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let uri = format!("{}/2015-03-31/functions/{function}/invocations", cloud.lambda_url());
    let request = Request::post(uri).body(Full::from(payload)).unwrap();
    let response = client.request(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answered { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
}

/// The JSON log lines that functions have written so far.
pub(crate) fn log_lines(cloud: &Cloud) -> Vec<Value> {
    cloud.logs().iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The first `count` JSON log lines that are `wanted`; a line may come a moment after its answer.
pub(crate) async fn await_logs(cloud: &Cloud, count: usize, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let lines: Vec<_> = log_lines(cloud).into_iter().filter(&wanted).take(count).collect();
        if lines.len() == count {
            return lines;
        }
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{} of {count} lines: {:#?}",
            lines.len(),
            cloud.logs()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Does for every route that asks an upstream what `check` does for one, all at a time.
pub(crate) async fn for_every_live_route<F>(cloud: &Arc<Cloud>, check: impl Fn(Arc<Cloud>, Example) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let checks: JoinSet<()> = live_examples().map(|example| check(Arc::clone(cloud), example)).collect();
    checks.join_all().await;
}
