//! The time at which a command runs.

use common::time::{UnixMilliseconds, UnixSeconds};

pub(crate) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
