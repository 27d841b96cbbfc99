//! `cargo admin account` and `cargo admin key` as operators run them, against a real `DynamoDB` API. What API Gateway and
//! `CloudFormation` have to do with it is tested in `tests/admin` of the repository.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic, and so may what it is made of"
)]

mod accounts;
#[path = "../dynamodb/mod.rs"]
mod dynamodb;
mod explained;
mod issued;
mod refused;
mod revoked;
mod support;
