//! A simulation of the service at up to a thousand times its load: instances, latency, fetches from the provider, dollars, and
//! the limit that breaks first.

pub mod assumptions;
mod chance;
mod deployment;
mod event;
mod figures;
mod histogram;
pub mod limits;
pub mod managed;
mod memory;
mod outcome;
mod plan;
mod pool;
pub mod prices;
mod provider;
mod recommended;
mod report;
mod schedule;
mod simulation;
mod stage_cache;
mod template;
mod throttle;
mod workload;

pub use self::deployment::{AUTHORIZER, Deployment, FUNCTIONS, Function, Source};
pub use self::outcome::{Failures, Outcome, Work};
pub use self::plan::{Plan, Waits};
pub use self::recommended::{LOADS, recommended, unlimited};
pub use self::report::{burst, parameter, short, steady, tables};
pub use self::schedule::{Arrival, Schedule};
pub use self::simulation::simulate;
pub use self::workload::{KINDS, Kind, Questions, keys_in_use};
