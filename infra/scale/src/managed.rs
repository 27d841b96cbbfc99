//! Lambda Managed Instances: processes on EC2 instances that take many requests at a time.
//!
//! - A request costs the same as on Lambda, and instead of the duration, EC2 instances with a management fee of 15 % are billed
//!   (<https://aws.amazon.com/lambda/pricing/>).
//! - A process has at least 2 GB and one processor, and a function at least three processes, in three zones
//!   (<https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-scaling.html>).
//! - Rust is supported on `provided.al2023`
//!   (<https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-runtimes.html>).

use crate::figures::whole;
use crate::outcome::{Outcome, Work};
use crate::prices::{GIGABYTE_SECOND, HOURS};

/// An `m7g.large` per hour, with two processors.
pub const INSTANCE_PER_HOUR: f64 = 0.0816;
/// Its processors.
pub const PROCESSORS: f64 = 2.0;
/// The management fee.
pub const FEE: f64 = 0.15;
/// The fewest processes of a function.
pub const FEWEST_PROCESSES: u32 = 3;
/// Requests at a time of a process, as the operators' page configures it.
pub const REQUESTS_AT_A_TIME: u32 = 32;
/// Assumed: the share of a processor that may be used before Lambda starts another one.
const UTILISATION: f64 = 0.5;

/// Returns how many processes of one processor each a function with this work needs.
#[must_use]
pub fn processes(work: &Work, seconds: f64) -> u32 {
    let needed = work.processor_s / seconds / UTILISATION;
    whole(needed).max(FEWEST_PROCESSES)
}

/// Returns the dollars a month of this many processes, without requests.
#[must_use]
pub fn dollars(processes: u32) -> f64 {
    f64::from(processes) / PROCESSORS * INSTANCE_PER_HOUR * (1.0 + FEE) * HOURS
}

/// Returns the dollars a month of the durations of a function on Lambda, without requests.
#[must_use]
pub fn dollars_on_lambda(work: &Work, seconds: f64) -> f64 {
    work.gigabyte_seconds / seconds * HOURS * 3_600.0 * GIGABYTE_SECOND
}

/// Returns what the named functions cost a month on Lambda and on Managed Instances, without requests.
#[must_use]
pub fn compared(outcome: &Outcome, names: &[&str]) -> [f64; 2] {
    let works = || names.iter().filter_map(|name| outcome.functions.get(name));
    let lambda = works().map(|work| dollars_on_lambda(work, outcome.seconds)).sum();
    [lambda, works().map(|work| dollars(processes(work, outcome.seconds))).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_three_or_more() {
        let work = |processor_s| Work { processor_s, ..Work::default() };
        assert_eq!([1.0, 15.0, 15.1].map(|busy| processes(&work(busy), 10.0)), [3, 3, 4]);
        assert!((dollars(3) - 102.75).abs() < 0.01, "{}", dollars(3));
    }
}
