//! A line is read as it was written, whatever it contains.

use std::fmt::Debug;
use std::time::Duration;

use common::time::UnixSeconds;
use proptest::prelude::*;
use tables::bazaar::{Candle, INTERVALS, MINUTES, Quote};
use tables::series::Candle as _;

use super::events::Events;
use super::slice::Slice;
use super::{Auctions, Bazaar};
use crate::transfer::Kind;

/// Later than every generated time.
const NOW: UnixSeconds = UnixSeconds::new(9_000_100_000);

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
    fn prices(
        time in time(),
        interval in prop::sample::select([&MINUTES].into_iter().chain(&INTERVALS).collect::<Vec<_>>()),
        products in prop::collection::btree_map(
            "[A-Z0-9_:-]{1,64}",
            prop::collection::vec(quote(), 1..6),
            1..20,
        ),
    ) {
        let slot = interval.at(time);
        let minutes = || (0..).map(|minute| slot.start.plus(Duration::from_mins(minute)));
        let candle = |quotes: Vec<Quote>| {
            let candles = minutes().take_while(|minute| *minute < slot.end()).zip(quotes);
            candles.map(|(minute, quote)| Candle::of(quote, minute)).reduce(Candle::followed_by).unwrap()
        };
        let candles = products.into_iter().map(|(id, quotes)| (id.parse().unwrap(), candle(quotes))).collect();
        assert_same::<Bazaar>(&Slice { slot, candles });
    }

    #[test]
    fn auctions(
        time in time(),
        interval in prop::sample::select(tables::auctions::INTERVALS.iter().collect::<Vec<_>>()),
        items in prop::collection::btree_map(
            "[A-Z0-9_;+-]{1,64}",
            prop_oneof![
                "[1-9][0-9]{0,11},[1-9][0-9]?,[1-5][0-9]?",
                "200,3,60,9000,100,300,50",
                Just(";1,3015293760".to_owned()),
                Just("200,3,60;7,900,2,100,50,300".to_owned()),
            ],
            1..20,
        ),
    ) {
        let candle = |text: &String| tables::auctions::Candle::of_text(text).unwrap();
        let candles = items.iter().map(|(id, text)| (id.parse().unwrap(), candle(text))).collect();
        assert_same::<Auctions>(&Slice { slot: interval.at(time), candles });
    }

    #[test]
    fn arbitrary_text_is_a_bad_line(
        text in any::<String>(),
        object in "\\{\"(year|start|opened_at|products|interval)\":.*\\}",
    ) {
        for line in [text, object] {
            prop_assert!(Events::parse(&line, NOW).is_err());
            prop_assert!(Bazaar::parse(&line, NOW).is_err());
            prop_assert!(Auctions::parse(&line, NOW).is_err());
        }
    }
}
