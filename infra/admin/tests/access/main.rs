//! `cargo admin account` and `cargo admin key` as operators run them, against an embedded `DynamoDB`. `tests/tools/moto` tests
//! them with API Gateway and `CloudFormation`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic, and so may its helpers"
)]

mod accounts;
#[path = "../dynamodb/mod.rs"]
mod dynamodb;
mod explained;
mod exported;
mod issued;
mod refused;
mod revoked;
mod support;
