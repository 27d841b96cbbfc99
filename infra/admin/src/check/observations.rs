//! What the gateway of this account does where nothing says what it should do. None of it is right or wrong; what cannot be
//! told from outside is not guessed.

use std::time::{Duration, SystemTime};

use common::routes::BAZAAR;
use reqwest::Method;
use tokio::time::{Instant, sleep};

use super::Inspection;
use super::answer::Answer;
use super::keys::{STORED, bad_callers};
use super::latency::{median, milliseconds};
use super::question::Question;
use super::report::{Failure, Report};

/// How often it is tried to meet one instance twice.
const ROUNDS: usize = 5;
/// How long before data expires an answer is stored that is made of it, and how much later it is asked for again: the
/// data has expired then, and the stored answer has not.
const BEFORE_THE_END: Duration = Duration::from_secs(2);
const LATER: Duration = Duration::from_millis(3_500);
/// What HTTP dates leave open, and what a request takes.
const MARGIN: Duration = Duration::from_millis(1_200);
/// How many errors are timed.
const TIMED: usize = 4;
/// Headers that say nothing about where an answer comes from.
const OF_THE_CONTENT: [&str; 6] =
    ["content-length", "content-encoding", "transfer-encoding", "last-modified", "expires", "connection"];

/// What became of a stored answer.
enum StageCache {
    /// It was given again.
    On(Box<Replay>),
    /// It was made anew.
    Off,
    Unknown(String),
}

/// An answer that was replayed, and two that were not.
struct Replay {
    stored: Answer,
    replayed: Answer,
    /// Whether a client's `Cache-Control` was obeyed, where that can be told.
    obeys_clients: Option<bool>,
    made: [Answer; 2],
}

pub(super) async fn observe(inspection: &Inspection<'_>, is_poisoned: bool, report: &mut Report) {
    let expected = expected_by_functions(inspection).await;
    let (value, text) = match &expected {
        Ok(true) => (
            "on",
            "a question that nobody asked before was answered with cached: true, as functions do that have a stage cache in front of them (GatewayCache)",
        ),
        Ok(false) => (
            "off",
            "a question that nobody asked before was answered with cached: false, as functions do that have no stage cache in front of them (GatewayCache)",
        ),
        Err(failure) => ("unknown", failure.came.as_str()),
    };
    report.observe("functions_expect_stage_cache", value, text);
    let found = stage_cache(inspection).await;
    let found = found.unwrap_or_else(|failure| StageCache::Unknown(failure.came));
    let (value, text) = match &found {
        StageCache::On(_) => (
            "on",
            "an answer was given again with its old Last-Modified after its data had expired, while the same question in other words was answered with new data",
        ),
        StageCache::Off => (
            "off",
            "an answer asked for again after its data had expired, and before a stage cache would have dropped it, had new data",
        ),
        StageCache::Unknown(reason) => ("cannot_be_told", reason.as_str()),
    };
    report.observe("stage_cache", value, text);
    let (value, text) = match &found {
        StageCache::On(replay) => match replay.obeys_clients {
            Some(true) => (
                "obeyed",
                "a stored answer was made anew for a request with Cache-Control: max-age=0, so every client can go past the cache",
            ),
            Some(false) => {
                ("ignored", "a stored answer was given to a request with Cache-Control: max-age=0")
            }
            None => ("cannot_be_told", "the stored answer was too old by then"),
        },
        _ => ("cannot_be_told", "no stored answer was seen"),
    };
    report.observe("cache_control_of_clients", value, text);
    let (value, text) = stored_errors(inspection, &found, is_poisoned).await;
    report.observe("errors_stored", value, text);
    let (value, text) = authorizer(inspection, &found).await;
    report.observe("authorizer_on_hit", value, text);
    let (value, text) = head(inspection).await;
    report.observe("head", value, text);
    let (value, text) = without_accept_encoding(inspection).await;
    report.observe("without_accept_encoding", value, text);
}

/// Whether functions believe that what they answer is stored.
async fn expected_by_functions(inspection: &Inspection<'_>) -> Result<bool, Failure> {
    let request = format!("/v1/bazaar/history?item_id={}", inspection.unknown_item());
    let answer = inspection.paid(&request).await?;
    answer.cached().ok_or_else(|| Failure::new("an answer with meta.cached", answer.shown()))
}

/// Tells a stage cache from a function's own memory: both keep an answer for the same time, but the stage cache counts from
/// when it was stored, the function from when its data was fetched. A question that nobody asked before, because it has an
/// `id` that the mode does not read, is stored shortly before the data expires.
async fn stage_cache(inspection: &Inspection<'_>) -> Result<StageCache, Failure> {
    let question = || {
        let path = format!("{}?mode=flips&limit=1&id={}", BAZAAR.path, inspection.unknown_item());
        Question::paid(path, &inspection.keys.good)
    };
    let mut reason = "two requests in a row never met the same instance".to_owned();
    for _ in 0..ROUNDS {
        let first = inspection.target.ask(&question()).await?;
        let (Some(fetched), Some(left)) = (fetched(&first), left(&first)) else {
            return Ok(StageCache::Unknown(
                "answers of the bazaar have no Last-Modified, Expires or Date".to_owned(),
            ));
        };
        let Some(pause) = left.checked_sub(BEFORE_THE_END) else {
            sleep(left + MARGIN).await;
            "answers of the bazaar were never fresh".clone_into(&mut reason);
            continue;
        };
        sleep(pause).await;
        let stored_question = question();
        let asked_at = Instant::now();
        let stored = inspection.target.ask(&stored_question).await?;
        if self::fetched(&stored) != Some(fetched) {
            continue;
        }
        sleep(LATER).await;
        let replayed = inspection.target.ask(&stored_question).await?;
        let is_in_time = asked_at.elapsed() < BAZAAR.cache;
        let without_cache = stored_question.with("Cache-Control", "max-age=0");
        let past_the_cache = inspection.target.ask(&without_cache).await?;
        let is_still_in_time = asked_at.elapsed() < BAZAAR.cache;
        let control = inspection.target.ask(&question()).await?;
        if self::fetched(&replayed) != Some(fetched) {
            if is_in_time {
                return Ok(StageCache::Off);
            }
            "the answers took too long".clone_into(&mut reason);
            continue;
        }
        if self::fetched(&control) <= Some(fetched) {
            "functions gave data that had expired; the provider seems to fail".clone_into(&mut reason);
            continue;
        }
        let obeys_clients = match self::fetched(&past_the_cache) {
            again if again == Some(fetched) => Some(false),
            _ if is_still_in_time => Some(true),
            _ => None,
        };
        return Ok(StageCache::On(Box::new(Replay {
            stored,
            replayed,
            obeys_clients,
            made: [first, control],
        })));
    }
    Ok(StageCache::Unknown(reason))
}

fn fetched(answer: &Answer) -> Option<SystemTime> {
    answer.moment("last-modified")
}

/// How long the answer was still fresh when it came.
fn left(answer: &Answer) -> Option<Duration> {
    let (expires, now) = answer.moment("expires").zip(answer.moment("date"))?;
    Some(expires.duration_since(now).unwrap_or_default())
}

/// How a header behaves from one answer to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Absent,
    Appears,
    Vanishes,
    Same,
    Other,
}

fn sign(name: &str, first: &Answer, second: &Answer) -> Sign {
    match (first.header(name), second.header(name)) {
        (None, None) => Sign::Absent,
        (None, Some(_)) => Sign::Appears,
        (Some(_), None) => Sign::Vanishes,
        (Some(one), Some(other)) if one == other => Sign::Same,
        _ => Sign::Other,
    }
}

/// A header that behaves in one way when an answer is replayed and in another when it is made.
fn telling_header(replay: &Replay) -> Option<(&str, Sign, Sign)> {
    let [one, other] = &replay.made;
    let names = replay.stored.headers.keys().chain(replay.replayed.headers.keys());
    let names = names.map(reqwest::header::HeaderName::as_str).filter(|name| !OF_THE_CONTENT.contains(name));
    names
        .map(|name| (name, sign(name, &replay.stored, &replay.replayed), sign(name, one, other)))
        .find(|(_, replayed, made)| replayed != made)
}

/// Whether the gateway keeps the errors that functions answer with.
async fn stored_errors(
    inspection: &Inspection<'_>,
    found: &StageCache,
    is_poisoned: bool,
) -> (&'static str, String) {
    if is_poisoned {
        return ("yes", "the error for one item was given to who asked for another".to_owned());
    }
    let replay = match found {
        StageCache::On(replay) => replay,
        StageCache::Off => return ("no", "there is no stage cache".to_owned()),
        StageCache::Unknown(_) => return ("cannot_be_told", "no stored answer was seen".to_owned()),
    };
    let timed = time_errors(inspection).await;
    let Ok((pair, new, repeated)) = timed else {
        return ("cannot_be_told", "there was no answer".to_owned());
    };
    if let Some((name, replayed, made)) = telling_header(replay) {
        let [first, second] = &pair;
        let came = sign(name, first, second);
        if came == replayed {
            return ("yes", format!("the header {name} behaves as when a stored answer is replayed"));
        }
        if came == made {
            return ("no", format!("the header {name} behaves as when an answer is made"));
        }
    }
    let (new, repeated) = (milliseconds(median(new)), milliseconds(median(repeated)));
    let text = format!(
        "no header differs between a replayed answer and one that is made; a new error took {new} ms and the same again \
         {repeated} ms (medians of {TIMED})"
    );
    ("cannot_be_told", text)
}

/// The first and the second answer of the same error, and how long new errors took and repeated ones.
async fn time_errors(
    inspection: &Inspection<'_>,
) -> Result<([Answer; 2], Vec<Duration>, Vec<Duration>), Failure> {
    let request = || format!("{}?mode=item&id={}", BAZAAR.path, inspection.unknown_item());
    let (mut new, mut repeated) = (Vec::new(), Vec::new());
    for _ in 1..TIMED {
        new.push(inspection.paid(&request()).await?.elapsed);
    }
    let request = request();
    let first = inspection.paid(&request).await?;
    new.push(first.elapsed);
    // Their dates differ, unless they are replayed, too.
    sleep(MARGIN).await;
    let second = inspection.paid(&request).await?;
    repeated.push(second.elapsed);
    for _ in 1..TIMED {
        repeated.push(inspection.paid(&request).await?.elapsed);
    }
    Ok(([first, second], new, repeated))
}

/// Whether who may not ask is refused where an answer is stored.
async fn authorizer(inspection: &Inspection<'_>, found: &StageCache) -> (&'static str, String) {
    if !matches!(found, StageCache::On(_)) {
        return ("cannot_be_told", "no stored answer was seen".to_owned());
    }
    let stored = [inspection.paid(STORED).await, inspection.paid(STORED).await];
    let [Ok(first), Ok(second)] = stored else { return ("cannot_be_told", "there was no answer".to_owned()) };
    if first.text != second.text || fetched(&first) != fetched(&second) {
        return ("cannot_be_told", "the stored answer expired meanwhile".to_owned());
    }
    let mut statuses = Vec::new();
    for (question, _) in bad_callers(inspection) {
        match inspection.target.ask(&question).await {
            Ok(answer) if answer.status == 200 => {
                return ("no", "a stored answer was given to who may not ask".to_owned());
            }
            Ok(answer) => statuses.push(answer.status.to_string()),
            Err(failure) => return ("cannot_be_told", failure.came),
        }
    }
    let text = format!(
        "who may not ask for a stored answer got {}; whether the function was asked or its answer remembered is not \
         visible",
        statuses.join(", ")
    );
    ("yes", text)
}

async fn head(inspection: &Inspection<'_>) -> (String, String) {
    let question = Question::paid(STORED, &inspection.keys.good).method(Method::HEAD);
    match inspection.target.ask(&question).await {
        Ok(answer) => (
            answer.status.to_string(),
            format!("HEAD {STORED} with a good key is answered with {}", answer.status),
        ),
        Err(failure) => ("none".to_owned(), failure.came),
    }
}

async fn without_accept_encoding(inspection: &Inspection<'_>) -> (String, String) {
    match inspection.target.ask(&Question::anonymous(common::routes::OPENAPI.path).encoding(None)).await {
        Ok(answer) => {
            let encoding = answer.header("content-encoding").unwrap_or("identity").to_owned();
            let text = format!("a request without Accept-Encoding gets {} bytes", answer.sent_bytes);
            (encoding, text)
        }
        Err(failure) => ("none".to_owned(), failure.came),
    }
}
