//! The response to a key that exceeds its limits. The check uses up the key's burst, so it runs only on request.

use common::routes::MAYOR_HISTORY;
use conformance::Mismatch;
use futures_util::{StreamExt, stream};

use super::envelope;
use super::inspection::Inspection;
use super::report::Report;
use super::request::Request;

/// More than the burst of the largest tier, and what its rate adds meanwhile.
const REQUESTS: usize = 600;
const CONCURRENCY: usize = 12;
const CHECK: &str = "error 429";
const OBSERVATION: &str = "throttling";

pub(super) async fn check(inspection: &Inspection<'_>, is_requested: bool, report: &mut Report) {
    if !is_requested {
        report.skip(CHECK, "it uses up the burst of the key; --throttle is not given");
        report.observe(OBSERVATION, "skipped", "--throttle is not given");
        return;
    }
    // An invalid parameter makes the cheapest request.
    let request = Request::authorized(format!("{}?limit=0", MAYOR_HISTORY.path), &inspection.keys.good);
    let responses = stream::iter(0..REQUESTS).map(|_| inspection.client.send_once(&request));
    let mut responses = responses.buffer_unordered(CONCURRENCY);
    let mut passed = 0_usize;
    while let Some(response) = responses.next().await {
        match response {
            Ok(response) if response.status == 429 => {
                let headers = ["retry-after", "x-amzn-errortype", "cache-control"];
                let headers = headers.map(|name| format!("{name}: {}", response.header_text(name)));
                let text = format!("the first 429 came after {passed} responses; {}", headers.join(", "));
                report.observe(OBSERVATION, "429", text);
                report.check(CHECK, envelope::check_error(&response, 429).map(drop));
                return;
            }
            Ok(_) => passed += 1,
            Err(mismatch) => {
                report.check(CHECK, Err(mismatch));
                return;
            }
        }
    }
    report.observe(OBSERVATION, "none", format!("none of {passed} requests was throttled"));
    report.check(CHECK, Err(Mismatch::new("a 429", format!("{passed} other responses"))));
}
