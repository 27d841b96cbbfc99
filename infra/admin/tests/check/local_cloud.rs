//! A local cloud keeps every promise, and the default options stay below its limits.

use std::collections::BTreeSet;
use std::process::Command;

use local::Options;
use local::template::Document;

use crate::broken_promises::checks_that_fail;
use crate::promises::errors::retry_after;
use crate::support::run::{Run, Tier, carry_out, start_cloud, start_cloud_with};

/// Four times the default rate, for limits that are four times those of the template.
const STARTER: &[&str] = &["--throttle", "--rate", "6"];

#[tokio::test]
async fn a_cloud_with_a_stage_cache_passes_every_check_and_each_has_failed_in_another_test() {
    let cloud = start_cloud("on").await;
    let limits = Run::new("the limits of starter", Vec::new()).tier(Tier::Starter).options(STARTER);
    let unbroken = Run::new("nothing is broken", Vec::new()).observations(&[
        ("stage_cache", "on"),
        ("functions_expect_stage_cache", "on"),
        ("head", "404"),
        ("errors_stored", "unknown"),
        ("authorizer_on_hit", "yes"),
        ("repeated_parameter", "last"),
        ("without_accept_encoding", "identity"),
        ("accept_encoding_br_gzip", "gzip"),
        ("accept_encoding_gzip_br", "gzip"),
        ("raw_characters", "envelope"),
        ("reserved_paths", "envelope"),
    ]);
    let (report, _) = tokio::join!(
        carry_out(&cloud, limits.observations(&[("throttling", "429")])),
        carry_out(&cloud, unbroken)
    );
    let able_to_fail = checks_that_fail();
    let never_failed: BTreeSet<_> = report
        .checks()
        .into_iter()
        .filter(|check| !able_to_fail.contains(*check))
        .map(str::to_owned)
        .collect();
    assert!(never_failed.is_empty(), "no test makes these checks fail: {never_failed:#?}");
}

#[tokio::test]
async fn a_cloud_without_a_stage_cache_passes_every_check() {
    let cloud = start_cloud("off").await;
    let unbroken = Run::new("nothing is broken", Vec::new()).observations(&[
        ("stage_cache", "off"),
        ("functions_expect_stage_cache", "off"),
        ("errors_stored", "no"),
        ("repeated_parameter", "all"),
    ]);
    let retry_after = Run::new("Retry-After", vec![retry_after()]).tier(Tier::Starter).options(STARTER);
    tokio::join!(carry_out(&cloud, unbroken), carry_out(&cloud, retry_after));
}

#[tokio::test]
async fn without_pages_their_checks_are_skipped() {
    let cloud = start_cloud_with(&[("GatewayCache", "off"), ("Pages", "off")]).await;
    let report = carry_out(&cloud, Run::new("without pages", Vec::new())).await;
    let skipped = report.skipped();
    for check in [
        "page GET /docs",
        "files of GET /docs",
        "redirect GET /docs/",
        "page GET /market",
        "files of GET /market",
        "redirect GET /market/",
        "icon GET /favicon.ico",
    ] {
        assert_eq!(skipped.get(check).copied(), Some("the pages are switched off"), "{check}");
    }
}

#[test]
fn the_default_rate_stays_below_the_limits_of_the_smallest_tier() {
    const BURST_SECONDS: f64 = 20.0;
    let output = Command::new(env!("CARGO_BIN_EXE_admin")).args(["check", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let rate = help.split("--rate").nth(1).unwrap().split("[default: ").nth(1).unwrap();
    let rate: f64 = rate.split(']').next().unwrap().parse().unwrap();
    let document = Document::read(&Options::default().template).unwrap();
    let parameters = [("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())];
    let template = document.evaluate(&parameters.into()).unwrap();
    for plan in &template.usage_plans {
        let throttle = plan.throttle.unwrap();
        assert!(rate < throttle.rate && rate * BURST_SECONDS < f64::from(throttle.burst), "{}", plan.tier);
    }
}
