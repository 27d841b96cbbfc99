//! Who may ask: keys, accounts, the authorizer's decision, what the gateway makes of it, and how often.

mod admin;
mod decision;
mod gateway;
mod rows;
mod stage_cache;
mod throttling;

use local::Cloud;

/// That no function wrote one of the keys, or most of it, into its log.
#[track_caller]
fn expect_no_secrets(cloud: &Cloud, keys: &[&str]) {
    for line in cloud.logs() {
        for key in keys {
            assert!(!line.contains(&key[3..35]), "{line}");
        }
    }
}
