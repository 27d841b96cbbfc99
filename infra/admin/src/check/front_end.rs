//! What the front end of API Gateway answers by itself, before the API and its gateway responses (`functions/README.md`,
//! Errors). The service cannot change these responses, so they are observations.

use common::routes::INDEX;

use super::inspection::Inspection;
use super::report::Report;
use super::request::Request;

/// Characters that RFC 3986 does not allow in a query, and that some clients send.
const RAW_CHARACTERS: [char; 3] = ['|', '{', '}'];
/// Paths that the front end reserves at the root of a custom domain.
const RESERVED_PATHS: [&str; 2] = ["/ping", "/sping"];

pub(super) async fn observe(inspection: &Inspection<'_>, report: &mut Report) {
    let raw = RAW_CHARACTERS.map(|character| format!("{}?raw={character}", INDEX.path));
    for (name, targets) in
        [("raw_characters", raw.to_vec()), ("reserved_paths", RESERVED_PATHS.map(str::to_owned).to_vec())]
    {
        let mut texts = Vec::new();
        let mut value = "envelope";
        for target in targets {
            let response = inspection.client.send(&Request::anonymous(&target)).await;
            let (text, is_enveloped) = match response {
                Ok(response) if response.has_envelope() => {
                    (format!("{} with the envelope", response.status), true)
                }
                Ok(response) => (format!("{} without the envelope", response.status), false),
                Err(_) => ("no response".to_owned(), false),
            };
            if !is_enveloped {
                value = "no_envelope";
            }
            texts.push(format!("GET {target} gets {text}"));
        }
        report.observe(name, value, texts.join("; "));
    }
}
