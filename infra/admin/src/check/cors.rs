//! Scripts in browsers may call the API: preflight requests succeed without a key. The CORS headers of all other responses
//! are checked with their envelopes.

use conformance::Mismatch;
use reqwest::Method;

use super::inspection::Inspection;
use super::report::Report;
use super::request::Request;

const PREFLIGHT_HEADERS: [(&str, &str); 3] = [
    ("Origin", "https://client.example"),
    ("Access-Control-Request-Method", "GET"),
    ("Access-Control-Request-Headers", "x-api-key"),
];

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.document.operations() {
        let path = operation.path().replace("{username}", "Notch");
        let name = format!("preflight OPTIONS {}", operation.path());
        report.check(name, check_preflight(inspection, &path).await);
    }
}

async fn check_preflight(inspection: &Inspection<'_>, path: &str) -> Result<(), Mismatch> {
    let request = PREFLIGHT_HEADERS
        .into_iter()
        .fold(Request::anonymous(path).method(Method::OPTIONS), |request, (name, value)| {
            request.header(name, value)
        });
    let response = inspection.client.send(&request).await?;
    if !matches!(response.status, 200 | 204) {
        return Err(Mismatch::new("the status 200 or 204", response.summary()));
    }
    for (name, expected) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET"),
        ("access-control-allow-headers", "x-api-key"),
    ] {
        let value = response.header(name).unwrap_or_default();
        if !value.split(',').any(|item| item.trim().eq_ignore_ascii_case(expected)) {
            let expected = format!("{expected} in the header {name}");
            return Err(Mismatch::new(expected, response.header_text(name)));
        }
    }
    Ok(())
}
