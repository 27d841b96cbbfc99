//! What an answer says of its age.

use std::time::Duration;

use common::routes::{Route, VERSION_1};

use super::answer::Answer;
use super::report::Failure;

/// What a second answer shows about the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was kept, and given again as it was.
    Kept,
    /// The second was asked for when the first was no longer fresh.
    TooLate,
}

/// The route whose answers are kept.
pub(super) fn route(path: &str) -> Option<&'static Route> {
    VERSION_1.into_iter().find(|route| route.path == path)
}

/// That the answer says that it lasts for the route's time.
///
/// # Errors
/// What it says instead.
pub(super) fn lasts(answer: &Answer, time: Duration) -> Result<(), Failure> {
    let (fetched, expires) = (answer.moment("last-modified"), answer.moment("expires"));
    let said = fetched.zip(expires).and_then(|(fetched, expires)| expires.duration_since(fetched).ok());
    if said == Some(time) {
        return Ok(());
    }
    let header = |name: &str| answer.shown_header(name);
    Err(Failure::new(
        format!("an Expires that is {} s after Last-Modified", time.as_secs()),
        format!("Last-Modified {}, Expires {}", header("last-modified"), header("expires")),
    ))
}

/// What the second of two answers to the same request shows.
///
/// # Errors
/// If it is neither the first once more nor fetched later.
pub(super) fn compare(first: &Answer, second: &Answer) -> Result<Verdict, Failure> {
    let (fetched, again) = (first.header("last-modified"), second.header("last-modified"));
    if fetched.is_none() || again.is_none() {
        return Err(Failure::new("the header last-modified", "none"));
    }
    if fetched != again {
        let is_late = first.moment("expires").zip(second.moment("date")).is_none_or(|(end, now)| end <= now);
        return if is_late {
            Ok(Verdict::TooLate)
        } else {
            let (fetched, again) = (fetched.unwrap_or_default(), again.unwrap_or_default());
            Err(Failure::new(
                "the answer that is still fresh, with its Last-Modified",
                format!("Last-Modified {again} after {fetched}"),
            ))
        };
    }
    if second.cached() != Some(true) {
        return Err(Failure::new("cached: true with the Last-Modified of an earlier answer", second.shown()));
    }
    if as_cached(&first.text) != as_cached(&second.text)
        || first.header("expires") != second.header("expires")
    {
        return Err(Failure::new("the same bytes with the same Last-Modified", "other bytes"));
    }
    Ok(Verdict::Kept)
}

/// The body as it is when it is replayed.
fn as_cached(text: &str) -> (&str, &str) {
    const FRESH: &str = r#""cached":false"#;
    const REPLAYED: &str = r#""cached":true"#;
    text.rsplit_once(FRESH).or_else(|| text.rsplit_once(REPLAYED)).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::*;

    fn answer(fetched: &'static str, cached: bool, data: &str) -> Answer {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("last-modified", fetched),
            ("expires", "Sat, 21 Nov 2026 15:45:03 GMT"),
            ("date", "Sat, 21 Nov 2026 15:45:00 GMT"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let text =
            format!(r#"{{"success":true,"data":{data},"meta":{{"cached":{cached},"api_version":"v1"}}}}"#);
        Answer { status: 200, headers, sent_bytes: text.len(), text, elapsed: Duration::from_millis(5) }
    }

    #[test]
    fn a_replay_is_the_same_but_for_what_it_says_of_itself() {
        const THEN: &str = "Sat, 21 Nov 2026 15:44:58 GMT";
        let first = answer(THEN, false, "{}");
        assert_eq!(compare(&first, &answer(THEN, true, "{}")), Ok(Verdict::Kept));
        assert!(
            compare(&first, &answer(THEN, false, "{}")).unwrap_err().expected.starts_with("cached: true")
        );
        assert!(
            compare(&first, &answer(THEN, true, "[]")).unwrap_err().expected.starts_with("the same bytes")
        );
        let later = answer("Sat, 21 Nov 2026 15:44:59 GMT", false, "{}");
        assert!(compare(&first, &later).unwrap_err().expected.starts_with("the answer that is still fresh"));
        assert_eq!(lasts(&first, Duration::from_secs(5)), Ok(()));
        assert!(lasts(&first, Duration::from_secs(6)).is_err());
    }
}
