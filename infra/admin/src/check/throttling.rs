//! What a key gets that asks too fast. It costs the key its burst, so it is done only when wanted.

use futures_util::{StreamExt, stream};

use super::question::Question;
use super::report::{Failure, Report};
use super::{Inspection, envelope};

/// More than the largest tier may ask at once, and what comes in meanwhile.
const REQUESTS: usize = 600;
const AT_A_TIME: usize = 12;
/// The cheapest request there is.
const CHEAP: &str = "/v1/mayor/history?limit=0";
const NAME: &str = "error 429";

pub(super) async fn check(inspection: &Inspection<'_>, is_wanted: bool, report: &mut Report) {
    if !is_wanted {
        report.skip(NAME, "it spends the key's requests: --throttle was not given");
        report.observe("throttling", "not_looked_at", "--throttle was not given");
        return;
    }
    let question = Question::paid(CHEAP, &inspection.keys.good);
    let asked = stream::iter(0..REQUESTS).map(|_| inspection.target.ask_once(&question));
    let mut answers = asked.buffer_unordered(AT_A_TIME);
    let mut passed = 0_usize;
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(answer) if answer.status == 429 => {
                let headers = ["retry-after", "x-amzn-errortype", "cache-control"];
                let headers = headers.map(|name| format!("{name}: {}", answer.shown_header(name)));
                let text = format!("{passed} requests were answered first; {}", headers.join(", "));
                report.observe("throttling", "429", text);
                report.check(NAME, envelope::error(&answer, 429).map(drop));
                return;
            }
            Ok(_) => passed += 1,
            Err(failure) => {
                report.check(NAME, Err(failure));
                return;
            }
        }
    }
    report.observe("throttling", "none", format!("{passed} requests at once were all answered"));
    report.check(NAME, Err(Failure::new("429 for some of them", format!("{passed} answers"))));
}
