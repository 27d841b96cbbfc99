//! A function that fails in every way that a function can. It runs like the service's own functions, so that what
//! `common::lambda` promises of them is tested on a real binary.

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::request::Request;
use common::routes::{Location, Parameter, Route};

/// `GET /v1/faulty/{fault}`
const ROUTE: Route = Route {
    function: "faulty",
    path: "/v1/faulty/{fault}",
    cache: Duration::from_mins(1),
    summary: "Fails as asked",
    parameters: &[Parameter {
        name: "fault",
        location: Location::Path,
        required: true,
        description: "What should happen",
    }],
};

/// What a request wants to happen.
struct Fault(String);

impl FromStr for Fault {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// The function.
#[derive(Debug)]
pub struct Faulty;

impl Function for Faulty {
    const ROUTE: &'static Route = &ROUTE;

    fn new(_config: &Config) -> Result<Self, StartError> {
        Ok(Self)
    }

    #[expect(clippy::panic, reason = "this is what it is for")]
    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
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
            "undeclared" => return request.required::<Fault>("other", "").map(|_| answer(0)),
            "too-large" => 6 * 1024 * 1024,
            "large" => 6 * 1024 * 1024 - 4_096,
            _ => 2,
        };
        Ok(answer(bytes))
    }
}

/// An answer whose data is a string of so many bytes.
fn answer(bytes: usize) -> Answer {
    let document = Document::new(format!("\"{}\"", "x".repeat(bytes)));
    Answer { document: Arc::new(document), cached: false, fetched_at: None, refresh_failure: None }
}
