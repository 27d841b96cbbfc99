//! A line is read as it was written, whatever it contains.

use std::fmt::Debug;

use common::calendar::ElectionYear;
use common::time::{Tick, UnixSeconds};
use proptest::prelude::*;
use serde_json::json;
use tables::history::bazaar::{Quote, Quotes};
use tables::history::candles::{Candle, INTERVALS};
use tables::history::fire_sales::{Fields, Sighting};
use tables::history::mayors::{Mayor, Perk};

use super::bazaar::{Bazaar, Prices};
use super::candles::{Candles, Slot};
use super::fire_sales::FireSales;
use super::kind::Kind;
use super::mayors::Mayors;

/// Later than every generated time.
const NOW: UnixSeconds = UnixSeconds::new(9_000_000_000);

#[track_caller]
fn assert_same<K: Kind<Row: PartialEq + Debug>>(row: &K::Row) {
    let line = serde_json::to_string(row).unwrap();
    let read = K::parse(&line, NOW);
    assert_eq!(read.as_ref(), Ok(row), "{line}");
    assert_eq!(serde_json::to_string(&read.unwrap()).unwrap(), line);
}

prop_compose! {
    fn time()(seconds in 1_000_000_000_i64..9_000_000_000) -> UnixSeconds {
        UnixSeconds::new(seconds)
    }
}

prop_compose! {
    fn quote()(
        sell_price in 0.0..1e12,
        buy_price in 0.01..1e12,
        sell_volume in 0..i64::MAX,
        buy_volume in 0..=i64::MAX,
    ) -> Quote {
        Quote::nearest(sell_price, buy_price, sell_volume, buy_volume).unwrap()
    }
}

proptest! {
    #[test]
    fn mayors(
        year in 1..1_500_u32,
        name in ".+",
        key in ".+",
        perks in prop::collection::vec((any::<String>(), any::<String>()), 0..5),
    ) {
        let perks = perks.into_iter().map(|(name, description)| Perk { name, description }).collect();
        assert_same::<Mayors>(&Mayor { year: ElectionYear::new(year).unwrap(), name, key, perks });
    }

    #[test]
    fn fire_sales(
        item_id in ".{1,64}",
        start in 1_000_000_000_000_i64..10_000_000_000_000,
        others in any::<[i64; 3]>(),
        times in [time(), time()],
    ) {
        let [end, amount, price] = others;
        let sale = Fields { item_id, start, end, amount, price }.try_into().unwrap();
        let [one, other] = times;
        assert_same::<FireSales>(&Sighting { sale, recorded_at: one.min(other), seen_at: one.max(other) });
    }

    #[test]
    fn ticks(
        time in time(),
        products in prop::collection::btree_map("[A-Z0-9_:-]{1,64}", quote(), 1..20),
    ) {
        let products: Quotes = products.into_iter().map(|(id, quote)| (id.parse().unwrap(), quote)).collect();
        assert_same::<Bazaar>(&Prices { recorded_at: Tick::of(time), products });
    }

    #[test]
    fn slots_of_candles(
        time in time(),
        interval in prop::sample::select(INTERVALS.iter().collect::<Vec<_>>()),
        version in any::<Option<u32>>(),
        products in prop::collection::btree_map(
            "[A-Z0-9_:-]{1,64}",
            prop::collection::vec(quote(), 1..5),
            1..20,
        ),
    ) {
        let candle = |minutes: Vec<Quote>| minutes.into_iter().map(Candle::of).reduce(Candle::followed_by).unwrap();
        let products = products.into_iter().map(|(id, minutes)| (id.parse().unwrap(), candle(minutes))).collect();
        assert_same::<Candles>(&Slot { interval, opened_at: interval.slot(time), version, products });
    }

    #[test]
    fn arbitrary_text_is_a_bad_line(
        text in any::<String>(),
        object in "\\{\"(year|start|recorded_at|products|interval)\":.*\\}",
    ) {
        for line in [text, object] {
            prop_assert!(Mayors::parse(&line, NOW).is_err());
            prop_assert!(FireSales::parse(&line, NOW).is_err());
            prop_assert!(Bazaar::parse(&line, NOW).is_err());
            prop_assert!(Candles::parse(&line, NOW).is_err());
        }
    }

    #[test]
    fn a_reason_is_short_and_has_no_control_characters(text in ".{0,2000}", product in any::<String>()) {
        let lines = [json!({ &text: 1 }), json!({"recorded_at": text}), json!({"products": {&product: text}})];
        for line in lines {
            let reason = Bazaar::parse(&line.to_string(), NOW).unwrap_err().to_string();
            prop_assert!(reason.chars().count() < 2_000, "{}", reason);
            prop_assert!(!reason.chars().any(char::is_control), "{}", reason);
        }
    }
}
