//! Runs functions on Lambda. A [`Handler`] handles requests behind the gateway. The recorders (`tables`) and
//! the authorizer have other events, and use the same building blocks: set-up, the log, deadlines, and
//! handling of panics.

pub mod provider_route;

mod guard;
mod handler;
mod log;
mod runtime;
mod start;

pub use lambda_http::{Context, Error, LambdaEvent};
pub use lambda_runtime::Diagnostic;

pub use self::guard::{Interrupted, guard};
pub use self::handler::{Handler, run};
pub use self::log::milliseconds;
pub use self::runtime::{block_on, deadline, failed_invocation, serve};
pub use self::start::{IsCold, LogName, StartError, set_up};
