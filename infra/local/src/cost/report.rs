//! What was measured, what it comes to in a month, and what it must not exceed.

use std::fmt;
use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tables::history::bazaar::Tier;

use super::Query;
use super::history::Row;

/// A month as AWS's own examples have it.
const MONTH: Duration = Duration::from_hours(30 * 24);

// List prices in US dollars of DynamoDB on demand, table class Standard, in us-east-1, from AWS's price list
// (https://aws.amazon.com/dynamodb/pricing/on-demand/). What is free every month is not taken off.
const DOLLARS_PER_MILLION_WRITE_UNITS: f64 = 0.625;
const DOLLARS_PER_MILLION_READ_UNITS: f64 = 0.125;
const DOLLARS_PER_GIGABYTE_MONTH: f64 = 0.25;
/// What storage costs beside names and values, in bytes for each row (DynamoDB's documentation on item sizes).
const STORED_BESIDE: usize = 100;

/// How many write units all tiers together may take in a month.
pub const MOST_WRITE_UNITS: f64 = 8e6;
/// How many requests one query may take.
pub const MOST_PAGES: u64 = 1;
/// How many read units one query may take on average over all products.
pub const MOST_READ_UNITS: f64 = 20.0;
/// How many read units one query of the worst product may take.
pub const MOST_READ_UNITS_WORST: f64 = 32.0;

/// What history costs.
#[derive(Debug)]
pub struct Report {
    /// How many products the snapshot has.
    pub products: usize,
    /// How many of them are copies of others, because the simulator has less than it takes.
    pub copies: usize,
    /// How many have a price. Only those are recorded.
    pub priced: usize,
    /// What writing prices takes, the finest tier first.
    pub tiers: Vec<TierCost>,
    /// What it would take if every product of the snapshot had a price.
    pub all_priced: Vec<TierCost>,
    /// What reading prices takes, the shortest range first. Not measured ranges are missing.
    pub ranges: Vec<RangeCost>,
    /// What the recorders take beside.
    pub additional: Vec<Additional>,
}

/// How large the rows of a tier are, in bytes as `DynamoDB` counts them: names and values.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowBytes {
    /// The smallest row.
    pub smallest: usize,
    /// All rows.
    pub sum: usize,
    /// The largest row.
    pub largest: usize,
}

impl RowBytes {
    pub(super) fn of(rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            smallest: rows.clone().min().unwrap_or_default(),
            sum: rows.clone().sum(),
            largest: rows.max().unwrap_or_default(),
        }
    }
}

/// What it takes to write and to keep a tier.
#[derive(Debug)]
pub struct TierCost {
    /// The tier.
    pub tier: &'static Tier,
    /// How many rows a tick has: as many as shards with a product.
    pub rows: usize,
    /// Their sizes.
    pub row_bytes: RowBytes,
    /// How many write units a tick takes: its rows, and the one that says that the slot is complete.
    pub write_units_per_tick: f64,
    /// The size of that one.
    pub marker_bytes: usize,
    /// How many slots there are before the oldest expires.
    pub slots_kept: u64,
}

impl TierCost {
    /// How many of its ticks a month has.
    #[must_use]
    pub fn ticks_per_month(&self) -> f64 {
        MONTH.div_duration_f64(self.tier.interval)
    }

    /// How many write units a month takes.
    #[must_use]
    pub fn write_units_per_month(&self) -> f64 {
        self.write_units_per_tick * self.ticks_per_month()
    }

    /// How many bytes are stored, as they are billed, when the tier is full.
    #[must_use]
    pub fn stored_bytes(&self) -> f64 {
        let beside = STORED_BESIDE * (self.rows + 1);
        float(self.slots_kept) * float((self.row_bytes.sum + self.marker_bytes + beside) as u64)
    }
}

/// What one query of a range takes.
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
    /// How many requests, at the most.
    pub pages: u64,
    /// How many bytes of rows are read, on average.
    pub bytes_read: f64,
    /// How many bytes the answer has, on average.
    pub answer_bytes: f64,
}

/// What a recorder takes beside the rows of prices, every time that it runs.
#[derive(Debug)]
pub struct Additional {
    /// The recorder, and what for.
    pub what: &'static str,
    /// How often it runs: every so many minutes.
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

    /// Read and write units in a month.
    #[must_use]
    pub fn units_per_month(&self) -> (f64, f64) {
        (self.read_units * self.times_per_month(), self.write_units * self.times_per_month())
    }
}

/// What one product of each shard took, for averages over all products.
#[derive(Default)]
pub(super) struct RangeSum {
    products: usize,
    read_units: f64,
    worst: Option<(f64, String)>,
    pages: u64,
    bytes_read: f64,
    answer_bytes: f64,
}

impl RangeSum {
    /// Adds the shard of this row, of which this product was asked for.
    pub(super) fn add(&mut self, tier: &Tier, row: &Row, product: &str, query: &Query) {
        let products = row.products().len();
        let weight = float(products as u64);
        self.products += products;
        self.read_units += weight * query.read_units;
        self.bytes_read += weight * float(row.bytes() as u64) * f64::from(tier.slots);
        self.answer_bytes += weight * float(query.answer_bytes as u64);
        self.pages = self.pages.max(query.pages);
        let is_worse = self.worst.as_ref().is_none_or(|(units, id)| {
            query.read_units > *units || (query.read_units >= *units && product < id.as_str())
        });
        if is_worse {
            self.worst = Some((query.read_units, product.to_owned()));
        }
    }

    pub(super) fn of_range(self, tier: &'static Tier) -> RangeCost {
        let products = float(self.products.max(1) as u64);
        let (read_units_worst, worst_product) = self.worst.unwrap_or_default();
        RangeCost {
            tier,
            read_units: self.read_units / products,
            read_units_worst,
            worst_product,
            pages: self.pages,
            bytes_read: self.bytes_read / products,
            answer_bytes: self.answer_bytes / products,
        }
    }
}

impl Report {
    /// How many write units the prices take in a month, all tiers together.
    #[must_use]
    pub fn write_units_per_month(&self) -> f64 {
        self.tiers.iter().map(TierCost::write_units_per_month).sum()
    }

    /// Whether the worst product tells anything: which products share rows is a matter of their names, and some of the
    /// simulator's are made up.
    const fn judges_worst(&self) -> bool {
        self.copies == 0
    }

    /// The targets that are missed, a sentence for each.
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
        target("write units of all tiers in a month".to_owned(), units, MOST_WRITE_UNITS);
        for range in &self.ranges {
            let name = range.tier.range;
            let worst = format!("read units of a query of {name} for {}", range.worst_product);
            target(format!("pages of a query of {name}"), float(range.pages), float(MOST_PAGES));
            target(format!("read units of a query of {name}, on average"), range.read_units, MOST_READ_UNITS);
            if self.judges_worst() {
                target(worst, range.read_units_worst, MOST_READ_UNITS_WORST);
            }
        }
        missed
    }

    fn writing(&self) -> Table {
        let mut table = table(
            &[
                "TIER",
                "SHARDS",
                "ROWS",
                "ROW BYTES",
                "WRITE UNITS PER TICK",
                "TICKS PER MONTH",
                "WRITE UNITS PER MONTH",
            ],
            &[0],
        );
        for tier in &self.tiers {
            let RowBytes { smallest, sum, largest } = tier.row_bytes;
            let average = float(sum as u64) / float(tier.rows.max(1) as u64);
            table.add_row([
                tier.tier.name.to_owned(),
                tier.tier.shards.to_string(),
                tier.rows.to_string(),
                format!("{smallest} / {} / {largest}", grouped(average, 0)),
                grouped(tier.write_units_per_tick, 0),
                grouped(tier.ticks_per_month(), 0),
                grouped(tier.write_units_per_month(), 0),
            ]);
        }
        table
    }

    fn reading(&self) -> Table {
        let mut table = table(
            &[
                "RANGE",
                "POINTS",
                "PAGES",
                "READ UNITS",
                "WORST",
                "WORST PRODUCT",
                "BYTES READ",
                "BYTES ANSWERED",
                "$ PER MILLION",
            ],
            &[0, 5],
        );
        for range in &self.ranges {
            table.add_row([
                range.tier.range.to_owned(),
                range.tier.slots.to_string(),
                beside(&range.pages.to_string(), range.pages > MOST_PAGES, MOST_PAGES),
                beside(&grouped(range.read_units, 1), range.read_units > MOST_READ_UNITS, MOST_READ_UNITS),
                if self.judges_worst() {
                    beside(
                        &grouped(range.read_units_worst, 1),
                        range.read_units_worst > MOST_READ_UNITS_WORST,
                        MOST_READ_UNITS_WORST,
                    )
                } else {
                    grouped(range.read_units_worst, 1)
                },
                range.worst_product.clone(),
                grouped(range.bytes_read, 0),
                grouped(range.answer_bytes, 0),
                grouped(range.read_units * DOLLARS_PER_MILLION_READ_UNITS, 2),
            ]);
        }
        table
    }

    fn month(&self) -> Table {
        let mut table = table(&["A MONTH", "UNITS", "$"], &[0]);
        let mut dollars = 0.0;
        let write_dollars = |units: f64| units / 1e6 * DOLLARS_PER_MILLION_WRITE_UNITS;
        let mut add = |what: String, units: String, cost: f64| {
            dollars += cost;
            table.add_row([what, units, grouped(cost, 2)]);
        };
        let units = self.write_units_per_month();
        let shown = beside(&grouped(units, 0), units > MOST_WRITE_UNITS, grouped(MOST_WRITE_UNITS, 0));
        add("write units of prices".to_owned(), shown, write_dollars(units));
        for additional in &self.additional {
            let (reads, writes) = additional.units_per_month();
            for (kind, units, cost) in [
                ("read", reads, reads / 1e6 * DOLLARS_PER_MILLION_READ_UNITS),
                ("write", writes, write_dollars(writes)),
            ] {
                if units > 0.0 {
                    add(format!("{kind} units of {}", additional.what), grouped(units, 0), cost);
                }
            }
        }
        let gigabytes = self.tiers.iter().map(TierCost::stored_bytes).sum::<f64>() / 1e9;
        let stored = format!("{} GB", grouped(gigabytes, 2));
        add("prices stored, all tiers full".to_owned(), stored, gigabytes * DOLLARS_PER_GIGABYTE_MONTH);
        table.add_row(["sum".to_owned(), String::new(), grouped(dollars, 2)]);
        let units: f64 = self.all_priced.iter().map(TierCost::write_units_per_month).sum();
        let all = format!("write units of prices, if all {} products had one", self.products);
        table.add_row([all, grouped(units, 0), grouped(write_dollars(units), 2)]);
        table
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { products, copies, priced, .. } = self;
        let copies = if *copies > 0 { format!(" ({copies} are copies of others)") } else { String::new() };
        writeln!(formatter, "{products} products{copies}, {priced} with a price: these are recorded\n")?;
        for table in [self.writing(), self.reading(), self.month()] {
            writeln!(formatter, "{}\n", table.trim_fmt())?;
        }
        let missed = self.missed();
        if missed.is_empty() {
            return formatter.write_str("all targets are met");
        }
        write!(formatter, "missed targets:")?;
        missed.iter().try_for_each(|sentence| write!(formatter, "\n  {sentence}"))
    }
}

/// A figure with its target.
fn beside(figure: &str, is_missed: bool, most: impl fmt::Display) -> String {
    format!("{figure} ({} {most})", if is_missed { "not ≤" } else { "≤" })
}

/// A table of figures; these columns hold text.
fn table(header: &[&str], text: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for (number, column) in table.column_iter_mut().enumerate() {
        if !text.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The figure with so many decimals, thousands apart.
fn grouped(figure: f64, decimals: usize) -> String {
    let figure = format!("{figure:.decimals$}");
    let (whole, rest) = figure.split_at(figure.find('.').unwrap_or(figure.len()));
    let mut grouped = String::new();
    for (number, digit) in whole.chars().enumerate() {
        if number > 0 && (whole.len() - number).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[expect(clippy::cast_precision_loss, reason = "rows, bytes and requests fit into 53 bits")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
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
            answer_bytes: 9_000.0,
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
    fn figures_at_their_targets_are_met_and_figures_above_are_named() {
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
    fn the_worst_product_is_not_judged_where_products_are_made_up() {
        let made_up = Report { copies: 1, ..report(185.0, 1, 20.0, 32.5) };
        assert_eq!(made_up.missed(), Vec::<String>::new());
        assert!(made_up.to_string().contains("32.5 "), "{made_up}");
    }

    #[test]
    fn a_month_is_summed_in_dollars() {
        let report = report(100.0, 1, 8.0, 8.0);
        // Of storage: 240 slots of 96 rows of 900 bytes and one of 50, and 100 bytes for each of the 97.
        assert!((report.tiers[0].stored_bytes() - 240.0 * f64::from(96 * 900 + 50 + 97 * 100)).abs() < 1e-6);
        let printed = report.month().trim_fmt();
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

    #[test]
    fn thousands_stand_apart() {
        for (figure, decimals, text) in
            [(0.0, 0, "0"), (999.96, 1, "1,000.0"), (1_234_567.0, 0, "1,234,567"), (12.345, 2, "12.35")]
        {
            assert_eq!(grouped(figure, decimals), text);
        }
    }
}
