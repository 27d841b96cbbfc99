//! Batches of writes.

use bytes::Bytes;
use dynoxide::actions::batch_write_item::{BatchWriteItemRequest, BatchWriteItemResponse};
use dynoxide::{Database, ImportOptions};

/// The operation.
pub(super) const WRITE: &str = "BatchWriteItem";

/// Writes a batch without the engine's server, which reads every request four times, and in one transaction instead of one per row: history
/// has up to a million rows. Capacity is not counted. `None` for requests that fail or delete: the server responds to them.
pub(super) async fn write(database: &Database, body: Bytes) -> Option<BatchWriteItemResponse> {
    let database = database.clone();
    let write = move || {
        let request: BatchWriteItemRequest = serde_json::from_slice(&body).ok()?;
        for (table, requests) in request.request_items {
            let rows = requests.into_iter().map(|request| Some(request.put_request?.item));
            database.import_items(&table, rows.collect::<Option<_>>()?, ImportOptions::default()).ok()?;
        }
        Some(BatchWriteItemResponse::default())
    };
    tokio::task::spawn_blocking(write).await.ok()?
}
