//! The recorders, which are scheduled functions that record data in the table of histories: their runner, and
//! a heartbeat for each feed.

pub mod feed;
pub mod heartbeat;
mod repeat;
mod runner;

pub use self::repeat::{fetching_deadline, repeat};
pub use self::runner::{Attempt, Effect, Recorder, RowsRead, run_recorder};
