//! What reaches the provider stays below its bound, with the settings that the page recommends.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

use scale::assumptions::{FETCHES_PER_S, PROFILE_FETCHES, PROFILE_WINDOW_S};
use scale::{
    Deployment, KINDS, Kind, LOADS, Plan, Questions, burst, recommended, short, simulate, unlimited,
};

#[test]
fn fetches_stay_below_the_bound_at_each_load_and_with_any_seed() {
    for requests_per_s in LOADS {
        let deployment = recommended(requests_per_s);
        for seed in [1, 2] {
            let outcome = simulate(&Plan { seed, ..short(requests_per_s) }, &deployment);
            let worst = outcome.fetches_per_s_in_worst_minute();
            assert!(worst < FETCHES_PER_S, "{worst} at {requests_per_s} requests a second, seed {seed}");
            assert!(outcome.failures.lambda < outcome.requests * 0.0025, "{:?}", outcome.failures);
            assert!(outcome.failures.route + outcome.failures.key + outcome.failures.gateway < 1.0);
        }
    }
}

#[test]
fn fetches_stay_below_the_bound_when_all_instances_are_cold() {
    for requests_per_s in LOADS {
        for seed in 1..=5 {
            let outcome = simulate(&Plan { seed, ..burst(requests_per_s) }, &recommended(requests_per_s));
            let worst = outcome.fetches_per_s_in_worst_minute();
            assert!(worst < FETCHES_PER_S, "{worst} at {requests_per_s} requests a second, seed {seed}");
        }
    }
}

#[test]
fn without_the_settings_the_bound_breaks() {
    for requests_per_s in [1_000.0, 10_000.0] {
        let deployment = Deployment { route: [1e9, 1e9], ..Deployment::default() };
        let outcome = simulate(&burst(requests_per_s), &deployment);
        assert!(outcome.fetches_per_s_in_worst_minute() > FETCHES_PER_S);
    }
}

/// Clients that request another player each time.
fn unlimited_names() -> Vec<Kind> {
    let profile = KINDS.iter().find(|kind| kind.name == "profile").unwrap();
    vec![Kind { percent: 100.0, questions: Questions::Fixed(10_000_000), exponent: 0.0, ..*profile }]
}

#[test]
fn unlimited_names_do_not_exceed_the_bound() {
    let kinds = unlimited_names();
    for requests_per_s in [10.0, 100.0, 200.0] {
        for plan in [short(requests_per_s), burst(requests_per_s)] {
            let outcome = simulate(&Plan { kinds: &kinds, ..plan }, &recommended(1_000.0));
            let worst = outcome.fetches_per_s_in_worst_minute();
            assert!(worst < FETCHES_PER_S, "{worst} at {requests_per_s} requests a second");
            let even = PROFILE_FETCHES / PROFILE_WINDOW_S;
            assert!(outcome.fetches_per_s() < even * 2.5, "{}", outcome.fetches_per_s());
        }
    }
}

#[test]
fn instances_look_for_news_when_what_they_have_expires_and_not_all_at_once() {
    let full = KINDS.iter().find(|kind| kind.name == "bazaar full").unwrap();
    let deployment = unlimited();
    let outcome = simulate(&Plan { kinds: &[Kind { percent: 100.0, ..*full }], ..short(200.0) }, &deployment);
    let instances = outcome.functions.get("bazaar").unwrap().instances;
    assert!(instances > 40.0, "{instances}");
    assert!(outcome.fetches_in_worst_second() < instances / 3.0, "{}", outcome.fetches_in_worst_second());
}

#[test]
fn a_simulation_repeats() {
    let run = || {
        let outcome = simulate(&short(100.0), &recommended(100.0));
        (
            outcome.requests,
            outcome.fetches(),
            outcome.latency_ms(0.99),
            outcome.sent_bytes,
            outcome.read_units,
        )
    };
    assert_eq!(run(), run());
}
