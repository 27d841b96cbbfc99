//! Batches of writes.

use bytes::Bytes;
use dynoxide::Database;
use dynoxide::actions::batch_write_item::BatchWriteItemResponse;

/// The operation that [`write`] can carry out.
pub(super) const WRITE: &str = "BatchWriteItem";

/// Writes a batch without the engine's server. That server reads every request four times, and history has up to a million
/// rows. Returns `None` if the request fails, so that the server can respond with `DynamoDB`'s error.
pub(super) async fn write(database: &Database, body: Bytes) -> Option<BatchWriteItemResponse> {
    let database = database.clone();
    let write = move || database.batch_write_item(serde_json::from_slice(&body).ok()?).ok();
    tokio::task::spawn_blocking(write).await.ok()?
}
