//! The cloud on your machine: API Gateway, Lambda, schedules and `DynamoDB`, as `template.yaml` describes
//! them, in one process.
//!
//! ```no_run
//! # async fn example() -> Result<(), local::Error> {
//! let cloud = local::Cloud::start(local::Options::for_tests()).await?;
//! println!("curl {}/v1/mayor", cloud.url());
//! cloud.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The gateway ([`Cloud::url`]) sends requests through authorizer, usage plan and cache to the functions. The
//! Invoke API ([`Cloud::lambda_url`]) and schedules invoke functions directly. Functions run in separate
//! processes, and use the Lambda Runtime API and an embedded `DynamoDB` ([`Cloud::dynamodb`]). The README
//! lists the differences from AWS.

mod arn;
mod backfill;
mod build;
mod cloud;
mod dynamodb;
mod error;
mod folder;
mod gateway;
mod instance;
mod invoke_api;
mod keys;
mod logs;
mod options;
mod pool;
mod public_files;
mod runtime_api;
mod schedules;
mod server;
pub mod template;

pub use self::build::cargo;
pub use self::cloud::Cloud;
pub use self::dynamodb::{Consumed, DynamoDb, Fault, Refusal};
pub use self::error::{Error, InvocationError, SampleError};
pub use self::gateway::sample::{sample_authorizer_event, sample_event};
pub use self::keys::Keys;
pub use self::logs::LineSink;
pub use self::options::{Binaries, Options, Upstream};
