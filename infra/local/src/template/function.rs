//! Functions: binary, environment, limits and schedules.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::schedule::{self, Schedule};
use super::section::Section;
use crate::error::Error;

pub(super) const TYPE: &str = "AWS::Serverless::Function";

/// Lambda's defaults, and its limit for timeouts.
const DEFAULT_TIMEOUT_S: u64 = 3;
const MAX_TIMEOUT_S: u64 = 900;
const DEFAULT_MEMORY_MB: u64 = 128;

/// An `AWS::Serverless::Function`.
#[derive(Debug, Clone)]
pub struct Function {
    pub logical_id: String,
    /// `FunctionName`. On AWS, a function without one has a generated name.
    pub name: Option<String>,
    /// `Metadata.BuildProperties.Binary`: the name of its binary and its package.
    pub binary: String,
    /// The time limit of an invocation.
    pub timeout: Duration,
    /// The memory in MB. The local cloud does not enforce it.
    pub memory_mb: u64,
    pub environment: BTreeMap<String, String>,
    pub schedules: Vec<Schedule>,
}

pub(super) fn read(logical_id: &str, resource: &Value, section: &Section<'_>) -> Result<Function, Error> {
    let named = resource.pointer("/Metadata/BuildProperties/Binary").and_then(Value::as_str);
    let binary = named.ok_or_else(|| {
        Error::template(
            &format!("{logical_id}.Metadata.BuildProperties.Binary"),
            "it must name the function's binary",
        )
    })?;
    let timeout_s = section.number("Timeout")?.unwrap_or(DEFAULT_TIMEOUT_S);
    if !(1..=MAX_TIMEOUT_S).contains(&timeout_s) {
        return Err(section.invalid("Timeout", format!("it must be 1 to {MAX_TIMEOUT_S} seconds")));
    }
    Ok(Function {
        logical_id: logical_id.to_owned(),
        name: section.text("FunctionName")?,
        binary: binary.to_owned(),
        timeout: Duration::from_secs(timeout_s),
        memory_mb: section.number("MemorySize")?.unwrap_or(DEFAULT_MEMORY_MB),
        environment: section.section("Environment")?.section("Variables")?.texts()?,
        schedules: schedule::read(section)?,
    })
}
