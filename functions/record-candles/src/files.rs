//! Writes the public files from candles: averages of auctions, and one file for each finished day and market.

use std::collections::BTreeMap;
use std::error::Error;

use common::time::UnixSeconds;
use files::{Files, Form, Seen, gzip};
use serde::Serialize;
use tables::Session;
use tables::auctions::{Average, Averages, Sold, WINDOWS, averages_of};
use tables::series::{SeriesCandle, Slot, candles, csv, recorded};

/// The maximum number of days of a market that a run checks.
const MOST_DAYS: usize = 8;

/// The number of newest days whose files are rewritten if their candles have changed. Minutes are kept for
/// two days, so only an import can change older days.
const CHANGING_DAYS: usize = 3;

/// The folders of the days of each market.
pub(crate) const BAZAAR_DAYS: &str = "days/bazaar";
pub(crate) const AUCTIONS_DAYS: &str = "days/auctions";

/// The end of the names of days.
const DAY_SUFFIX: &str = ".csv.gz";

const MINUTES_OF_A_DAY: u32 = 24 * 60;

type BoxedError = Box<dyn Error + Send + Sync>;

/// The sales of an item, in the shape of the lists that mods read.
#[derive(Debug, Serialize)]
struct ItemSales {
    /// The average price of a stack, in coins. Readers divide it by `count`.
    price: f64,
    /// The average number of items in a stack.
    count: f64,
    /// The number of sales per day.
    sales: u32,
    /// The average price of a clean item, in coins.
    #[serde(skip_serializing_if = "Option::is_none")]
    clean_price: Option<f64>,
    /// The number of sales of clean items per day.
    #[serde(skip_serializing_if = "Option::is_none")]
    clean_sales: Option<u32>,
}

impl ItemSales {
    /// Returns the sales in a window; `None` without sales. `minutes` is the number of its minutes with known
    /// sales.
    fn of(Average { sold, clean, .. }: &Average, minutes: u32) -> Option<Self> {
        let sold = sold.as_ref()?;
        #[expect(clippy::cast_precision_loss, reason = "fewer than 53 bits")]
        let count = sold.sold as f64 / f64::from(sold.sales.max(1));
        let a_day = |sold: &Sold| per_day(sold.sales, minutes);
        // If all copies are clean, the item probably cannot be improved, and a separate price is useless.
        let clean = clean.as_ref().filter(|clean| clean.sales < sold.sales);
        Some(Self {
            price: sold.average().coins() * count,
            count,
            sales: a_day(sold),
            clean_price: clean.map(|clean| clean.average().coins()),
            clean_sales: clean.map(a_day),
        })
    }
}

/// Returns the number of sales per day, rounded to a whole number, at least 1.
fn per_day(sales: u32, minutes: u32) -> u32 {
    let days = (u64::from(sales) * u64::from(MINUTES_OF_A_DAY) + u64::from(minutes) / 2)
        .checked_div(minutes.into())
        .unwrap_or_default();
    u32::try_from(days).unwrap_or(u32::MAX).max(1)
}

/// Writes the files of averages if they are outdated: if this run has `made` new averages, or if a file is
/// older than `until` because an earlier run was killed. `until` is the end of the last hour in the averages.
pub(crate) async fn averages(
    files: &Files,
    table: Session<'_>,
    made: bool,
    until: UnixSeconds,
) -> Result<(), BoxedError> {
    for (window, name) in WINDOWS.iter().zip(["1day", "3day", "7day"]) {
        let is_outdated = |seen: &Seen| made || seen.is_older_than(until);
        let lowest = files.seen(&format!("auction_averages_lbin/{name}.json"), Form::Both).await?;
        let sales = match window.name {
            "3d" => Some(files.seen("auction_averages/3day.json", Form::Both).await?),
            _ => None,
        };
        if !is_outdated(&lowest) && !sales.as_ref().is_some_and(is_outdated) {
            continue;
        }
        let Some(Averages { minutes, items, .. }) = averages_of(table, window, true).await? else { continue };
        let prices = items.iter().filter_map(|(id, average)| Some((id.as_str(), average.lowest?.coins())));
        files.replace(lowest, &serde_json::to_vec(&prices.collect::<BTreeMap<_, _>>())?).await?;
        if let Some(seen) = sales {
            let items = items
                .iter()
                .filter_map(|(id, average)| Some((id.as_str(), ItemSales::of(average, minutes)?)));
            files.replace(seen, &serde_json::to_vec(&items.collect::<BTreeMap<_, _>>())?).await?;
        }
    }
    Ok(())
}

/// Writes the finished days of a market into `folder`, newest first: days without a file, and the newest days
/// if they have changed. A failed day does not stop the others.
///
/// # Errors
/// The first failure, after all days were tried.
pub(crate) async fn days<C: SeriesCandle>(
    files: &Files,
    folder: &str,
    table: Session<'_>,
    now: UnixSeconds,
) -> Result<(), BoxedError> {
    let Some(interval) = C::SERIES.intervals.last() else { return Ok(()) };
    let names = files.names(folder).await?;
    let name = |day: UnixSeconds| format!("{}{DAY_SUFFIX}", day.to_string().get(..10).unwrap_or_default());
    let newest_first = recorded(table, interval, now).await?.into_iter().rev().enumerate();
    let days = newest_first.filter(|(age, day)| *age < CHANGING_DAYS || !names.contains(&name(day.start)));
    let mut result = Ok(());
    for (_, day) in days.take(MOST_DAYS) {
        let written = write_day::<C>(files, &format!("{folder}/{}", name(day.start)), table, day).await;
        result = result.and(written);
    }
    result
}

async fn write_day<C: SeriesCandle>(
    files: &Files,
    name: &str,
    table: Session<'_>,
    day: Slot,
) -> Result<(), BoxedError> {
    let (seen, before) = files.read(name).await?;
    let Some(candles) = candles::<C>(table, day).await? else {
        return Err(format!("rows of {name} are missing or corrupt").into());
    };
    let csv = csv::<C>(&candles)?;
    // A day without candles gets no file.
    if !csv.is_empty() && before != Some(gzip(csv.as_bytes())?) {
        files.replace(seen, csv.as_bytes()).await?;
    }
    Ok(())
}

/// The days of each market that have a file, ascending, such as `2026-11-20`.
#[derive(Debug, Serialize)]
struct DaysIndex {
    bazaar: Vec<String>,
    auctions: Vec<String>,
}

/// Writes the list of days if it differs from the files. Looks at the files only if there is no list yet, or
/// if this run has checked the days (`are_checked`).
pub(crate) async fn days_index(files: &Files, are_checked: bool) -> Result<(), BoxedError> {
    let (seen, before) = files.read("days/index.json").await?;
    if before.is_some() && !are_checked {
        return Ok(());
    }
    let days = async |folder: &str| {
        let names = files.names(folder).await?;
        let days = names.iter().filter_map(|name| name.strip_suffix(DAY_SUFFIX)).map(str::to_owned);
        Ok::<Vec<_>, BoxedError>(days.collect())
    };
    let index = DaysIndex { bazaar: days(BAZAAR_DAYS).await?, auctions: days(AUCTIONS_DAYS).await? };
    let content = serde_json::to_vec(&index)?;
    if before.as_ref() != Some(&content) {
        files.replace(seen, &content).await?;
    }
    Ok(())
}
