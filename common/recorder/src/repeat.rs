//! Repeats a fetch that failed. No client waits for recorders, so they repeat it until just enough time is
//! left to write.

use std::time::Duration;

use common::error::chain;
use common::invocation::Invocation;
use common::upstream::UpstreamError;
use tokio::time::Instant;

/// The time that is reserved for writing. It ends at the deadline of the invocation, 1.5 s before Lambda ends
/// the run. A run of 50 s can therefore fetch for 40 s.
const WRITING_TIME: Duration = Duration::from_millis(8_500);

/// The pause before a fetch is repeated. It doubles up to `LONGEST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Returns when fetching must end, so that there is time left to write.
#[must_use]
pub fn fetching_deadline(invocation: &Invocation) -> Instant {
    invocation.deadline().checked_sub(WRITING_TIME).unwrap_or_else(Instant::now)
}

/// Returns the result of `fetch`. After a failure of the provider, repeats the fetch with pauses while there
/// is still time to write.
///
/// # Errors
/// Returns the last failure, or the first failure that a repetition cannot fix.
pub async fn repeat<T, F>(
    invocation: &Invocation,
    fetch: impl Fn(Invocation) -> F,
) -> Result<T, UpstreamError>
where
    F: Future<Output = Result<T, UpstreamError>>,
{
    let started = Instant::now();
    let end = fetching_deadline(invocation);
    let mut attempt = invocation.next_attempt(Duration::ZERO, invocation.deadline());
    let mut pause = FIRST_PAUSE;
    loop {
        let failure = match fetch(attempt).await {
            Err(failure) => failure,
            fetched => return fetched,
        };
        let next = failure.wait_before_retry().map(|wait| Instant::now() + pause.max(wait));
        let Some(next) = next.filter(|next| *next < end) else { return Err(failure) };
        invocation.note_retry(chain(&failure));
        tokio::time::sleep_until(next).await;
        attempt = invocation.next_attempt(started.elapsed(), end);
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use common::time::UnixMilliseconds;
    use common::upstream::StatusCode;

    use super::*;

    /// Runs `repeat` in an invocation of 50 s, less a margin of one second. The fetches fail with these
    /// failures in turn. Returns the second at which each fetch began, and the result.
    async fn fetches(failures: &[UpstreamError]) -> (Vec<u64>, Result<(), UpstreamError>) {
        let started = Instant::now();
        let now = UnixMilliseconds::new(1_777_388_400_000);
        let invocation = Invocation::new(now, started + Duration::from_secs(49));
        let began = Mutex::new(Vec::new());
        let fetch = |attempt: Invocation| {
            let mut began = began.lock().unwrap();
            let seconds = started.elapsed().as_secs();
            assert_eq!(
                attempt.now(),
                now.plus(started.elapsed()),
                "an attempt has the time at which it begins"
            );
            assert!(attempt.upstream_deadline() <= started + Duration::from_secs(40));
            began.push(seconds);
            let failure = failures.get((began.len() - 1) % failures.len()).cloned();
            async move { failure.map_or(Ok(()), Err) }
        };
        let result = repeat(&invocation, fetch).await;
        (began.into_inner().unwrap(), result)
    }

    fn timeout() -> UpstreamError {
        UpstreamError::Timeout { path: "/".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_is_repeated_with_pauses_until_40_seconds_after_the_run_began() {
        let (began, result) = fetches(&[timeout()]).await;
        assert_eq!(began, [0, 1, 3, 7, 15, 23, 31, 39]);
        assert!(matches!(result, Err(UpstreamError::Timeout { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_limit_is_waited_for_if_it_ends_in_time() {
        let limit = |seconds| UpstreamError::RateLimited { wait: Duration::from_secs(seconds) };
        assert_eq!(fetches(&[timeout(), limit(20), limit(30)]).await.0, [0, 1, 21]);
    }

    #[tokio::test(start_paused = true)]
    async fn every_unexpected_status_is_repeated_and_only_a_refused_key_is_not() {
        let (path, body) = ("/".to_owned(), String::new());
        for status in [301, 400, 401, 403, 404, 422, 451, 503].map(|code| StatusCode::from_u16(code).unwrap())
        {
            let failure = UpstreamError::Status { path: path.clone(), status, body: body.clone() };
            assert_eq!(fetches(&[failure]).await.0.len(), 8, "{status}");
        }
        let refused = UpstreamError::KeyRefused { path, status: StatusCode::FORBIDDEN, body };
        assert_eq!(fetches(&[refused]).await.0, [0]);
    }
}
