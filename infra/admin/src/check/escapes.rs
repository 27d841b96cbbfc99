//! Percent escapes have no effect on the meaning of a request. API Gateway passes path parameters on as they were sent, and
//! functions decode them.

use common::routes::{BAZAAR, PROFILE};
use conformance::Mismatch;
use serde_json::Value;

use super::envelope;
use super::inspection::Inspection;
use super::json::at;
use super::report::Report;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    let item = format!("{}?mode=item&id=", BAZAAR.path);
    for (name, path, start, field) in [
        ("escaped player has the response of the plain name", PROFILE.path, "/v1/profile/", "/username"),
        ("escaped parameter has the response of the plain value", BAZAAR.path, item.as_str(), "/id"),
    ] {
        let operation = inspection.document.operation(path);
        let requests = operation.map(|operation| inspection.example_requests(&operation, 200));
        let mut requests = requests.unwrap_or_default().into_iter();
        match requests.find_map(|request| Some((escaped(&request, start)?, request))) {
            Some((escaped, plain)) => {
                report.check(name, check_same(inspection, &plain, &escaped, field).await);
            }
            None => report.skip(name, "the OpenAPI document has no example"),
        }
    }
}

/// The request with the first character after `start` escaped; `None` if it does not begin with `start`.
fn escaped(request: &str, start: &str) -> Option<String> {
    let value = request.strip_prefix(start)?;
    let first = value.bytes().next().filter(u8::is_ascii_alphanumeric)?;
    Some(format!("{start}%{first:02x}{}", value.get(1..)?))
}

async fn check_same(
    inspection: &Inspection<'_>,
    plain: &str,
    escaped: &str,
    field: &str,
) -> Result<(), Mismatch> {
    let mut values = Vec::new();
    for request in [plain, escaped] {
        let data = envelope::check_success(&inspection.get(request).await?)?;
        values.push(at(&data, field).clone());
    }
    match values.as_slice() {
        [Value::String(expected), Value::String(received)] if expected == received => Ok(()),
        [expected, received] => {
            Err(Mismatch::new(format!("a response about {expected}"), format!("a response about {received}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_is_escaped() {
        assert_eq!(escaped("/v1/profile/Notch", "/v1/profile/").unwrap(), "/v1/profile/%4eotch");
        for other in ["/v1/profile/", "/v1/profile/%4eotch", "/v1/profile/ünotch", "/v1/mayor"] {
            assert_eq!(escaped(other, "/v1/profile/"), None, "{other}");
        }
    }
}
