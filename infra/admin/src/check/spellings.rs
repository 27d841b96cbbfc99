//! Header names are not case-sensitive, but the identity source of an authorizer may be: a key is accepted in every spelling of
//! the header, over every version of HTTP.

use conformance::Mismatch;

use super::authorization::CACHED_PATH;
use super::inspection::Inspection;
use super::report::Report;
use super::wire::{KeyHeader, Version, WireError, WireResponse};

/// Over HTTP/2, all names are in lower case.
const HEADERS: [KeyHeader; 4] = [
    KeyHeader { name: "X-API-Key", version: Version::Http1 },
    KeyHeader { name: "X-Api-Key", version: Version::Http1 },
    KeyHeader { name: "x-api-key", version: Version::Http1 },
    KeyHeader { name: "x-api-key", version: Version::Http2 },
];

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for header in &HEADERS {
        let name = format!("key in the header {} over {}", header.name, header.version);
        match inspection.client.send_with_key(CACHED_PATH, header, &inspection.keys.good).await {
            Ok(response) if response.status == 200 && response.is_success => report.check(name, Ok(())),
            Ok(WireResponse { status, .. }) => {
                let received =
                    if status == 200 { "200 with another body".to_owned() } else { status.to_string() };
                report.check(name, Err(Mismatch::new("a success with the status 200", received)));
            }
            Err(WireError::Unavailable(reason)) => report.skip(name, reason),
            Err(WireError::Failed(reason)) => report.check(name, Err(Mismatch::new("a response", reason))),
        }
    }
}
