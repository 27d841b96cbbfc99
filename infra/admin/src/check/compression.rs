//! Responses are compressed for clients that accept gzip, and have the same content for all clients.

use common::routes::{ITEMS, OPENAPI};
use conformance::Mismatch;

use super::inspection::Inspection;
use super::report::Report;
use super::request::Request;
use super::response::Response;

/// How often to retry until two responses have data that was fetched at the same time.
const ATTEMPTS: usize = 3;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    // Items are large and change only once an hour.
    let items = Request::authorized(ITEMS.path, &inspection.keys.good);
    for request in [Request::anonymous(OPENAPI.path), items] {
        let name = format!("compression GET {}", request.target);
        report.check(name, compare(inspection, &request).await);
    }
}

async fn compare(inspection: &Inspection<'_>, request: &Request) -> Result<(), Mismatch> {
    let send = async |encoding| inspection.client.send(&request.clone().encoding(Some(encoding))).await;
    for _ in 0..ATTEMPTS {
        let compressed = send("gzip").await?;
        let plain = send("identity").await?;
        // A cache that stores either form must not serve it to clients of the other.
        let compressed_again = send("gzip").await?;
        check_encoding(&compressed, Some("gzip"))?;
        check_encoding(&plain, None)?;
        check_encoding(&compressed_again, Some("gzip"))?;
        if compressed.encoded_bytes >= plain.encoded_bytes {
            let received =
                format!("{} bytes with gzip, {} without", compressed.encoded_bytes, plain.encoded_bytes);
            return Err(Mismatch::new("fewer bytes with gzip", received));
        }
        let is_same_data = compressed.header("last-modified") == plain.header("last-modified")
            && compressed.is_cached() == plain.is_cached();
        if !is_same_data {
            continue;
        }
        return if compressed.text == plain.text {
            Ok(())
        } else {
            Err(Mismatch::new("the same content with gzip and without", compressed.summary()))
        };
    }
    Err(Mismatch::new("two responses with the same data", "different data each time"))
}

fn check_encoding(response: &Response, expected: Option<&str>) -> Result<(), Mismatch> {
    if response.status != 200 {
        return Err(Mismatch::new("the status 200", response.summary()));
    }
    let received = response.header("content-encoding").filter(|encoding| *encoding != "identity");
    if received == expected {
        return Ok(());
    }
    let text = |encoding: Option<&str>| {
        encoding
            .map_or_else(|| "no content encoding".to_owned(), |name| format!("the content encoding {name}"))
    };
    Err(Mismatch::new(text(expected), text(received)))
}
