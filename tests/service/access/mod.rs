//! Access: keys, accounts, payments, the authorizer's decisions, the gateway's responses and rate limits. The
//! header of each file states its promise.

mod accounts;
mod admin;
mod commands;
mod decision;
mod gateway;
mod payments;
mod rows;
mod stage_cache;
mod throttling;
mod usage;

use local::Cloud;

/// Panics if a log line contains the random part of one of the keys.
#[track_caller]
fn expect_no_secrets(cloud: &Cloud, keys: &[&str]) {
    for line in cloud.logs() {
        for key in keys {
            assert!(!line.contains(&key[3..35]), "{line}");
        }
    }
}
