//! What history costs on AWS: `cargo cost`. A bill comes a month late, and the number of shards cannot change once data
//! is written. So the real recorders and the real route run here against the embedded `DynamoDB`, which reports the
//! capacity that each request consumes.

mod candles;
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
pub use self::report::{Additional, ReadCost, Report, RowBytes, WriteCost};
pub use self::targets::{
    CANDLES_TARGETS, MAX_WRITE_UNITS, MAX_WRITE_UNITS_WITH_CANDLES, MIN_PRODUCTS, MOST_CANDLES_TARGETS,
    QueryTargets, RANGE_TARGETS,
};
