//! The embedded `DynamoDB`: requests as SDKs send them over HTTP, carried out by `dynoxide`. Its own HTTP
//! server is not linked, because that server reads every request four times and is slow to compile.

mod import;
mod operations;
mod response;
mod sdk;

pub use self::import::{Row, import};
pub use self::response::{json, operation, respond};
pub use self::sdk::sdk;
