//! The operations on tables and items. There are no streams, tags and statements.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns the JSON of the response, or `None` if there is no such operation.
///
/// # Errors
/// `DynamoDB`'s error. Of a request that does not fit the operation, the error has the parser's message
/// instead of `DynamoDB`'s.
pub(crate) fn carry_out(
    database: &Database,
    operation: &str,
    request: &[u8],
) -> Option<Result<String, DynoxideError>> {
    let result = match operation {
        "BatchGetItem" => with(request, |request| database.batch_get_item(request)),
        "BatchWriteItem" => with(request, |request| database.batch_write_item(request)),
        "CreateTable" => with(request, |request| database.create_table(request)),
        "DeleteItem" => with(request, |request| database.delete_item(request)),
        "DeleteTable" => with(request, |request| database.delete_table(request)),
        "DescribeTable" => with(request, |request| database.describe_table(request)),
        "DescribeTimeToLive" => with(request, |request| database.describe_time_to_live(request)),
        "GetItem" => with(request, |request| database.get_item(request)),
        "ListTables" => with(request, |request| database.list_tables(request)),
        "PutItem" => with(request, |request| database.put_item(request)),
        "Query" => with(request, |request| database.query(request)),
        "Scan" => with(request, |request| database.scan(request)),
        "TransactGetItems" => with(request, |request| database.transact_get_items(request)),
        "TransactWriteItems" => with(request, |request| database.transact_write_items(request)),
        "UpdateItem" => with(request, |request| database.update_item(request)),
        "UpdateTimeToLive" => with(request, |request| database.update_time_to_live(request)),
        _ => return None,
    };
    Some(result)
}

fn with<T: DeserializeOwned, R: Serialize>(
    request: &[u8],
    carry_out: impl FnOnce(T) -> Result<R, DynoxideError>,
) -> Result<String, DynoxideError> {
    let read = serde_json::from_slice(request);
    let request = read.map_err(|error| DynoxideError::SerializationException(error.to_string()))?;
    let response = serde_json::to_string(&carry_out(request)?);
    response.map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
