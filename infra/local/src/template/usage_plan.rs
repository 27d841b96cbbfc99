//! Usage plans: the rates and quotas of the tiers. The tag `tier` of a plan names its tier.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::expression::Scope;
use super::section::{Section, is_of_type};
use crate::error::Error;

/// The tag that names the tier.
const TAG: &str = "tier";

/// An `AWS::ApiGateway::UsagePlan`.
#[derive(Debug, Clone, PartialEq)]
pub struct UsagePlan {
    pub logical_id: String,
    pub tier: String,
    /// The rate limits for each key, if there are any.
    pub throttle: Option<Throttle>,
    /// The rate limits for each key and single methods, such as `/v1/mayor/GET`. They replace `throttle` for
    /// these methods.
    pub method_throttles: BTreeMap<String, Throttle>,
    /// The maximum number of requests of each key in a calendar month (UTC), if there is one.
    pub monthly_quota: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throttle {
    /// `RateLimit`: sustained requests per second.
    pub rate: f64,
    /// `BurstLimit`: requests at once.
    pub burst: u32,
}

/// The template's usage plans.
///
/// # Errors
/// When a plan has no tier or the tier of another plan, a limit is not a number, or a quota is not per month.
pub(super) fn read(resources: &Map<String, Value>, scope: &Scope) -> Result<Vec<UsagePlan>, Error> {
    let mut tiers = BTreeSet::new();
    let mut plans = Vec::new();
    for (logical_id, resource) in resources {
        if !is_of_type(resource, "AWS::ApiGateway::UsagePlan") {
            continue;
        }
        let section = Section::properties(logical_id, resource, None, scope)?;
        let tier = read_tier(&section)?;
        if !tiers.insert(tier.clone()) {
            return Err(section.invalid("Tags", format!("another usage plan also has the tier {tier}")));
        }
        plans.push(UsagePlan {
            logical_id: logical_id.clone(),
            tier,
            throttle: read_throttle(&section.section("Throttle")?)?,
            method_throttles: read_method_throttles(&section)?,
            monthly_quota: read_quota(&section)?,
        });
    }
    Ok(plans)
}

fn read_tier(plan: &Section<'_>) -> Result<String, Error> {
    for tag in plan.sections("Tags")? {
        if tag.required_text("Key")? == TAG {
            return tag.required_text("Value");
        }
    }
    Err(plan.invalid("Tags", format!("the tag {TAG} must name the tier of the plan")))
}

/// The throttles of methods in all entries of `ApiStages`.
fn read_method_throttles(plan: &Section<'_>) -> Result<BTreeMap<String, Throttle>, Error> {
    let mut throttles = BTreeMap::new();
    for stage in plan.sections("ApiStages")? {
        let methods = stage.section("Throttle")?;
        for method in methods.entries.keys() {
            throttles
                .extend(read_throttle(&methods.section(method)?)?.map(|throttle| (method.clone(), throttle)));
        }
    }
    Ok(throttles)
}

fn read_quota(plan: &Section<'_>) -> Result<Option<u64>, Error> {
    let quota = plan.section("Quota")?;
    if quota.entries.is_empty() {
        return Ok(None);
    }
    if quota.text("Period")?.as_deref() != Some("MONTH") {
        return Err(quota.invalid("Period", "the local cloud supports only MONTH"));
    }
    quota.required("Limit", quota.number("Limit")?).map(Some)
}

fn read_throttle(section: &Section<'_>) -> Result<Option<Throttle>, Error> {
    if section.entries.is_empty() {
        return Ok(None);
    }
    throttle(section, "RateLimit", "BurstLimit").map(Some)
}

/// Returns the limits in the entries with these names.
///
/// # Errors
/// When an entry is missing or not a limit.
pub(super) fn throttle(section: &Section<'_>, rate: &str, burst: &str) -> Result<Throttle, Error> {
    let burst = section.required(burst, section.number(burst)?)?;
    let per_second: f64 = section.required(rate, section.number(rate)?)?;
    if per_second.is_finite() && per_second >= 0.0 {
        return Ok(Throttle { rate: per_second, burst });
    }
    Err(section.invalid(rate, format!("it must be a number of requests per second, not {per_second}")))
}
