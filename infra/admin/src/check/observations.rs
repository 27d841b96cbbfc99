//! Behaviour of API Gateway that AWS does not document. Observations are neither right nor wrong, and `check` does not
//! guess what it cannot see.

use std::time::Duration;

use common::routes::{BAZAAR, BAZAAR_HISTORY, OPENAPI};
use conformance::Mismatch;
use reqwest::Method;
use tokio::time::{Instant, sleep, sleep_until};

use super::authorization::{CACHED_PATH, rejected_requests};
use super::inspection::Inspection;
use super::latency::{median, milliseconds};
use super::report::Report;
use super::request::Request;
use super::response::Response;

/// How often to try to reach the same instance of a function twice.
const ROUNDS: usize = 5;
/// How long before its data expires a response is cached, and how much later its request is repeated: the data has expired
/// then, and the cached response has not.
const BEFORE_EXPIRY: Duration = Duration::from_secs(2);
const REPEAT_DELAY: Duration = Duration::from_millis(3_500);
/// The precision of HTTP dates, and the duration of a request.
const MARGIN: Duration = Duration::from_millis(1_200);
/// The limit of the stage cache for a response.
const MAX_CACHED_BYTES: usize = 1_048_576;
/// How many errors are timed.
const TIMED_ERRORS: usize = 4;
/// Headers that do not depend on the origin of a response.
const CONTENT_HEADERS: [&str; 6] =
    ["content-length", "content-encoding", "transfer-encoding", "last-modified", "expires", "connection"];

/// The value for programs and the text for people.
type Observation = (&'static str, String);

fn unknown(reason: impl Into<String>) -> Observation {
    ("unknown", reason.into())
}

/// Whether API Gateway caches responses.
enum StageCache {
    /// It served a cached response.
    On(Box<Replay>),
    /// The function made a new response.
    Off,
    Unknown(String),
}

/// A response that the stage cache served again, and two that it did not serve.
struct Replay {
    original: Response,
    replayed: Response,
    /// Whether API Gateway obeyed the `Cache-Control` of the client, if that is known.
    obeys_clients: Option<bool>,
    uncached: [Response; 2],
    large: LargeResponse,
}

/// A response that is above the limit of the stage cache, but compressed below it.
enum LargeResponse {
    /// It was served again, so the cache measures compressed bodies.
    Stored,
    /// It was not served again, so the cache measures bodies before compression.
    NotStored,
    Unknown(&'static str),
}

pub(super) async fn observe(inspection: &Inspection<'_>, cache_key_is_broken: bool, report: &mut Report) {
    let stage_cache = find_stage_cache(inspection).await;
    let stage_cache = stage_cache.unwrap_or_else(|mismatch| StageCache::Unknown(mismatch.received));
    let (value, text) = describe_stage_cache(&stage_cache);
    report.observe("stage_cache", value, text);
    let (value, text) = cache_control_of_clients(&stage_cache);
    report.observe("cache_control_of_clients", value, text);
    let (value, text) = cache_measures(&stage_cache);
    report.observe("cache_measures", value, text);
    let (value, text) = errors_stored(inspection, &stage_cache, cache_key_is_broken).await;
    report.observe("errors_stored", value, text);
    let (value, text) = authorizer_on_hit(inspection, &stage_cache).await;
    report.observe("authorizer_on_hit", value, text);
    let (value, text) = head(inspection).await;
    report.observe("head", value, text);
    for (name, encoding) in [
        ("without_accept_encoding", None),
        ("accept_encoding_br_gzip", Some("br, gzip")),
        ("accept_encoding_gzip_br", Some("gzip, br")),
    ] {
        let (value, text) = content_encoding(inspection, encoding).await;
        report.observe(name, value, text);
    }
}

/// Reports and returns whether the functions expect a stage cache in front of them. `None` if that is not visible.
pub(super) async fn functions_expect_stage_cache(
    inspection: &Inspection<'_>,
    report: &mut Report,
) -> Option<bool> {
    let request = format!("{}?item_id={}", BAZAAR_HISTORY.path, inspection.unknown_item());
    let response = inspection.get(&request).await;
    let is_cached = response.as_ref().ok().and_then(Response::is_cached);
    let (value, text) = match (is_cached, response) {
        (Some(is_cached), _) => {
            let (value, answer) = if is_cached { ("on", "do") } else { ("off", "do not") };
            let text = format!(
                "the first response to a request had cached: {is_cached}, so the functions {answer} expect a stage cache \
                 (GatewayCache)"
            );
            (value, text)
        }
        (None, Ok(response)) => unknown(response.summary()),
        (None, Err(mismatch)) => unknown(mismatch.received),
    };
    report.observe("functions_expect_stage_cache", value, text);
    is_cached
}

/// Tells a stage cache from the cache of a function. Both keep a response for the TTL of the route, but the stage cache
/// counts from when it stored the response, and a function from when it fetched the data. A new request, which differs in
/// an `id` that its mode ignores, is stored shortly before the data of the function expires.
async fn find_stage_cache(inspection: &Inspection<'_>) -> Result<StageCache, Mismatch> {
    let new_request = || {
        let target = format!("{}?mode=flips&limit=1&id={}", BAZAAR.path, inspection.unknown_item());
        Request::authorized(target, &inspection.keys.good)
    };
    let mut reason = "no two consecutive requests reached the same instance";
    for _ in 0..ROUNDS {
        let first = inspection.client.send(&new_request()).await?;
        let (Some(fetched_at), Some(time_to_live)) = (first.fetched_at(), time_to_live(&first)) else {
            let reason = "responses of the bazaar have no Last-Modified, Expires or Date";
            return Ok(StageCache::Unknown(reason.to_owned()));
        };
        let Some(delay) = time_to_live.checked_sub(BEFORE_EXPIRY) else {
            sleep(time_to_live + MARGIN).await;
            reason = "responses of the bazaar were never fresh";
            continue;
        };
        sleep(delay).await;
        let request = new_request();
        let stored_at = Instant::now();
        let original = inspection.client.send(&request).await?;
        let large_request = format!("{}?mode=full&id={}", BAZAAR.path, inspection.unknown_item());
        let large = inspection.get(&large_request).await?;
        if original.fetched_at() != Some(fetched_at) {
            continue;
        }
        sleep_until(stored_at + REPEAT_DELAY).await;
        let replayed = inspection.client.send(&request).await?;
        let is_in_time = stored_at.elapsed() < BAZAAR.cache;
        let bypassing = inspection.client.send(&request.header("Cache-Control", "max-age=0")).await?;
        let is_still_in_time = stored_at.elapsed() < BAZAAR.cache;
        let large_again = inspection.get(&large_request).await?;
        let large_is_in_time = stored_at.elapsed() < BAZAAR.cache;
        let control = inspection.client.send(&new_request()).await?;
        if replayed.fetched_at() != Some(fetched_at) {
            if is_in_time {
                return Ok(StageCache::Off);
            }
            reason = "the responses took too long";
            continue;
        }
        if control.fetched_at() <= Some(fetched_at) {
            reason = "functions returned expired data; the provider seems to fail";
            continue;
        }
        let obeys_clients = match bypassing.fetched_at() {
            again if again == Some(fetched_at) => Some(false),
            _ if is_still_in_time => Some(true),
            _ => None,
        };
        let large = if large.fetched_at() != Some(fetched_at) {
            LargeResponse::Unknown("the large response came from another instance")
        } else if large.text.len() <= MAX_CACHED_BYTES || large.encoded_bytes > MAX_CACHED_BYTES {
            LargeResponse::Unknown("no response is above 1 MiB and compressed below it")
        } else if large_again.fetched_at() == large.fetched_at() {
            LargeResponse::Stored
        } else if large_is_in_time {
            LargeResponse::NotStored
        } else {
            LargeResponse::Unknown("the responses took too long")
        };
        let uncached = [first, control];
        return Ok(StageCache::On(Box::new(Replay { original, replayed, obeys_clients, uncached, large })));
    }
    Ok(StageCache::Unknown(reason.to_owned()))
}

/// How long the response was still fresh when it was sent.
fn time_to_live(response: &Response) -> Option<Duration> {
    let (expires_at, sent_at) = response.time("expires").zip(response.time("date"))?;
    Some(expires_at.duration_since(sent_at).unwrap_or_default())
}

fn describe_stage_cache(stage_cache: &StageCache) -> Observation {
    let (value, text) = match stage_cache {
        StageCache::On(_) => (
            "on",
            "a response was served again with its Last-Modified after its data had expired, while an equivalent request \
             got new data",
        ),
        StageCache::Off => (
            "off",
            "a request that was repeated after its data had expired, and before a stage cache would have dropped the \
             response, got new data",
        ),
        StageCache::Unknown(reason) => return unknown(reason),
    };
    (value, text.to_owned())
}

fn cache_control_of_clients(stage_cache: &StageCache) -> Observation {
    let StageCache::On(replay) = stage_cache else { return unknown("no cached response was observed") };
    let (value, text) = match replay.obeys_clients {
        Some(true) => (
            "obeyed",
            "a request with Cache-Control: max-age=0 got a new response, so every client can bypass the cache",
        ),
        Some(false) => ("ignored", "a request with Cache-Control: max-age=0 got the cached response"),
        None => return unknown("the cached response had expired"),
    };
    (value, text.to_owned())
}

/// Whether the stage cache measures responses compressed or not: it does not store those above 1 MiB.
fn cache_measures(stage_cache: &StageCache) -> Observation {
    let StageCache::On(replay) = stage_cache else { return unknown("no cached response was observed") };
    let (value, text) = match replay.large {
        LargeResponse::Stored => {
            ("compressed", "a response above 1 MiB that is compressed below it was served again")
        }
        LargeResponse::NotStored => {
            ("uncompressed", "a response above 1 MiB was not stored, although it is compressed below it")
        }
        LargeResponse::Unknown(reason) => return unknown(reason),
    };
    (value, text.to_owned())
}

/// How a header changes from one response to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Absent,
    Appears,
    Disappears,
    Unchanged,
    Differs,
}

fn change(name: &str, first: &Response, second: &Response) -> Change {
    match (first.header(name), second.header(name)) {
        (None, None) => Change::Absent,
        (None, Some(_)) => Change::Appears,
        (Some(_), None) => Change::Disappears,
        (Some(one), Some(other)) if one == other => Change::Unchanged,
        _ => Change::Differs,
    }
}

/// A header that changes in one way when a response is replayed, and in another when it is not.
fn telling_header(replay: &Replay) -> Option<(&str, Change, Change)> {
    let [one, other] = &replay.uncached;
    let names = replay.original.headers.keys().chain(replay.replayed.headers.keys());
    let names = names.map(reqwest::header::HeaderName::as_str).filter(|name| !CONTENT_HEADERS.contains(name));
    names
        .map(|name| (name, change(name, &replay.original, &replay.replayed), change(name, one, other)))
        .find(|(_, replayed, uncached)| replayed != uncached)
}

/// Whether API Gateway caches the errors of functions.
async fn errors_stored(
    inspection: &Inspection<'_>,
    stage_cache: &StageCache,
    cache_key_is_broken: bool,
) -> Observation {
    if cache_key_is_broken {
        return ("yes", "the error about one item was served to a request for another".to_owned());
    }
    let replay = match stage_cache {
        StageCache::On(replay) => replay,
        StageCache::Off => return ("no", "there is no stage cache".to_owned()),
        StageCache::Unknown(_) => return unknown("no cached response was observed"),
    };
    let Ok(ErrorTimes { first, second, new, repeated }) = time_errors(inspection).await else {
        return unknown("there was no response");
    };
    if let Some((name, replayed, uncached)) = telling_header(replay) {
        let received = change(name, &first, &second);
        if received == replayed {
            return ("yes", format!("the header {name} of a repeated error changes as in a cached response"));
        }
        if received == uncached {
            return ("no", format!("the header {name} of a repeated error changes as in a new response"));
        }
    }
    let (new, repeated) = (milliseconds(median(new)), milliseconds(median(repeated)));
    unknown(format!(
        "no header tells a cached response from a new one; a new error took {new} ms, a repeated one {repeated} ms \
         (medians of {TIMED_ERRORS})"
    ))
}

/// Two responses to the same invalid request, and the latencies of new and repeated errors.
struct ErrorTimes {
    first: Response,
    second: Response,
    new: Vec<Duration>,
    repeated: Vec<Duration>,
}

async fn time_errors(inspection: &Inspection<'_>) -> Result<ErrorTimes, Mismatch> {
    let new_request = || format!("{}?mode=item&id={}", BAZAAR.path, inspection.unknown_item());
    let (mut new, mut repeated) = (Vec::new(), Vec::new());
    for _ in 1..TIMED_ERRORS {
        new.push(inspection.get(&new_request()).await?.elapsed);
    }
    let request = new_request();
    let first = inspection.get(&request).await?;
    new.push(first.elapsed);
    // The dates of two new responses must differ.
    sleep(MARGIN).await;
    let second = inspection.get(&request).await?;
    repeated.push(second.elapsed);
    for _ in 1..TIMED_ERRORS {
        repeated.push(inspection.get(&request).await?.elapsed);
    }
    Ok(ErrorTimes { first, second, new, repeated })
}

/// Whether API Gateway asks the authorizer before it serves a cached response.
async fn authorizer_on_hit(inspection: &Inspection<'_>, stage_cache: &StageCache) -> Observation {
    if !matches!(stage_cache, StageCache::On(_)) {
        return unknown("no cached response was observed");
    }
    let responses = [inspection.get(CACHED_PATH).await, inspection.get(CACHED_PATH).await];
    let [Ok(first), Ok(second)] = responses else { return unknown("there was no response") };
    if first.text != second.text || first.fetched_at() != second.fetched_at() {
        return unknown("the cached response has expired");
    }
    let mut statuses = Vec::new();
    for (request, _) in rejected_requests(inspection, CACHED_PATH) {
        match inspection.client.send(&request).await {
            Ok(response) if response.status == 200 => {
                return ("no", "a request without a valid key got the cached response".to_owned());
            }
            Ok(response) => statuses.push(response.status.to_string()),
            Err(mismatch) => return unknown(mismatch.received),
        }
    }
    let text = format!(
        "requests without a valid key for a cached response got {}; whether API Gateway asked the authorizer or cached \
         its policy is not visible",
        statuses.join(", ")
    );
    ("yes", text)
}

async fn head(inspection: &Inspection<'_>) -> (String, String) {
    let request = Request::authorized(CACHED_PATH, &inspection.keys.good).method(Method::HEAD);
    match inspection.client.send(&request).await {
        Ok(response) => (
            response.status.to_string(),
            format!("HEAD {CACHED_PATH} with a valid key gets {}", response.status),
        ),
        Err(mismatch) => ("none".to_owned(), mismatch.received),
    }
}

/// The content encoding of the response to a request with this `Accept-Encoding`.
async fn content_encoding(inspection: &Inspection<'_>, accepted: Option<&'static str>) -> (String, String) {
    match inspection.client.send(&Request::anonymous(OPENAPI.path).encoding(accepted)).await {
        Ok(response) => {
            let encoding = response.header("content-encoding").unwrap_or("identity").to_owned();
            let sent = accepted.map_or_else(
                || "without Accept-Encoding".to_owned(),
                |accepted| format!("with Accept-Encoding: {accepted}"),
            );
            (encoding, format!("a request {sent} gets {} bytes", response.encoded_bytes))
        }
        Err(mismatch) => ("none".to_owned(), mismatch.received),
    }
}
