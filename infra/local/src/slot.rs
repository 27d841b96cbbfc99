//! The room for one request in an instance.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// One of the requests that a function, and one of its instances, may handle at a time. It is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) _of_function: Arc<OwnedSemaphorePermit>,
    pub(crate) _of_instance: Arc<()>,
}
