//! Retries operations on the table while it throttles.

use std::time::Duration;

use crate::error::Error;

/// How long one attempt of [`patiently`] may take, including the retries of the AWS SDK.
pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_mins(1);
/// The delays between retries while the table throttles, in seconds. An on-demand table scales within a
/// minute.
const THROTTLING_DELAYS: [u64; 5] = [1, 2, 4, 8, 16];

/// Runs the operation, and retries it while the table throttles.
pub(super) async fn patiently<T>(operation: impl AsyncFn() -> Result<T, tables::Error>) -> Result<T, Error> {
    for seconds in THROTTLING_DELAYS {
        match operation().await {
            Err(error) if error.is_throttled() => tokio::time::sleep(Duration::from_secs(seconds)).await,
            result => return Ok(result?),
        }
    }
    Ok(operation().await?)
}
