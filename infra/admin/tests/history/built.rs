//! `record-candles` builds the coarser candles of an import.

use std::collections::BTreeMap;

use common::request::parameters::ItemId;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use jiff::Timestamp;
use local::{Cloud, Options};
use serde_json::json;
use tables::bazaar::{Candle, Candles, INTERVALS, Numbers, Quote, record};
use tables::series::{self, Built, Slot};
use tables::{Session, Table};

use super::support::{DynamoDb, candles, line, minutes, start};

/// A table in which candles can be built.
struct History {
    cloud: Cloud,
    dynamodb: DynamoDb,
    table: Table,
    name: String,
    /// Whatever ended before this is settled.
    settled: UnixSeconds,
}

/// Candles by the length of their interval.
type Stored = BTreeMap<(std::time::Duration, UnixSeconds), (Slot, Candles)>;

fn seconds(time: Timestamp) -> UnixSeconds {
    UnixSeconds::new(time.as_second())
}

impl History {
    async fn start() -> Self {
        let cloud = Cloud::start(Options::for_tests()).await.unwrap();
        let (database, endpoint) = (cloud.dynamodb().database().clone(), cloud.dynamodb().url());
        let name = cloud.template().tables["History"].name.clone();
        let table = Table::of_sdk(&cloud.dynamodb().sdk(), &name);
        let settled = seconds(Timestamp::now() - minutes(5));
        Self { cloud, dynamodb: DynamoDb { database, endpoint }, table, name, settled }
    }

    fn session(&self) -> Session<'_> {
        self.table.with_timeout(std::time::Duration::from_mins(1))
    }

    #[track_caller]
    fn import(&self, lines: &str) {
        let (messages, code) = self.dynamodb.import("bazaar", &self.name, lines.as_bytes());
        assert_eq!(code, Some(0), "{messages}");
    }

    async fn build_at(&self, now: UnixSeconds) -> Built {
        series::build::<Candle>(self.session(), now).await.unwrap()
    }

    /// Runs until nothing is left to build.
    async fn build_all(&self) {
        while !self.build_at(UnixMilliseconds::of_system_clock().into()).await.is_done {}
    }

    /// All candles.
    async fn stored(&self) -> Stored {
        let mut stored = Stored::new();
        for interval in &INTERVALS {
            for slot in series::recorded(self.session(), interval, seconds(Timestamp::now())).await.unwrap() {
                let candles = series::candles(self.session(), slot).await.unwrap().unwrap();
                stored.insert((interval.length, slot.start), (slot, candles));
            }
        }
        stored
    }
}

/// What must be stored after building if this was stored before: candles of finer ones, except where a candle had more samples.
/// Intervals that end after `until` are not built.
fn expected(mut stored: Stored, until: UnixSeconds) -> Stored {
    for pair in INTERVALS.windows(2) {
        let [finer, interval] = pair else { continue };
        let interval = INTERVALS.iter().find(|known| *known == interval).unwrap();
        let mut parts = BTreeMap::<(UnixSeconds, ItemId), Vec<Numbers>>::new();
        for (slot, candles) in stored.values().filter(|(slot, _)| slot.interval == finer) {
            let coarse = interval.at(slot.start);
            for (id, candle) in candles {
                let mut numbers = candle.numbers(*slot);
                // Until the end of the coarser interval.
                numbers.11 += u32::try_from((coarse.end().get() - slot.end().get()) / 60).unwrap();
                parts.entry((coarse.start, id.clone())).or_default().push(numbers);
            }
        }
        for ((start, id), parts) in parts {
            let (first, last) = (parts[0], parts[parts.len() - 1]);
            let highest = |of: fn(&Numbers) -> f64| parts.iter().map(of).fold(f64::MIN, f64::max);
            let lowest = |of: fn(&Numbers) -> f64| parts.iter().map(of).fold(f64::MAX, f64::min);
            let numbers = (
                first.0,
                highest(|part| part.1),
                lowest(|part| part.2),
                last.3,
                first.4,
                highest(|part| part.5),
                lowest(|part| part.6),
                last.7,
                last.8,
                last.9,
                parts.iter().map(|part| part.10).sum(),
                last.11,
            );
            let slot = interval.at(start);
            let naive = Candle::of_numbers(slot, numbers).unwrap();
            if slot.end() > until {
                continue;
            }
            let (_, candles) =
                stored.entry((interval.length, start)).or_insert_with(|| (slot, Candles::new()));
            let candle = candles.entry(id).or_insert(naive);
            if candle.samples <= naive.samples {
                *candle = naive;
            }
        }
    }
    stored
}

/// Candles of five minutes of ten days ago with gaps, and some coarser ones with fewer and with more samples.
fn old_candles() -> [Vec<String>; 3] {
    let day = start(Timestamp::now() - minutes(10 * 1_440), 1_440);
    let fine = (0..45).filter(|number| number % 7 != 3);
    let fine =
        fine.map(|number| line("5m", day + minutes(5 * number), &candles(3 + number % 2, number + 1, 3)));
    let of = |name, length, numbers: std::ops::Range<i64>, samples| {
        numbers
            .map(move |number| line(name, day + minutes(length * number), &candles(5, number + 1, samples)))
    };
    let coarse = of("1h", 60, 1..2, 59).chain(of("1h", 60, 2..4, 2)).chain(of("3h", 180, 1..2, 170));
    [fine.collect(), coarse.collect(), of("1d", 1_440, 0..1, 1_000).collect()]
}

#[tokio::test(flavor = "multi_thread")]
async fn coarser_candles_are_built_of_an_import_in_any_order() {
    let [fine, coarse, day] = old_candles();
    let files = [
        fine.concat(),
        [fine.clone(), coarse.clone(), day.clone()].concat().concat(),
        [day, coarse, fine].concat().concat(),
    ];
    for file in files {
        let history = History::start().await;
        history.import(&file);
        let before = history.stored().await;
        history.build_all().await;
        let built = history.stored().await;
        assert!(built.len() > before.len());
        assert!(built == expected(before, history.settled), "other candles are built");
        // Another import of the file changes no candle, and neither does building them again.
        history.import(&file);
        history.build_all().await;
        assert!(history.stored().await == built);
        history.cloud.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_beside_the_recorder_neither_delays_nor_changes_candles_of_the_present() {
    let history = History::start().await;
    let [fine, coarse, _] = old_candles();
    // The recorder has recorded an hour, and half of it is built.
    let hour = start(Timestamp::now(), 60) - minutes(120);
    let at = |minute: i64| seconds(hour + minutes(minute));
    let id: ItemId = "ITEM:00000".parse().unwrap();
    for minute in 0..60_u8 {
        let quote = Quote::nearest(1.0, minute.into(), 1, minute.into()).unwrap();
        record(history.session(), Tick::of(at(minute.into())), &[(id.clone(), quote)].into()).await.unwrap();
    }
    assert_eq!(history.build_at(at(32)).await.until, at(30));

    history.import(&fine[..fine.len() / 2].concat());
    // The next run builds the present first: six intervals of five minutes, one of thirty and one of an hour.
    let run = history.build_at(at(62)).await;
    let is_present: Vec<_> = run.slots.iter().map(|slot| slot.slot >= at(0)).collect();
    assert!(is_present[..8].iter().all(|present| *present), "{:?}", run.slots);
    assert!(is_present.len() > 8 && !is_present[8..].contains(&true), "{:?}", run.slots);
    // The real recorder notes its heartbeat of recorded minutes only.
    let event = || json!({"time": Timestamp::now().to_string()}).to_string();
    history.cloud.invoke("record-candles", event()).await.unwrap();
    let heartbeat =
        || history.dynamodb.dump(&history.name)[&("feeds".to_owned(), "candles".to_owned())].clone();
    let before = heartbeat();
    assert_eq!(before["last_recorded_at"]["N"], at(60).get().to_string());

    history.import(&[&fine[fine.len() / 2..], &coarse[..]].concat().concat());
    history.cloud.invoke("record-candles", event()).await.unwrap();
    history.build_all().await;
    assert_eq!(heartbeat(), before);
    let stored = history.stored().await;
    assert!(stored == expected(stored.clone(), history.settled), "other candles are built");
    let [finest, ..] = &INTERVALS;
    for five in 0..12 {
        let (_, candles) = &stored[&(finest.length, at(5 * five))];
        assert_eq!((candles[&id].samples, candles[&id].sell_volume), (5, 1));
        assert_eq!(candles[&id].buy_volume, 5 * five + 4);
    }
    history.cloud.shutdown().await;
}
