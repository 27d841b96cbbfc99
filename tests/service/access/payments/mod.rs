//! Payments: Stripe's events change the subscriptions of accounts, in any order. An account may use what its
//! subscriptions have paid for. `tests/tools/clients/payments.mts` sends events that the compiler checks
//! against the types of Stripe's library.

mod delivery;
mod exported;
mod gateway_keys;
mod lives;
mod names;
mod overdue;
mod paid_time;
mod pauses;
mod persons;
mod several;
mod stripe;
mod trail;

use std::sync::atomic::{AtomicU32, Ordering};

use local::{Cloud, Options};
use serde_json::{Value, json};

use self::stripe::{DAY, Event, NOW, SOURCE};
use super::commands::done;
use super::decision::decide;
use super::rows::{key_row, numbered_key, put};
use crate::support::{
    await_logs, expect_clean_logs, invoke, log_lines, one_instance_each, start_with, with_parameters,
};

const PAYMENTS: &str = "payments";
const HOUR: i64 = 3_600;
/// The grace time after a paid period.
const GRACE: i64 = 3 * DAY;

/// The time this many days from now, in Unix seconds.
fn day(number: i64) -> i64 {
    *NOW + number * DAY
}

/// A cloud that sells the prices `price_pro` and `price_starter`. The price `price_support` pays for no tier.
struct Shop {
    cloud: Cloud,
    /// How many keys have been stored to ask the authorizer.
    keys: AtomicU32,
}

/// A time in Unix seconds, and the authorizer's decision then: the tier, or `deny`.
type Expected = (i64, &'static str);

impl Shop {
    async fn open() -> Self {
        Self::with(one_instance_each(), &[]).await
    }

    /// Starts with other options, and with these parameters in place of the usual ones.
    async fn with(options: Options, parameters: &[(&str, &str)]) -> Self {
        let usual = [
            ("StripeEventSource", SOURCE),
            ("StripeTestMode", "on"),
            ("PriceTiers", "price_pro=pro,price_starter=starter,price_support=none"),
            ("GraceDays", "3"),
        ];
        let options = with_parameters(with_parameters(options, &usual), parameters);
        Self { cloud: start_with(options).await, keys: AtomicU32::new(0) }
    }

    /// Invokes `payments` with the event, as a rule of `EventBridge` would, and returns the response.
    async fn response(&self, event: &Event) -> Value {
        invoke(&self.cloud, PAYMENTS, event.of_event_bridge().to_string()).await.json()
    }

    /// Delivers the event, and returns the outcome.
    async fn deliver(&self, event: &Event) -> String {
        let response = self.response(event).await;
        let outcome = response["outcome"].as_str().unwrap_or_else(|| panic!("{response}: {event:?}"));
        outcome.to_owned()
    }

    /// Delivers the events, each of which must be applied.
    async fn apply(&self, events: &[Event]) {
        for event in events {
            assert_eq!(self.deliver(event).await, "applied", "{event:?}");
        }
    }

    /// Returns the authorizer's decision on a request of the account at this time in Unix seconds: the tier,
    /// or `deny`.
    async fn decision(&self, account: &str, time: i64) -> String {
        decide(&self.cloud, self.new_key(account).await.expose(), time).await
    }

    /// Stores a key of the account that no instance has cached.
    async fn new_key(&self, account: &str) -> common::auth::ApiKey {
        let key = numbered_key(self.keys.fetch_add(1, Ordering::Relaxed));
        put(&self.cloud, &key_row(&key, account)).await;
        key
    }

    async fn expect(&self, account: &str, expected: &[Expected]) {
        for (time, decision) in expected {
            let days = time - *NOW;
            let place = format!("{account}, {} days and {} s from now", days / DAY, days % DAY);
            assert_eq!(self.decision(account, *time).await, *decision, "{place}");
        }
    }

    /// Delivers the events about the account `zoe` in many orders, some twice. After each order, the account
    /// must have what is expected.
    async fn expect_in_any_order(&self, events: &[Event], expected: &[Expected]) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for order in orders(events.len()) {
            let suffix = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
            for index in order.iter().chain(order.first()) {
                self.deliver(&events[*index].renamed(&suffix)).await;
            }
            self.expect(&format!("zoe-{suffix}"), expected).await;
        }
    }

    async fn account(&self, name: &str) -> Value {
        done(&self.cloud, json!({"command": "get_account", "account": name})).await
    }

    /// All log lines of `payments` with this message. An instance writes its lines in order, so the lines of
    /// earlier events are complete once the line of one more event has arrived.
    async fn lines(&self, message: &str) -> Vec<Value> {
        let last = stripe::event("invented", *NOW, &json!({}));
        self.deliver(&last).await;
        await_logs(&self.cloud, 1, |line| line["event"] == *last.id()).await;
        let is_meant = |line: &Value| line["message"] == message && line["event"] != *last.id();
        log_lines(&self.cloud).into_iter().filter(is_meant).collect()
    }

    async fn line(&self, message: &str) -> Value {
        await_logs(&self.cloud, 1, |line| line["message"] == message).await.remove(0)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            expect_clean_logs(&self.cloud);
        }
    }
}

/// Orders of as many events: all for up to four, otherwise each rotation of both directions.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count > 4 {
        let rotation = |first: usize| (0..count).map(move |index| (first + index) % count);
        let forwards = (0..count).map(|first| rotation(first).collect());
        return forwards.chain((0..count).map(|first| rotation(first).rev().collect())).collect();
    }
    (0..count).fold(vec![Vec::new()], |orders, index| {
        let with = |order: &Vec<usize>, place: usize| {
            let mut longer = order.clone();
            longer.insert(place, index);
            longer
        };
        orders.iter().flat_map(|order| (0..=order.len()).map(move |place| with(order, place))).collect()
    })
}
