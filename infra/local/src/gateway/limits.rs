//! Limits of API Gateway and Lambda.

use std::time::Duration;

/// The gateway's limit for an integration.
pub(super) const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);
/// The gateway's limit for a request's body.
pub(super) const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Lambda's limit for an event.
pub(super) const MAX_EVENT_BYTES: usize = 6 * 1024 * 1024;
/// The largest body that the stage cache keeps.
pub(super) const MAX_CACHED_BODY_BYTES: usize = 1_048_576;
