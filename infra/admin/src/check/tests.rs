//! Every promise is checked on a local cloud, which keeps it. Then each entry of a table breaks a promise by changing the
//! responses, and the check must fail.

use common::routes::OPENAPI;
use conformance::Document;
use indicatif::ProgressBar;
use local::{Cloud, Options};
use reqwest::header::{HeaderName, HeaderValue};

use super::client::Client;
use super::contract::{Subject, promises};
use super::document::document;
use super::keys::Keys;
use super::request::Request;
use super::response::Response;

/// The longest reason that is readable.
const MAX_REASON: usize = 700;
/// Promises about errors.
const ERRORS: &[&str] =
    &["error 401 ", "error 403 ", "error 404 GET ", "error 404 POST ", "error 404 DELETE ", "error 429"];
const OLD: &str = "Sat, 21 Nov 2020 15:44:58 GMT";

/// How promises whose names begin with one of the words are broken.
type Breakage = (&'static [&'static str], &'static str, fn(&mut Vec<Response>));

const BREAKAGES: &[Breakage] = &[
    (&["OpenAPI document"], "another version", |r| edit(&mut r[0], r#""version":""#, r#""version":"9"#)),
    (&["OpenAPI document"], "another document", |r| edit(&mut r[0], "fields", "Fields")),
    (&["OpenAPI document"], "another site", |r| r[0].text = "<html>".to_owned()),
    (&["response GET ", "no key required "], "another status", |r| r[0].status = 302),
    (&["response GET ", "no key required "], "another type", |r| remove(&mut r[0], "content-type")),
    (&["response GET "], "an incomplete body", |r| r[0].text.truncate(9)),
    (&["response GET /v1/"], "an undescribed field", |r| edit(&mut r[0], r#""data":{"#, r#""data":{"x":1,"#)),
    (&["response GET /v1/"], "another envelope", |r| edit(&mut r[0], r#""v1"}"#, r#""v2"}"#)),
    (&["response GET /v1/"], "no CORS header", |r| remove(&mut r[0], "access-control-allow-origin")),
    (&["response GET /v1/"], "two CORS headers", |r| twice(&mut r[0], "access-control-allow-origin")),
    (&["response GET /v1/"], "hidden Retry-After", |r| remove(&mut r[0], "access-control-expose-headers")),
    (&["response GET /v1/"], "shared caches", |r| set(&mut r[0], "cache-control", "public")),
    (&["response GET /v1/"], "no Last-Modified", |r| remove(&mut r[0], "last-modified")),
    (&["response GET /v1/"], "another TTL", |r| set(&mut r[0], "last-modified", OLD)),
    (&["response GET /v1/"], "two times", |r| twice(&mut r[0], "expires")),
    (&["preflight "], "a refusal", |r| r[0].status = 403),
    (&["preflight "], "no header with a key", |r| remove(&mut r[0], "access-control-allow-headers")),
    (&["preflight "], "other methods", |r| set(&mut r[0], "access-control-allow-methods", "POST")),
    (&["cache key "], "the stored response", |r| r[1] = r[0].clone()),
    (&["cache key "], "another parameter's error", |r| edit(&mut r[1], "check,,none", "none")),
    (ERRORS, "a success", |r| r[0].status = 200),
    (ERRORS, "AWS's own body", |r| r[0].text = r#"{"message":"Forbidden"}"#.to_owned()),
    (ERRORS, "another code", |r| edit(&mut r[0], r#""code":""#, r#""code":"X"#)),
    (ERRORS, "no CORS header", |r| remove(&mut r[0], "access-control-allow-origin")),
    (ERRORS, "browsers store it", |r| remove(&mut r[0], "cache-control")),
    (&["error 401 ", "error 403 ", "error 404 GET "], "Retry-After", |r| set(&mut r[0], "retry-after", "1")),
    (&["error 404 GET ", "error 404 POST "], "no path", |r| edit(&mut r[0], "/", "")),
    (&["error 404 HEAD "], "another status", |r| r[0].status = 405),
    (&["error 429"], "no Retry-After", |r| remove(&mut r[0], "retry-after")),
    (&["error 429"], "no limit", |r| r.clear()),
    (&["limit of profiles "], "no limit", |r| r[0].status = 400),
    (&["limit of profiles "], "a limit for all routes", |r| r[1] = r[0].clone()),
    (&["limit of profiles "], "no response", |r| r.clear()),
    (&["key in the header "], "one spelling of the header", |r| r[0].status = 401),
    (&["cached response "], "a response without a key", |r| r[2] = r[0].clone()),
    (&["cached response "], "a response with an unknown key", |r| r[3] = r[0].clone()),
    (&["cached response "], "a cached rejection", |r| r[4] = r[3].clone()),
    (&["trailing slash ", "unknown parameter "], "an unknown route", |r| r[0].status = 404),
    (&["parameters are kept "], "an escaped = separates", |r| r[1] = r[0].clone()),
    (&["parameters are kept "], "an escaped & separates", |r| r[2] = r[0].clone()),
    (&["parameters are kept "], "the cache joins them", |r| r[3] = r[2].clone()),
    (&["repeated parameter is "], "the first value", |r| r[1].status = 404),
    (&["repeated parameter is "], "the last value", |r| r[2].status = 200),
    (&["repeated parameter does "], "the error of another request", |r| r.swap(2, 3)),
    (&["repeated parameter does "], "a stored rejection", |r| r[2] = r[0].clone()),
    (&["parameter that is repeated "], "another value", |r| edit(&mut r[0], "CHECK_", "NO_")),
    (&["cache GET "], "fetched each time", |r| each(r, |r, n| set(r, "last-modified", &n.to_string()))),
    (&["cache GET "], "never cached", |r| each(r, |r, _| edit(r, r#""cached":true"#, r#""cached":false"#))),
    (&["cache GET "], "other bytes", |r| each(r, |r, n| edit(r, "items", &n.to_string()))),
    (&["compression "], "never compressed", |r| remove(&mut r[0], "content-encoding")),
    (&["compression "], "always compressed", |r| set(&mut r[1], "content-encoding", "gzip")),
    (&["compression "], "not for browsers", |r| remove(&mut r[2], "content-encoding")),
    (&["compression "], "not smaller", |r| r[0].encoded_bytes = r[1].encoded_bytes),
    (&["compression "], "other content", |r| r[0].text.push(' ')),
    (&["escaped path "], "another player", |r| edit(&mut r[1], r#""username":""#, r#""username":"x"#)),
    (&["escaped query "], "another item", |r| edit(&mut r[1], r#""id":""#, r#""id":"x"#)),
    (&["icon "], "no type", |r| remove(&mut r[0], "content-type")),
    (&["page "], "no policy", |r| remove(&mut r[0], "content-security-policy")),
    (&["page "], "a missing file", |r| r[1].status = 404),
    (&["page "], "an empty file", |r| r[1].text.clear()),
    (&["page "], "a file that is not kept", |r| remove(&mut r[1], "cache-control")),
    (&["page "], "another page", |r| r[0].text = "{}".to_owned()),
    (&["page "], "no files", |r| r.truncate(1)),
    (&["redirect "], "no query", |r| set(&mut r[0], "location", "..")),
    (&["redirect "], "another status", |r| r[0].status = 301),
];

fn edit(response: &mut Response, from: &str, to: &str) {
    response.text = response.text.replace(from, to);
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    response.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
}

fn remove(response: &mut Response, name: &str) {
    response.headers.remove(name);
}

fn twice(response: &mut Response, name: &'static str) {
    response.headers.append(HeaderName::from_static(name), HeaderValue::from_static("*"));
}

fn each(responses: &mut [Response], change: impl Fn(&mut Response, usize)) {
    responses.iter_mut().enumerate().for_each(|(number, response)| change(response, number));
}

#[tokio::test]
async fn a_local_cloud_keeps_every_promise_and_each_can_be_broken() {
    // The last promises use up the bursts.
    let parameters = [
        ("GatewayCache", "on"),
        ("ProRateLimit", "1"),
        ("ProBurstLimit", "400"),
        ("ProfileRateLimit", "1"),
        ("ProfileBurstLimit", "50"),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let cloud = Cloud::start(Options { parameters, ..Options::for_tests() }).await.unwrap();
    cloud.record_no_auctions().await.unwrap();
    let issued = cloud.keys().unwrap();
    let keys = Keys {
        good: issued.pro.clone(),
        lapsed: Some(issued.lapsed.clone()),
        revoked: Some(issued.revoked.clone()),
    };
    let client = Client::new(&cloud.url(), 1_000.0, ProgressBar::hidden()).unwrap();
    let served = client.send(&Request::anonymous(OPENAPI.path)).await.unwrap();
    let document = Document::new(document(&served).unwrap());
    let subject =
        Subject { document: &document, keys: &keys, player: None, pages_are_off: false, throttles: true };

    let mut problems = Vec::new();
    let mut uses = [0; BREAKAGES.len()];
    for promise in promises(&subject).unwrap() {
        let name = &promise.name;
        let Ok(ask) = &promise.ask else {
            assert_eq!(name, "response GET /v1/bazaar/candles/all");
            continue;
        };
        let responses = ask.send(&client).await.unwrap();
        assert_eq!(promise.judge(&responses), Ok(()), "{name}");
        let breaks = |(names, ..): &Breakage| names.iter().any(|start| name.starts_with(start));
        let uses_before = uses;
        for ((_, how, change), uses) in
            BREAKAGES.iter().zip(&mut uses).filter(|(breakage, _)| breaks(breakage))
        {
            *uses += 1;
            let mut broken = responses.clone();
            change(&mut broken);
            match promise.judge(&broken) {
                Ok(()) => problems.push(format!("{name}: not noticed: {how}")),
                Err(mismatch) => {
                    let texts = [&mismatch.expected, &mismatch.received];
                    if texts.iter().any(|text| text.is_empty() || text.len() > MAX_REASON) {
                        problems.push(format!("{name}: {how} has no readable reason: {mismatch}"));
                    }
                }
            }
        }
        if uses == uses_before {
            problems.push(format!("{name}: nothing breaks it"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(!uses.contains(&0), "how often each entry was used: {uses:?}");
}

#[test]
fn the_default_rate_is_below_the_limits_of_every_tier() {
    let document = local::template::Document::read(&Options::default().template).unwrap();
    let parameters = [("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())];
    let plans = document.evaluate(&parameters.into()).unwrap().usage_plans;
    assert!(plans.len() == 2 && plans.iter().all(|plan| super::DEFAULT_RATE < plan.throttle.unwrap().rate));
}
