//! The report as text: three tables and the missed targets.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::figures::{float, grouped};
use crate::report::{
    DOLLARS_PER_GIGABYTE_MONTH, DOLLARS_PER_MILLION_READ_UNITS, DOLLARS_PER_MILLION_WRITE_UNITS, Report,
    RowBytes, TierCost,
};
use crate::targets::{MAX_PAGES, MAX_READ_UNITS, MAX_READ_UNITS_WORST, MAX_WRITE_UNITS};

impl Report {
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
                "RESPONSE BYTES",
                "$ PER MILLION",
            ],
            &[0, 5],
        );
        for range in &self.ranges {
            table.add_row([
                range.tier.range.to_owned(),
                range.tier.slots.to_string(),
                with_target(&range.pages.to_string(), range.pages > MAX_PAGES, MAX_PAGES),
                with_target(&grouped(range.read_units, 1), range.read_units > MAX_READ_UNITS, MAX_READ_UNITS),
                if self.judges_worst() {
                    with_target(
                        &grouped(range.read_units_worst, 1),
                        range.read_units_worst > MAX_READ_UNITS_WORST,
                        MAX_READ_UNITS_WORST,
                    )
                } else {
                    grouped(range.read_units_worst, 1)
                },
                range.worst_product.clone(),
                grouped(range.bytes_read, 0),
                grouped(range.response_bytes, 0),
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
        let shown = with_target(&grouped(units, 0), units > MAX_WRITE_UNITS, grouped(MAX_WRITE_UNITS, 0));
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
fn with_target(figure: &str, is_missed: bool, most: impl fmt::Display) -> String {
    format!("{figure} ({} {most})", if is_missed { "not ≤" } else { "≤" })
}

/// A table of figures. The given columns hold text and are aligned left.
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
