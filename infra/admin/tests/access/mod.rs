//! `cargo admin account` and `cargo admin key` as operators run them, against an embedded `DynamoDB`. `tests/emulator` tests
//! them with API Gateway and `CloudFormation`.

mod accounts;
mod explained;
mod exported;
mod issued;
mod refused;
mod revoked;
pub(crate) mod support;
