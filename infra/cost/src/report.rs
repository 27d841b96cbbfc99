//! The measured figures, their monthly cost, and their targets.

use std::time::Duration;

use markdown::grouped;

use crate::figures::float;
use crate::history::Row;
use crate::targets::{MAX_WRITE_UNITS, MAX_WRITE_UNITS_WITH_CANDLES, QueryTargets};

/// A month, as in AWS's own examples.
const MONTH: Duration = Duration::from_hours(30 * 24);
const YEAR: Duration = Duration::from_hours(365 * 24);

// List prices in US dollars of DynamoDB on demand, table class Standard, in us-east-1, from AWS's price list
// (https://aws.amazon.com/dynamodb/pricing/on-demand/). The free tier is not deducted.
pub(crate) const DOLLARS_PER_MILLION_WRITE_UNITS: f64 = 0.625;
pub(crate) const DOLLARS_PER_MILLION_READ_UNITS: f64 = 0.125;
pub(crate) const DOLLARS_PER_GIGABYTE_MONTH: f64 = 0.25;
/// Billed storage per row beside names and values, in bytes (DynamoDB's documentation on item sizes).
const STORAGE_OVERHEAD: usize = 100;

/// What history costs.
#[derive(Debug)]
pub struct Report {
    /// The number of products in the snapshot.
    pub products: usize,
    /// The number of copied products, which make up for the simulator's shorter list.
    pub copies: usize,
    /// The number of products with a price. Only those are recorded.
    pub priced: usize,
    /// The cost of writing prices and candles.
    pub writing: Writing,
    /// The cost of writing if every product of the snapshot had a price.
    pub all_priced: Writing,
    /// The cost of reading prices, the shortest range first. Ranges that were not measured are missing.
    pub ranges: Vec<ReadCost>,
    /// The cost of reading candles, the finest interval first.
    pub pages: Vec<ReadCost>,
    /// The cost of the recorders' other requests.
    pub additional: Vec<Additional>,
}

/// Sizes of a tier's rows in bytes, as `DynamoDB` counts them: names and values.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowBytes {
    /// The smallest row.
    pub smallest: usize,
    /// All rows together.
    pub sum: usize,
    /// The largest row.
    pub largest: usize,
}

impl RowBytes {
    pub(crate) fn of(rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            smallest: rows.clone().min().unwrap_or_default(),
            sum: rows.clone().sum(),
            largest: rows.max().unwrap_or_default(),
        }
    }
}

/// The cost of writing prices and candles.
#[derive(Debug, Default)]
pub struct Writing {
    /// The tiers of prices, the finest first.
    pub tiers: Vec<WriteCost>,
    /// The intervals of candles, the finest first.
    pub candles: Vec<WriteCost>,
}

impl Writing {
    /// The write units of prices in a month, all tiers together.
    #[must_use]
    pub fn of_prices(&self) -> f64 {
        self.tiers.iter().map(WriteCost::write_units_per_month).sum()
    }

    /// The write units of candles in a month, all intervals together.
    #[must_use]
    pub fn of_candles(&self) -> f64 {
        self.candles.iter().map(WriteCost::write_units_per_month).sum()
    }
}

/// The cost of writing and storing a tier of prices or an interval of candles.
#[derive(Debug)]
pub struct WriteCost {
    /// The name of the tier or interval.
    pub name: &'static str,
    /// The time between two slots.
    pub interval: Duration,
    /// The number of shards.
    pub shards: u32,
    /// The number of rows per slot: one for each shard with a product.
    pub rows: usize,
    /// Their sizes.
    pub row_bytes: RowBytes,
    /// The write units of a slot: its rows, and its marker.
    pub write_units_per_slot: f64,
    /// The read units of the recorder's queries for a slot.
    pub read_units_per_slot: f64,
    /// The size of the marker.
    pub marker_bytes: usize,
    /// The number of slots before the oldest expires; `None` if none does.
    pub slots_kept: Option<u64>,
}

impl WriteCost {
    /// The number of its slots in a month.
    #[must_use]
    pub fn slots_per_month(&self) -> f64 {
        MONTH.div_duration_f64(self.interval)
    }

    /// The write units of a month.
    #[must_use]
    pub fn write_units_per_month(&self) -> f64 {
        self.write_units_per_slot * self.slots_per_month()
    }

    /// The read units of a month.
    #[must_use]
    pub fn read_units_per_month(&self) -> f64 {
        self.read_units_per_slot * self.slots_per_month()
    }

    /// The billed bytes of all slots that are kept, or of a year's if none expires.
    #[must_use]
    pub fn stored_bytes(&self) -> f64 {
        let overhead = STORAGE_OVERHEAD * (self.rows + 1);
        let slots = self.slots_kept.map_or_else(|| YEAR.div_duration_f64(self.interval), float);
        slots * float((self.row_bytes.sum + self.marker_bytes + overhead) as u64)
    }
}

/// The cost of one query.
#[derive(Debug)]
pub struct ReadCost {
    /// The range, or the interval and the page.
    pub name: String,
    /// The number of points or candles.
    pub points: u32,
    /// Eventually consistent read units, on average over all products.
    pub read_units: f64,
    /// The same for the worst product.
    pub read_units_worst: f64,
    /// Its id; the first where there are several.
    pub worst_product: String,
    /// The highest number of pages.
    pub pages: u64,
    /// The bytes of the rows of the range or interval that are read, on average.
    pub bytes_read: f64,
    /// The bytes of the response's body, on average.
    pub response_bytes: f64,
    /// Its targets.
    pub targets: &'static QueryTargets,
}

/// The cost of a recorder's other requests, per run.
#[derive(Debug)]
pub struct Additional {
    /// The recorder and the purpose.
    pub what: &'static str,
    /// The minutes between two runs.
    pub minutes: u32,
    /// Read units.
    pub read_units: f64,
    /// Write units.
    pub write_units: f64,
}

impl Additional {
    fn times_per_month(&self) -> f64 {
        MONTH.div_duration_f64(Duration::from_mins(self.minutes.into()))
    }

    /// The read and write units of a month.
    #[must_use]
    pub fn units_per_month(&self) -> (f64, f64) {
        (self.read_units * self.times_per_month(), self.write_units * self.times_per_month())
    }
}

/// The cost of one query.
pub(crate) struct QueryCost {
    pub(crate) read_units: f64,
    pub(crate) pages: u64,
    pub(crate) response_bytes: usize,
}

/// The costs of one product of each shard, for averages over all products.
#[derive(Default)]
pub(crate) struct ReadSum {
    products: usize,
    read_units: f64,
    worst: Option<(f64, String)>,
    pages: u64,
    bytes_read: f64,
    response_bytes: f64,
}

impl ReadSum {
    /// Adds the query of a product in the shard of this row, which reads this many such rows.
    pub(crate) fn add(&mut self, row: &Row, rows_read: u32, product: &str, query: &QueryCost) {
        let products = row.products().len();
        let weight = float(products as u64);
        self.products += products;
        self.read_units += weight * query.read_units;
        self.bytes_read += weight * float(row.bytes() as u64) * f64::from(rows_read);
        self.response_bytes += weight * float(query.response_bytes as u64);
        self.pages = self.pages.max(query.pages);
        let is_worse = self.worst.as_ref().is_none_or(|(units, id)| {
            query.read_units > *units || (query.read_units >= *units && product < id.as_str())
        });
        if is_worse {
            self.worst = Some((query.read_units, product.to_owned()));
        }
    }

    pub(crate) fn of(self, name: String, points: u32, targets: &'static QueryTargets) -> ReadCost {
        let products = float(self.products.max(1) as u64);
        let (read_units_worst, worst_product) = self.worst.unwrap_or_default();
        ReadCost {
            name,
            points,
            read_units: self.read_units / products,
            read_units_worst,
            worst_product,
            pages: self.pages,
            bytes_read: self.bytes_read / products,
            response_bytes: self.response_bytes / products,
            targets,
        }
    }
}

impl Report {
    /// Whether the worst product is meaningful. Which products share a row depends on their ids, and copies have invented
    /// ids.
    pub(crate) const fn judges_worst(&self) -> bool {
        self.copies == 0
    }

    /// A sentence for each missed target.
    #[must_use]
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut target = |what: String, measured: f64, most: f64| {
            if measured > most {
                let (measured, most) = (grouped(measured, 1), grouped(most, 0));
                missed.push(format!("{what}: {measured}, and it must not be more than {most}"));
            }
        };
        let units = self.writing.of_prices();
        target("write units of all tiers in a month".to_owned(), units, MAX_WRITE_UNITS);
        let units = self.all_priced.of_prices() + self.all_priced.of_candles();
        let what = "write units of all tiers and candles in a month, if all products had a price";
        target(what.to_owned(), units, MAX_WRITE_UNITS_WITH_CANDLES);
        for query in self.ranges.iter().chain(&self.pages) {
            let name = &query.name;
            if let Some(most) = query.targets.pages {
                target(format!("pages of a query of {name}"), float(query.pages), float(most));
            }
            if let Some(most) = query.targets.read_units {
                target(format!("read units of a query of {name}, on average"), query.read_units, most);
            }
            if let Some(most) = query.targets.read_units_worst.filter(|_| self.judges_worst()) {
                let worst = format!("read units of a query of {name} for {}", query.worst_product);
                target(worst, query.read_units_worst, most);
            }
        }
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::{CANDLES_TARGETS, MOST_CANDLES_TARGETS, RANGE_TARGETS};

    fn report(write_units_per_slot: f64, pages: u64, read_units: f64, read_units_worst: f64) -> Report {
        let cost = |name, minutes, slots_kept| WriteCost {
            name,
            interval: Duration::from_mins(minutes),
            shards: 97,
            rows: 96,
            row_bytes: RowBytes { smallest: 500, sum: 96 * 900, largest: 1_000 },
            write_units_per_slot,
            read_units_per_slot: 10.0,
            marker_bytes: 50,
            slots_kept,
        };
        let writing = || Writing {
            tiers: vec![cost("1m", 1, Some(240))],
            candles: vec![cost("5m", 5, Some(8_676)), cost("1d", 1_440, None)],
        };
        let query = |name: &str, targets| ReadCost {
            name: name.to_owned(),
            points: 60,
            read_units,
            read_units_worst,
            worst_product: "INK_SACK:3".to_owned(),
            pages,
            bytes_read: 54_000.0,
            response_bytes: 9_000.0,
            targets,
        };
        Report {
            products: 1_913,
            copies: 0,
            priced: 1_579,
            writing: writing(),
            all_priced: writing(),
            ranges: vec![query("1h", &RANGE_TARGETS)],
            pages: vec![query("5m", &CANDLES_TARGETS), query("1d", &MOST_CANDLES_TARGETS)],
            additional: vec![Additional { what: "lookup", minutes: 1, read_units: 5.0, write_units: 0.0 }],
        }
    }

    #[test]
    fn a_figure_above_its_target_is_reported_and_one_at_its_target_is_not() {
        // 43,200 ticks have 8 million units at 185.185… each.
        let met = report(185.0, 1, 20.0, 32.0);
        assert_eq!(met.missed(), Vec::<String>::new());
        assert!(met.to_string().ends_with("all targets are met"), "{met}");
        let missed = report(185.5, 2, 20.5, 32.5);
        let sentences = [
            "write units of all tiers in a month: 8,013,600.0, and it must not be more than 8,000,000",
            "pages of a query of 1h: 2.0, and it must not be more than 1",
            "read units of a query of 1h, on average: 20.5, and it must not be more than 20",
            "read units of a query of 1h for INK_SACK:3: 32.5, and it must not be more than 32",
        ];
        assert_eq!(missed.missed(), sentences);
        let printed = missed.to_string();
        for figure in ["8,013,600 (not ≤ 8,000,000)", "2 (not ≤ 1)", "20.5 (not ≤ 20)", "32.5 (not ≤ 32)"]
        {
            assert!(printed.contains(figure), "{figure}: {printed}");
        }
    }

    #[test]
    fn the_worst_product_is_not_judged_when_there_are_copies() {
        let made_up = Report { copies: 1, ..report(185.0, 1, 20.0, 32.5) };
        assert_eq!(made_up.missed(), Vec::<String>::new());
        assert!(made_up.to_string().contains("32.5 "), "{made_up}");
    }

    #[test]
    fn candles_have_targets_of_their_own() {
        // 43,200 ticks, 8,640 slots of five minutes and 30 days have 13 million units at 250.57… each.
        let missed = report(251.0, 3, 24.5, 45.5).missed();
        for sentence in [
            "write units of all tiers and candles in a month, if all products had a price: 13,019,370.0, and it must not \
             be more than 13,000,000",
            "read units of a query of 5m, on average: 24.5, and it must not be more than 24",
            "read units of a query of 5m for INK_SACK:3: 45.5, and it must not be more than 45",
            "pages of a query of 1d: 3.0, and it must not be more than 2",
        ] {
            assert!(missed.iter().any(|missed| missed == sentence), "{sentence}: {missed:#?}");
        }
        assert_eq!(missed.len(), 8, "{missed:#?}");
    }

    #[test]
    fn the_monthly_cost_is_the_sum_in_dollars() {
        let report = report(100.0, 1, 8.0, 8.0);
        // 240 slots, each with 96 rows of 900 bytes and a marker of 50, plus 100 bytes for each of the 97.
        let bytes = |slots: f64| slots * f64::from(96 * 900 + 50 + 97 * 100);
        let Writing { tiers, candles } = &report.writing;
        let stored = [&tiers[0], &candles[0], &candles[1]].map(WriteCost::stored_bytes);
        for (stored, slots) in stored.into_iter().zip([240.0, 8_676.0, 365.0]) {
            assert!((stored - bytes(slots)).abs() < 1e-6);
        }
        let printed = report.to_string();
        for line in [
            "write units of prices 4,320,000 (≤ 8,000,000) 2.70",
            "write units of candles 867,000 0.54",
            "read units of record-candles, for what it builds from 86,700 0.01",
            "read units of lookup 216,000 0.03",
            "prices stored, all tiers full 0.02 GB 0.01",
            "candles stored, all intervals full, and days of one year 0.87 GB 0.22",
            "sum 3.50",
            "write units, if all 1913 products had a price 5,187,000 (≤ 13,000,000) 3.24",
        ] {
            let lines: Vec<_> =
                printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert!(lines.iter().any(|printed| printed == line), "{line}: {printed}");
        }
    }
}
