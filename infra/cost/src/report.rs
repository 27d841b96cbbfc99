//! The measured figures, their monthly cost, and their targets.

use std::time::Duration;

use tables::history::bazaar::Tier;

use crate::figures::{float, grouped};
use crate::history::Row;
use crate::targets::{MAX_PAGES, MAX_READ_UNITS, MAX_READ_UNITS_WORST, MAX_WRITE_UNITS};

/// A month, as in AWS's own examples.
const MONTH: Duration = Duration::from_hours(30 * 24);

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
    /// The cost of writing prices, the finest tier first.
    pub tiers: Vec<TierCost>,
    /// The cost of writing if every product of the snapshot had a price.
    pub all_priced: Vec<TierCost>,
    /// The cost of reading prices, the shortest range first. Ranges that were not measured are missing.
    pub ranges: Vec<RangeCost>,
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

/// The cost of writing and storing a tier.
#[derive(Debug)]
pub struct TierCost {
    /// The tier.
    pub tier: &'static Tier,
    /// The number of rows per tick: one for each shard with a product.
    pub rows: usize,
    /// Their sizes.
    pub row_bytes: RowBytes,
    /// The write units of a tick: its rows, and the marker of the complete slot.
    pub write_units_per_tick: f64,
    /// The size of the marker.
    pub marker_bytes: usize,
    /// The number of slots before the oldest expires.
    pub slots_kept: u64,
}

impl TierCost {
    /// The number of its ticks in a month.
    #[must_use]
    pub fn ticks_per_month(&self) -> f64 {
        MONTH.div_duration_f64(self.tier.interval)
    }

    /// The write units of a month.
    #[must_use]
    pub fn write_units_per_month(&self) -> f64 {
        self.write_units_per_tick * self.ticks_per_month()
    }

    /// The billed bytes of the full tier.
    #[must_use]
    pub fn stored_bytes(&self) -> f64 {
        let overhead = STORAGE_OVERHEAD * (self.rows + 1);
        float(self.slots_kept) * float((self.row_bytes.sum + self.marker_bytes + overhead) as u64)
    }
}

/// The cost of one query of a range.
#[derive(Debug)]
pub struct RangeCost {
    /// The tier that serves the range.
    pub tier: &'static Tier,
    /// Eventually consistent read units, on average over all products.
    pub read_units: f64,
    /// The same for the worst product.
    pub read_units_worst: f64,
    /// Its id; the first where there are several.
    pub worst_product: String,
    /// The highest number of pages.
    pub pages: u64,
    /// The bytes of the rows that are read, on average.
    pub bytes_read: f64,
    /// The bytes of the response's body, on average.
    pub response_bytes: f64,
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
pub(crate) struct RangeSum {
    products: usize,
    read_units: f64,
    worst: Option<(f64, String)>,
    pages: u64,
    bytes_read: f64,
    response_bytes: f64,
}

impl RangeSum {
    /// Adds the query of a product in the shard of this row.
    pub(crate) fn add(&mut self, tier: &Tier, row: &Row, product: &str, query: &QueryCost) {
        let products = row.products().len();
        let weight = float(products as u64);
        self.products += products;
        self.read_units += weight * query.read_units;
        self.bytes_read += weight * float(row.bytes() as u64) * f64::from(tier.slots);
        self.response_bytes += weight * float(query.response_bytes as u64);
        self.pages = self.pages.max(query.pages);
        let is_worse = self.worst.as_ref().is_none_or(|(units, id)| {
            query.read_units > *units || (query.read_units >= *units && product < id.as_str())
        });
        if is_worse {
            self.worst = Some((query.read_units, product.to_owned()));
        }
    }

    pub(crate) fn of_range(self, tier: &'static Tier) -> RangeCost {
        let products = float(self.products.max(1) as u64);
        let (read_units_worst, worst_product) = self.worst.unwrap_or_default();
        RangeCost {
            tier,
            read_units: self.read_units / products,
            read_units_worst,
            worst_product,
            pages: self.pages,
            bytes_read: self.bytes_read / products,
            response_bytes: self.response_bytes / products,
        }
    }
}

impl Report {
    /// The write units of prices in a month, all tiers together.
    #[must_use]
    pub fn write_units_per_month(&self) -> f64 {
        self.tiers.iter().map(TierCost::write_units_per_month).sum()
    }

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
        let units = self.write_units_per_month();
        target("write units of all tiers in a month".to_owned(), units, MAX_WRITE_UNITS);
        for range in &self.ranges {
            let name = range.tier.range;
            let worst = format!("read units of a query of {name} for {}", range.worst_product);
            target(format!("pages of a query of {name}"), float(range.pages), float(MAX_PAGES));
            target(format!("read units of a query of {name}, on average"), range.read_units, MAX_READ_UNITS);
            if self.judges_worst() {
                target(worst, range.read_units_worst, MAX_READ_UNITS_WORST);
            }
        }
        missed
    }
}

#[cfg(test)]
mod tests {
    use tables::history::bazaar::TIERS;

    use super::*;

    fn report(write_units_per_tick: f64, pages: u64, read_units: f64, read_units_worst: f64) -> Report {
        let [tier, ..] = &TIERS;
        let cost = || TierCost {
            tier,
            rows: 96,
            row_bytes: RowBytes { smallest: 500, sum: 96 * 900, largest: 1_000 },
            write_units_per_tick,
            marker_bytes: 50,
            slots_kept: 240,
        };
        let range = RangeCost {
            tier,
            read_units,
            read_units_worst,
            worst_product: "INK_SACK:3".to_owned(),
            pages,
            bytes_read: 54_000.0,
            response_bytes: 9_000.0,
        };
        Report {
            products: 1_913,
            copies: 0,
            priced: 1_579,
            tiers: vec![cost()],
            all_priced: vec![cost()],
            ranges: vec![range],
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
    fn the_monthly_cost_is_the_sum_in_dollars() {
        let report = report(100.0, 1, 8.0, 8.0);
        // 240 slots, each with 96 rows of 900 bytes and a marker of 50, plus 100 bytes for each of the 97.
        assert!((report.tiers[0].stored_bytes() - 240.0 * f64::from(96 * 900 + 50 + 97 * 100)).abs() < 1e-6);
        let printed = report.to_string();
        for line in [
            "write units of prices 4,320,000 (≤ 8,000,000) 2.70",
            "read units of lookup 216,000 0.03",
            "prices stored, all tiers full 0.02 GB 0.01",
            "sum 2.73",
        ] {
            let lines: Vec<_> =
                printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert!(lines.iter().any(|printed| printed == line), "{line}: {printed}");
        }
    }
}
