//! Scripts in browsers may ask: the preflight says so, without a key. That every other answer says so, too, is looked at
//! wherever an answer is looked at.

use reqwest::Method;

use super::Inspection;
use super::question::Question;
use super::report::{Failure, Report};

const PREFLIGHT: [(&str, &str); 3] = [
    ("Origin", "https://client.example"),
    ("Access-Control-Request-Method", "GET"),
    ("Access-Control-Request-Headers", "x-api-key"),
];

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.description.operations() {
        let path = operation.path.replace("{username}", "Notch");
        report.check(format!("preflight OPTIONS {}", operation.path), preflight(inspection, &path).await);
    }
}

async fn preflight(inspection: &Inspection<'_>, path: &str) -> Result<(), Failure> {
    let mut question = Question::anonymous(path).method(Method::OPTIONS);
    for (name, value) in PREFLIGHT {
        question = question.with(name, value);
    }
    let answer = inspection.target.ask(&question).await?;
    if !matches!(answer.status, 200 | 204) {
        return Err(Failure::new("the status 200 or 204", answer.shown()));
    }
    for (name, expected) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET"),
        ("access-control-allow-headers", "x-api-key"),
    ] {
        let came = answer.header(name).unwrap_or_default();
        if !came.split(',').any(|item| item.trim().eq_ignore_ascii_case(expected)) {
            let came = answer.shown_header(name);
            return Err(Failure::new(format!("{expected} in the header {name}"), came));
        }
    }
    Ok(())
}
