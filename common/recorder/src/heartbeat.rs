//! Heartbeats: when each feed was recorded. Each feed has one row. Its `pk` is `feeds`, and its `sk` is the
//! name of the feed.
//!
//! | attribute | value |
//! |---|---|
//! | `first_recorded_at` | the earliest tick, in Unix seconds |
//! | `last_recorded_at` | the latest tick |
//! | `gaps` | the gaps between the earliest and the latest tick, oldest first: a list of maps with the ticks `from` and `to` around each gap |
//! | `recorded_minutes` | the ticks of the last hour: bit `n` of the number stands for the tick `n` minutes before the latest one |
//! | `data_changed_at` | the time of the newest refresh with changed data, by the provider's clock, in Unix seconds |
//! | `data_digest` | the digest of the data of that refresh |
//!
//! Rows of earlier versions may lack the last three attributes. Without `recorded_minutes`, all minutes
//! outside gaps count as recorded. Without `data_changed_at` and `data_digest`, the time of the last change
//! is unknown. A missing attribute does not make a feed unhealthy.
//!
//! A gap is a pause between two successive ticks that is longer than the feed allows. A late tick within a
//! gap divides the gap; a part that is no longer than the feed allows is not a gap. The row depends only on
//! the set of ticks, not on their order or repetitions. Only the newest gaps are kept. Ticks arrive at most a
//! few minutes late, so no tick falls into a gap that was dropped.

use std::hash::Hash;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use tables::item::{self, Attributes, Corrupt, SORT_KEY, integer, number, readable, text};
use tables::{Error, Reads, Session, if_unchanged};

use crate::feed::{FEEDS, Feed};

const PARTITION: &str = "feeds";
const FIRST: &str = "first_recorded_at";
const LAST: &str = "last_recorded_at";
const GAPS: &str = "gaps";
const RECORDED_MINUTES: &str = "recorded_minutes";
const DATA_CHANGED_AT: &str = "data_changed_at";
const DATA_DIGEST: &str = "data_digest";
const FROM: &str = "from";
const TO: &str = "to";

/// The maximum number of gaps in a row of the table. Only the latest gap is shown, but a late tick can close
/// it, and the gap before it is then shown.
const MOST_GAPS: usize = 8;

const MINUTE: Duration = Duration::from_mins(1);

/// The number of minutes for which a row has bits.
const HOUR: u32 = 60;
const ALL_MINUTES: u64 = (1 << HOUR) - 1;

/// When a feed was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    first: UnixSeconds,
    last: UnixSeconds,
    gaps: Vec<Gap>,
    /// Bit `n` is set if the tick `n` minutes before the latest one was recorded.
    minutes: u64,
    /// The newest refresh with changed data.
    changed: Option<Refresh>,
}

/// A refresh of the provider's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refresh {
    /// The time of the refresh, by the provider's clock.
    at: UnixSeconds,
    /// Equal for equal data. If different data have the same digest by chance, the change goes unnoticed.
    digest: i64,
}

impl Refresh {
    /// The refresh at this time with these data.
    #[must_use]
    pub fn of(at: UnixMilliseconds, data: &impl Hash) -> Self {
        // Every version of the service must compute the same digest.
        let mut hasher = crc32fast::Hasher::new();
        data.hash(&mut hasher);
        Self { at: at.into(), digest: hasher.finalize().into() }
    }
}

/// A period without records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The latest record before the period.
    pub from: UnixSeconds,
    /// The earliest record after the period.
    pub to: UnixSeconds,
}

impl Heartbeat {
    /// The heartbeat of a feed with one tick.
    const fn of(tick: UnixSeconds) -> Self {
        Self { first: tick, last: tick, gaps: Vec::new(), minutes: 1, changed: None }
    }

    /// The time of the latest record.
    #[must_use]
    pub const fn last_recorded_at(&self) -> UnixSeconds {
        self.last
    }

    /// Returns the latest gap that no later run has filled.
    #[must_use]
    pub fn last_gap(&self) -> Option<Gap> {
        self.gaps.last().copied()
    }

    /// Returns the number of minutes that were recorded in the hour before `now`.
    #[must_use]
    pub fn minutes_last_hour(&self, now: UnixSeconds) -> usize {
        let hour_ago = now.minus(MINUTE * HOUR);
        minutes_before(self.last)
            .filter(|(bit, minute)| self.minutes & bit != 0 && hour_ago < *minute && *minute <= now)
            .count()
    }

    /// Whether the first record is at least an hour old at the time `now`.
    #[must_use]
    pub fn is_hour_old(&self, now: UnixSeconds) -> bool {
        self.first <= now.minus(MINUTE * HOUR)
    }

    /// Returns the time of the newest refresh with changed data; `None` if it is unknown.
    #[must_use]
    pub fn data_changed_at(&self) -> Option<UnixSeconds> {
        self.changed.map(|refresh| refresh.at)
    }

    /// Returns the time of the last change of the data, if it is so long ago that the feed is unhealthy.
    #[must_use]
    pub fn unchanged_since(&self, feed: &Feed, now: UnixSeconds) -> Option<UnixSeconds> {
        let longest = feed.longest_standstill?;
        self.data_changed_at().filter(|changed_at| changed_at.plus(longest) <= now)
    }

    /// Returns the heartbeat with the refresh in place of the stored refresh, if it is newer and has
    /// different data. The time of the last change therefore never goes back, whatever the order of the
    /// refreshes.
    fn with_refresh(self, refresh: Refresh) -> Self {
        let is_change =
            self.changed.is_none_or(|known| known.at < refresh.at && known.digest != refresh.digest);
        if is_change { Self { changed: Some(refresh), ..self } } else { self }
    }

    fn with(&self, tick: UnixSeconds, feed: &Feed) -> Self {
        let Self { mut first, mut last, ref gaps, minutes, changed } = *self;
        let mut gaps = gaps.clone();
        let newest = last.max(tick);
        let at = |bits: u64, time: UnixSeconds| {
            let age = newest.get().abs_diff(time.get()) / MINUTE.as_secs();
            if age < HOUR.into() { bits << age } else { 0 }
        };
        let minutes = (at(minutes, last) | at(1, tick)) & ALL_MINUTES;
        let is_gap = |gap: &Gap| gap.to > gap.from.plus(feed.longest_pause());
        if let Some(position) = gaps.iter().position(|gap| gap.from < tick && tick < gap.to) {
            let Gap { from, to } = gaps.remove(position);
            let parts = [Gap { from, to: tick }, Gap { from: tick, to }].into_iter().filter(is_gap);
            gaps.splice(position..position, parts);
        } else if tick > last {
            gaps.extend(Some(Gap { from: last, to: tick }).filter(is_gap));
            last = tick;
        } else if tick < first {
            gaps.splice(..0, Some(Gap { from: tick, to: first }).filter(is_gap));
            first = tick;
        }
        gaps.drain(..gaps.len().saturating_sub(MOST_GAPS));
        Self { first, last, gaps, minutes, changed }
    }

    fn of_row(row: &Attributes) -> Result<Self, Corrupt> {
        let time = |row: &Attributes, attribute| integer(row, attribute).map(UnixSeconds::new);
        let (first, last) = (time(row, FIRST)?, time(row, LAST)?);
        let gap = |gap: &AttributeValue| {
            let gap = gap.as_m().ok()?;
            Some(Gap { from: time(gap, FROM).ok()?, to: time(gap, TO).ok()? })
        };
        let gaps = row.get(GAPS).and_then(|gaps| gaps.as_l().ok());
        let gaps: Option<Vec<_>> = gaps.and_then(|gaps| gaps.iter().map(gap).collect());
        let gaps = gaps.filter(|gaps| is_ascending(first, gaps, last));
        let gaps = gaps.ok_or(Corrupt::new(GAPS, "a list of gaps between the first and the last tick"))?;
        let minutes = match row.get(RECORDED_MINUTES) {
            Some(_) => u64::try_from(integer(row, RECORDED_MINUTES)?)
                .map_err(|_| Corrupt::new(RECORDED_MINUTES, "bits"))?,
            None => minutes_outside(first, last, &gaps),
        };
        let refresh = || Ok(Refresh { at: time(row, DATA_CHANGED_AT)?, digest: integer(row, DATA_DIGEST)? });
        let changed = row.contains_key(DATA_CHANGED_AT).then(refresh).transpose()?;
        Ok(Self { first, last, gaps, minutes: minutes & ALL_MINUTES, changed })
    }

    fn row(&self, feed: &Feed) -> Attributes {
        let mut row = key(feed);
        let gap = |gap: &Gap| {
            let (from, to) = (number(gap.from.get()), number(gap.to.get()));
            AttributeValue::M(Attributes::from([(FROM.to_owned(), from), (TO.to_owned(), to)]))
        };
        row.insert(FIRST.to_owned(), number(self.first.get()));
        row.insert(LAST.to_owned(), number(self.last.get()));
        row.insert(GAPS.to_owned(), AttributeValue::L(self.gaps.iter().map(gap).collect()));
        row.insert(RECORDED_MINUTES.to_owned(), number(self.minutes));
        if let Some(Refresh { at, digest }) = self.changed {
            row.insert(DATA_CHANGED_AT.to_owned(), number(at.get()));
            row.insert(DATA_DIGEST.to_owned(), number(digest));
        }
        row
    }
}

/// Returns the 60 bits of the hour that ends with the latest tick `last`, and the minute of each bit.
fn minutes_before(last: UnixSeconds) -> impl Iterator<Item = (u64, UnixSeconds)> {
    (0..HOUR).map(move |age| (1 << age, last.minus(MINUTE * age)))
}

/// Returns the bits of all minutes from `first` to `last` that are in no gap.
fn minutes_outside(first: UnixSeconds, last: UnixSeconds, gaps: &[Gap]) -> u64 {
    let is_in_gap = |minute| gaps.iter().any(|gap| gap.from < minute && minute < gap.to);
    let minutes = minutes_before(last).filter(|(_, minute)| *minute >= first && !is_in_gap(*minute));
    minutes.map(|(bit, _)| bit).sum()
}

/// Whether the gaps follow each other between the first and the last tick.
fn is_ascending(first: UnixSeconds, gaps: &[Gap], last: UnixSeconds) -> bool {
    let end =
        gaps.iter().try_fold(first, |end, gap| (end <= gap.from && gap.from < gap.to).then_some(gap.to));
    end.is_some_and(|end| end <= last)
}

fn key(feed: &Feed) -> Attributes {
    item::key(PARTITION, feed.name)
}

/// Adds the ticks at which the feed was recorded, and the refresh that the run read, to the feed's row.
/// Returns the new heartbeat; `None` if the row and `ticks` have no tick. `latest` is the latest time that a
/// recorder's clock can show. A stored heartbeat with a later tick is wrong and would stay wrong, so it is
/// replaced. A refresh with a later time is stored with the time `latest`, so that following refreshes count
/// as newer.
pub(crate) async fn note(
    table: Session<'_>,
    feed: &Feed,
    ticks: &[Tick],
    refresh: Option<Refresh>,
    latest: Option<UnixSeconds>,
) -> Result<Option<Heartbeat>, Error> {
    let refresh = refresh.map(|refresh| {
        let at = latest.map_or(refresh.at, |latest| refresh.at.min(latest));
        Refresh { at, ..refresh }
    });
    loop {
        let row = table.get(key(feed)).await?;
        let before = row.as_ref().and_then(of_row);
        let before = before.filter(|before| latest.is_none_or(|latest| before.last <= latest));
        let after = ticks.iter().fold(before.clone(), |heartbeat, tick| {
            let tick = tick.time();
            Some(heartbeat.map_or(Heartbeat::of(tick), |heartbeat| heartbeat.with(tick, feed)))
        });
        let Some(after) = after else { return Ok(None) };
        let after = refresh.into_iter().fold(after, Heartbeat::with_refresh);
        if before.as_ref() == Some(&after) {
            return Ok(before);
        }
        let request = table.put_item().set_item(Some(after.row(feed)));
        let attributes = [FIRST, LAST, GAPS, RECORDED_MINUTES, DATA_CHANGED_AT, DATA_DIGEST];
        let request = if_unchanged(request, row.as_ref(), &attributes);
        if table.write("PutItem", request.send()).await?.is_some() {
            return Ok(Some(after));
        }
        // Another run of the recorder has changed the row since it was read.
    }
}

/// Returns the heartbeat in a row, unless the row is corrupt.
fn of_row(row: &Attributes) -> Option<Heartbeat> {
    readable(std::slice::from_ref(row), PARTITION, |row| Heartbeat::of_row(row).map(Some)).pop()
}

/// Returns the heartbeat of each feed; `None` if the feed was never recorded or its row is corrupt. Reads one
/// row per feed.
pub async fn heartbeats(table: Session<'_>) -> Result<[Option<Heartbeat>; FEEDS.len()], Error> {
    let rows = table.get_all(FEEDS.into_iter().map(key).collect(), Reads::Consistent).await?;
    Ok(FEEDS.map(|feed| {
        let row = rows.iter().find(|row| text(row, SORT_KEY).is_ok_and(|name| name == feed.name));
        row.and_then(of_row)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::feed::{BAZAAR, CANDLES};

    fn time(minute: i64) -> UnixSeconds {
        UnixSeconds::new(1_777_388_400 + minute * 60)
    }

    fn gap(from: i64, to: i64) -> Gap {
        Gap { from: time(from), to: time(to) }
    }

    fn after(feed: &Feed, minutes: &[i64]) -> Heartbeat {
        let (first, others) = minutes.split_first().unwrap();
        others.iter().fold(Heartbeat::of(time(*first)), |before, minute| before.with(time(*minute), feed))
    }

    #[test]
    fn a_row_keeps_the_newest_gaps_and_fits_into_one_write_unit() {
        let minutes: Vec<_> = (0..1_000).map(|number| number * 10).collect();
        let heartbeat = after(&BAZAAR, &minutes);
        assert_eq!(heartbeat.gaps.len(), MOST_GAPS);
        assert_eq!(heartbeat.last_gap(), Some(gap(9_980, 9_990)));
        assert_eq!(heartbeat.first, time(0));
        // A tick within a dropped gap changes nothing.
        assert_eq!(heartbeat.with(time(15), &BAZAAR), heartbeat);
        let row = heartbeat.row(&BAZAAR);
        assert!(format!("{row:?}").len() < 2_000, "{row:?}");
    }

    #[test]
    fn a_minute_of_the_last_hour_counts_once_also_in_a_row_of_an_earlier_version() {
        let half: Vec<_> = (-100..0).map(|number| number * 2).collect();
        let heartbeat = after(&BAZAAR, &half);
        assert_eq!(heartbeat.minutes_last_hour(time(-1)), 30);
        assert_eq!(heartbeat.minutes_last_hour(time(28)), 15);
        assert_eq!(heartbeat.minutes_last_hour(time(58)), 0);
        assert_eq!(
            heartbeat.with(time(-31), &BAZAAR).with(time(-31), &BAZAAR).minutes_last_hour(time(-1)),
            31
        );
        assert_eq!((heartbeat.last_gap(), heartbeat.is_hour_old(time(-141))), (None, false));
        assert!(heartbeat.is_hour_old(time(-140)));
        let mut row = after(&BAZAAR, &[-100, -20, -19]).row(&BAZAAR);
        row.remove(RECORDED_MINUTES);
        let before = Heartbeat::of_row(&row).unwrap();
        assert_eq!(before.with(time(0), &BAZAAR).minutes_last_hour(time(0)), 3);
    }

    proptest! {
        #[test]
        fn the_order_and_the_number_of_repetitions_make_no_difference(
            // Few enough that no gap is dropped.
            minutes in prop::collection::vec(0..40_i64, 1..=MOST_GAPS),
            shuffled in any::<prop::sample::Index>(),
        ) {
            for feed in [&BAZAAR, &CANDLES] {
                let mut in_order = minutes.clone();
                in_order.sort_unstable();
                in_order.dedup();
                let mut rotated = minutes.clone();
                rotated.rotate_left(shuffled.index(minutes.len()));
                let expected = after(feed, &in_order);
                prop_assert_eq!(&after(feed, &minutes), &expected);
                prop_assert_eq!(&after(feed, &rotated), &expected);
                prop_assert_eq!(Heartbeat::of_row(&expected.row(feed)).ok(), Some(expected));
            }
        }

        #[test]
        fn the_time_of_a_change_never_goes_back_and_is_that_of_the_first_refresh_with_the_data(
            refreshes in prop::collection::vec((0..20_i64, 0..3_i64), 1..20),
        ) {
            let mut heartbeat = Heartbeat::of(time(0));
            for (minute, digest) in refreshes {
                let (before, refresh) = (heartbeat.changed, Refresh { at: time(minute), digest });
                heartbeat = heartbeat.with_refresh(refresh);
                let is_same = before.is_some_and(|before| before.digest == digest || before.at >= refresh.at);
                prop_assert_eq!(heartbeat.changed, if is_same { before } else { Some(refresh) });
                prop_assert_eq!(Heartbeat::of_row(&heartbeat.row(&BAZAAR)).ok(), Some(heartbeat.clone()));
            }
        }

        #[test]
        fn a_row_with_any_numbers_is_read_or_corrupt(
            numbers in prop::collection::vec(any::<i64>(), 4),
            tick in any::<i64>(),
        ) {
            let [first, last, from, to] = numbers[..] else { panic!("four numbers") };
            let times = |time| UnixSeconds::new(time);
            let gaps = vec![Gap { from: times(from), to: times(to) }];
            let heartbeat =
                Heartbeat { first: times(first), last: times(last), gaps, minutes: 1, changed: None };
            let row = heartbeat.row(&BAZAAR);
            if let Ok(heartbeat) = Heartbeat::of_row(&row) {
                prop_assert!(first <= from && from < to && to <= last);
                let gap = heartbeat.with(times(tick), &BAZAAR).last_gap();
                prop_assert!(gap.is_none_or(|gap| gap.from < gap.to));
            }
        }
    }
}
