//! Breaks every promise in the table once: `check` must report it.
//!
//! The runs of one test share a cloud and run concurrently, because a run waits most of the time.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::promises::{caches, errors, keys, pages, responses};
use crate::support::proxy::Behind;
use crate::support::run::{Run, carry_out_all, start_cloud};
use crate::support::stage_cache::{self, StageCache};

/// The names of all checks that fail in a test of this file.
pub(crate) fn checks_that_fail() -> BTreeSet<String> {
    let promises = [
        responses::responses(),
        responses::other_responses(),
        responses::uncached_responses(),
        responses::single_headers(),
        responses::another_site(),
        responses::exhausted_quota(),
        errors::errors(),
        errors::parameters(),
        errors::parameters_of_prices(),
        errors::browsers_and_caches(),
        keys::keys(),
        keys::no_key(),
        keys::one_spelling(),
        errors::gateway_errors(),
        vec![errors::retry_after()],
        caches::cache_without_authorization(),
        caches::cache_with_joined_parameters(),
        caches::cache_of_rejections(),
        caches::mixed_up_items(),
        caches::keys_of_candles(),
        pages::pages(),
        pages::files(),
        pages::no_pages(),
    ];
    promises.into_iter().flatten().flat_map(|broken| broken.fails).collect()
}

#[tokio::test]
async fn broken_responses_are_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("responses", responses::responses()),
        Run::new("other responses", responses::other_responses()),
        Run::new("uncached responses", responses::uncached_responses()),
        Run::new("single headers", responses::single_headers()),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn a_service_that_does_not_respond_is_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("another site", responses::another_site()),
        Run::new("an exhausted quota", responses::exhausted_quota()),
        Run::new("an outage", responses::outage()).behind(Behind::Outage { after: 12 }),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn broken_errors_and_keys_are_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new(
            "errors",
            [
                errors::errors(),
                errors::parameters(),
                errors::parameters_of_prices(),
                errors::browsers_and_caches(),
            ]
            .into_iter()
            .flatten()
            .collect(),
        ),
        Run::new("keys", keys::keys()),
        Run::new("no key", keys::no_key()).observations(&[("without_accept_encoding", "gzip")]),
        Run::new("errors of the gateway", errors::gateway_errors())
            .options(&["--rate", "1000", "--throttle"])
            .observations(&[("repeated_parameter", "unknown"), ("throttling", "none")]),
        Run::new("one spelling of the key's header", keys::one_spelling()),
        Run::new("a front end of its own", errors::front_end()).may_fail().observations(&[
            ("raw_characters", "no_envelope"),
            ("reserved_paths", "no_envelope"),
            ("accept_encoding_br_gzip", "identity"),
            ("accept_encoding_gzip_br", "gzip"),
        ]),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn broken_pages_are_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("pages", pages::pages()),
        Run::new("files of pages", pages::files()),
        Run::new("no pages", pages::no_pages()),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn broken_caches_are_reported() {
    let cloud = start_cloud("on").await;
    let cache = |key, stores| Behind::StageCache(StageCache::new(key, stores));
    let unauthorized = StageCache::new(stage_cache::target, stage_cache::mayor).without_authorizer();
    let runs = vec![
        Run::new("a cache that requires no key", caches::cache_without_authorization())
            .behind(Behind::StageCache(unauthorized))
            .observations(&[("authorizer_on_hit", "no")]),
        Run::new("a cache that joins parameters", caches::cache_with_joined_parameters())
            .behind(cache(stage_cache::unescaped, stage_cache::bazaar_errors)),
        Run::new("a cache of rejections by first values", caches::cache_of_rejections())
            .behind(cache(stage_cache::first_values, stage_cache::bazaar_errors))
            .observations(&[("errors_stored", "yes")]),
        Run::new("a cache of rejections by last values", caches::cache_of_rejections())
            .behind(cache(stage_cache::last_values, stage_cache::bazaar_errors)),
        Run::new("a cache that ignores parameters of candles", caches::keys_of_candles()),
        Run::new("mixed-up items", caches::mixed_up_items()).behind(Behind::MixedUpItems),
    ];
    carry_out_all(&cloud, runs).await;
}

/// No promise is broken: these caches differ in what AWS does not document.
#[tokio::test]
async fn caches_are_told_apart() {
    let (with_cache, without_cache) = tokio::join!(start_cloud("on"), start_cloud("off"));
    let short = |stores| StageCache::new(stage_cache::target, stores).ttl(Duration::from_secs(5));
    let by_key = |key| StageCache::new(key, stage_cache::bazaar_successes).ttl(Duration::from_secs(5));
    let traced = |stores| Behind::StageCache(short(stores).traced());
    let obeying = short(stage_cache::bazaar_successes).obeying_clients();
    let runs = vec![
        Run::new("a cache that stores errors", Vec::new()).behind(traced(stage_cache::bazaar)).observations(
            &[("stage_cache", "on"), ("errors_stored", "yes"), ("cache_control_of_clients", "ignored")],
        ),
        Run::new("a cache that stores no errors", Vec::new())
            .behind(traced(stage_cache::bazaar_successes))
            .observations(&[("stage_cache", "on"), ("errors_stored", "no")]),
    ];
    let other_runs = vec![
        Run::new("a cache that obeys clients", vec![responses::large()])
            .behind(Behind::StageCache(obeying))
            .observations(&[
                ("stage_cache", "on"),
                ("cache_control_of_clients", "obeyed"),
                ("functions_expect_stage_cache", "off"),
                ("cache_measures", "uncompressed"),
                ("repeated_parameter", "all"),
            ])
            .may_fail(),
        Run::new("a cache that measures compressed bodies", vec![responses::large()])
            .behind(Behind::StageCache(short(stage_cache::all_bazaar_successes)))
            .observations(&[("stage_cache", "on"), ("cache_measures", "compressed")])
            .may_fail(),
        Run::new("a cache by first values", Vec::new())
            .behind(Behind::StageCache(by_key(stage_cache::first_values)))
            .observations(&[("repeated_parameter", "first")])
            .may_fail(),
        Run::new("a cache by last values", Vec::new())
            .behind(Behind::StageCache(by_key(stage_cache::last_values)))
            .observations(&[("repeated_parameter", "last")])
            .may_fail(),
    ];
    tokio::join!(carry_out_all(&with_cache, runs), carry_out_all(&without_cache, other_runs));
}
