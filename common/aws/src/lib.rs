//! Signed requests to services of AWS. The SDK's client of a service compiles for up to a minute, and the
//! service needs few requests: six to API Gateway, one to Lambda, and one to CloudFormation. For `DynamoDB`,
//! see the crate `tables`.

mod client;
mod error;
mod response;
mod service;
mod sign;

pub use aws_credential_types::provider::SharedCredentialsProvider;

pub use self::client::{Client, JSON, Request};
pub use self::error::AwsError;
pub use self::response::Response;
pub use self::service::{Identity, Service};
