//! A key gets the rate and the burst of its tier, no more and no less.

use std::time::Duration;

use hyper::Method;

use crate::support::{KEY_HEADER, one_instance_each, send_with, start_with, with_parameters};

/// 2026-04-28 15:00:00 UTC.
const START: i64 = 1_777_388_400_000;

/// After the burst is used up, a minute of requests at four times the rate: 95 % to 105 % of the rate get through.
#[tokio::test]
async fn a_key_that_sends_four_times_its_rate_gets_its_rate() {
    for (tier, rate, burst) in [("starter", 2, 60), ("pro", 5, 150)] {
        // The figures of the contract (`functions/README.md`, Limits).
        let (rate_limit, burst_limit) = match tier {
            "starter" => ("StarterRateLimit", "StarterBurstLimit"),
            _ => ("ProRateLimit", "ProBurstLimit"),
        };
        let limits = [(rate_limit, rate.to_string()), (burst_limit, burst.to_string())];
        let limits = limits.each_ref().map(|(name, value)| (*name, value.as_str()));
        let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
        let keys = cloud.keys().unwrap();
        let key = if tier == "starter" { &keys.starter } else { &keys.pro };
        let passes = async |at_ms: i64| {
            cloud.clock().stop_at(START + at_ms);
            let headers = [(KEY_HEADER, key.expose())];
            let response = send_with(&cloud.url(), Method::GET, "/v1/mayor", &headers).await;
            if response.status == 429 {
                response.error("RATE_LIMITED");
            } else {
                response.data();
            }
            response.status == 200
        };
        let mut at_once = 0;
        while passes(0).await {
            at_once += 1;
            assert!(at_once <= burst, "{tier}: more than {burst} at once");
        }
        assert_eq!(at_once, burst, "{tier}");
        let minute = i64::try_from(Duration::from_mins(1).as_millis()).unwrap();
        let interval = 1_000 / (4 * rate);
        let mut let_through = 0;
        for at_ms in (interval..=minute).step_by(usize::try_from(interval).unwrap()) {
            let_through += i64::from(passes(at_ms).await);
        }
        let expected = 60 * rate;
        let bounds = expected * 95..=expected * 105;
        assert!(bounds.contains(&(let_through * 100)), "{tier}: {let_through} of {expected}");
    }
}
