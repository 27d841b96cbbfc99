//! A function that fails in every way that a function can. It runs like the service's own functions, so that what
//! `common::lambda` promises of them is tested on a real binary.

use std::str::FromStr;
use std::time::Duration;

use common::config::Config;
use common::envelope::Document;
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::params::{Allowed, InvalidValue, Value};
use common::request::Request;
use common::response::Response;
use common::routes::{Location, Parameter, Route, Tag};

/// `GET /v1/faulty/{fault}`
const ROUTE: Route = Route {
    function: "faulty",
    path: "/v1/faulty/{fault}",
    cache: Duration::from_mins(1),
    summary: "Fail as requested",
    description: "A failure.",
    tag: Tag::Service,
    parameters: &[Parameter {
        name: "fault",
        location: Location::Path,
        required: true,
        meaning: "The kind of failure",
        allowed: Allowed::AnyText,
    }],
};

/// What a request wants to happen.
struct Fault(String);

impl Value for Fault {
    const ALLOWED: Allowed = Allowed::AnyText;
}

impl FromStr for Fault {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Ok(Self(text.to_owned()))
    }
}

/// The function.
#[derive(Debug)]
pub struct Faulty;

impl Handler for Faulty {
    const ROUTE: &'static Route = &ROUTE;

    fn new(_config: &Config) -> Result<Self, StartError> {
        Ok(Self)
    }

    #[expect(clippy::panic, reason = "this is what it is for")]
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let Fault(fault) = request.required("fault", "")?;
        let bytes = match fault.as_str() {
            "panic" => panic!("asked to panic"),
            "exit" => std::process::exit(3),
            "error" => return Err(ApiError::internal("asked to fail")),
            "slow" => return std::future::pending().await,
            "stuck" => {
                std::thread::sleep(Duration::from_mins(10));
                0
            }
            "undeclared" => return request.required::<Fault>("other", "").map(|_| response(0)),
            "too-large" => 6 * 1024 * 1024,
            "large" => 6 * 1024 * 1024 - 4_096,
            _ => 2,
        };
        Ok(response(bytes))
    }
}

/// A response whose data is a string of this many bytes.
fn response(bytes: usize) -> Response {
    Response::uncached(Document::new(format!("\"{}\"", "x".repeat(bytes))))
}
