//! Only requests with a valid key of a paying account get a response, even if the response is in a cache. A route that requires no
//! key answers whatever the key is.

use common::auth::ApiKey;
use common::routes::MAYOR;
use conformance::{Mismatch, Operation};

use super::caching;
use super::envelope;
use super::inspection::Inspection;
use super::keys::{NO_LAPSED_KEY, NO_REVOKED_KEY};
use super::report::Report;
use super::request::{KEY_HEADER, Request};

/// A route that has been requested before, so that its response is in every cache.
pub(super) const CACHED_PATH: &str = MAYOR.path;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.document.operations().filter(Operation::requires_key) {
        if let Some(request) = inspection.example_requests(&operation, 200).first() {
            let result = check_rejected(inspection, &Request::anonymous(request), 401).await;
            report.check(format!("error 401 no key GET {}", operation.path()), result);
        }
    }
    // The index and the OpenAPI document have no key in any check.
    let is_route = |operation: &Operation<'_>| caching::cached_route(operation.path()).is_some();
    for operation in inspection.document.operations().filter(is_route) {
        if !operation.requires_key() {
            let result = check_open(inspection, operation.path()).await;
            report.check(format!("no key required GET {}", operation.path()), result);
        }
    }
    let good = inspection.keys.good.expose();
    let cached = || Request::anonymous(CACHED_PATH);
    let unknown = unknown_key();
    let random = unknown.as_ref().ok_or("the system has no random source");
    let in_url = if inspection.puts_key_into_url {
        Ok(Request::anonymous(format!("{CACHED_PATH}?{KEY_HEADER}={good}")))
    } else {
        Err("it puts the key into a URL, which logs keep; --key-in-url is not given")
    };
    let malformed = [
        ("empty key", Ok(cached().header(KEY_HEADER, ""))),
        ("malformed key", Ok(cached().header(KEY_HEADER, "gd_no-key"))),
        ("mistyped key", random.map(|key| cached().header(KEY_HEADER, &mistyped(key)))),
        ("unknown key", random.map(|key| Request::unauthorized(CACHED_PATH, key))),
        ("key in the query", in_url),
        ("key in Authorization", Ok(cached().header("Authorization", &format!("Bearer {good}")))),
        ("two keys", Ok(cached().header(KEY_HEADER, good).header(KEY_HEADER, good))),
    ];
    for (name, request) in malformed {
        let name = format!("error 401 {name}");
        match request {
            Ok(request) => report.check(name, check_rejected(inspection, &request, 401).await),
            Err(reason) => report.skip(name, reason),
        }
    }
    for (name, key, status, reason) in [
        ("error 403 lapsed key", &inspection.keys.lapsed, 403, NO_LAPSED_KEY),
        ("error 401 revoked key", &inspection.keys.revoked, 401, NO_REVOKED_KEY),
    ] {
        match key {
            Some(key) => {
                let request = Request::unauthorized(CACHED_PATH, key);
                report.check(name, check_rejected(inspection, &request, status).await);
            }
            None => report.skip(name, reason),
        }
    }
    report.check("cached response requires a key", check_cached(inspection).await);
}

/// Checks that the response is only an error with this status.
async fn check_rejected(inspection: &Inspection<'_>, request: &Request, status: u16) -> Result<(), Mismatch> {
    let response = inspection.client.send(request).await?;
    envelope::check_error(&response, status).map(drop)
}

/// Sends requests with the good key, which put the response into a cache, and then with bad ones.
async fn check_cached(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    for _ in 0..2 {
        envelope::check_success(&inspection.get(CACHED_PATH).await?)?;
    }
    for (request, status) in rejected_requests(inspection, CACHED_PATH) {
        check_rejected(inspection, &request, status).await?;
    }
    // The rejections must not be in the cache.
    envelope::check_success(&inspection.get(CACHED_PATH).await?).map(drop)
}

/// Checks that the route answers without a key, and with keys that other routes reject.
async fn check_open(inspection: &Inspection<'_>, path: &str) -> Result<(), Mismatch> {
    for (request, _) in rejected_requests(inspection, path) {
        envelope::check_success(&inspection.client.send(&request).await?)?;
    }
    Ok(())
}

/// Requests for `path` without a valid key, with the status of their rejection if the route requires one.
pub(super) fn rejected_requests(inspection: &Inspection<'_>, path: &str) -> Vec<(Request, u16)> {
    let Inspection { keys, .. } = inspection;
    let mut requests = vec![(Request::anonymous(path), 401)];
    let keys = [(unknown_key(), 401), (keys.lapsed.clone(), 403), (keys.revoked.clone(), 401)];
    requests.extend(
        keys.into_iter().filter_map(|(key, status)| Some((Request::unauthorized(path, &key?), status))),
    );
    requests
}

/// A well-formed key that has not been issued.
fn unknown_key() -> Option<ApiKey> {
    ApiKey::generate(getrandom::fill).ok()
}

/// The key with another last character.
fn mistyped(key: &ApiKey) -> String {
    let mut text = key.expose().to_owned();
    let last = text.pop();
    text.push(if last == Some('0') { '1' } else { '0' });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_is_malformed() {
        let key = unknown_key().unwrap();
        assert_eq!(mistyped(&key).len(), key.expose().len());
        assert!(mistyped(&key).parse::<ApiKey>().is_err());
    }
}
