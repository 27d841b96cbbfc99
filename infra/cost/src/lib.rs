//! What history costs on AWS: `cargo cost`. A bill comes a month late, and the number of shards cannot change once data
//! is written. So the real recorders and the real route run here against the embedded `DynamoDB`, which reports the
//! capacity that each request consumes.

mod display;
mod error;
mod figures;
mod history;
mod measurement;
mod report;
mod snapshot;
mod targets;

pub use self::error::Error;
pub use self::measurement::{Options, measure};
pub use self::report::{Additional, RangeCost, Report, RowBytes, TierCost};
pub use self::targets::{MAX_PAGES, MAX_READ_UNITS, MAX_READ_UNITS_WORST, MAX_WRITE_UNITS, MIN_PRODUCTS};
