//! The report as text: three tables and the missed targets.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use markdown::grouped;

use crate::figures::float;
use crate::report::{
    DOLLARS_PER_GIGABYTE_MONTH, DOLLARS_PER_MILLION_READ_UNITS, DOLLARS_PER_MILLION_WRITE_UNITS, Report,
    RowBytes, WriteCost,
};
use crate::targets::{MAX_WRITE_UNITS, MAX_WRITE_UNITS_WITH_CANDLES, QueryTargets};

impl Report {
    fn writing(&self) -> Table {
        let mut table = table(
            &[
                "PRICES OR CANDLES",
                "SHARDS",
                "ROWS",
                "ROW BYTES",
                "WRITE UNITS PER SLOT",
                "SLOTS PER MONTH",
                "WRITE UNITS PER MONTH",
            ],
            &[0],
        );
        let tiers = self.writing.tiers.iter().map(|cost| ("prices", cost));
        let candles = self.writing.candles.iter().map(|cost| ("candles", cost));
        for (kind, cost) in tiers.chain(candles) {
            let RowBytes { smallest, sum, largest } = cost.row_bytes;
            let average = float(sum as u64) / float(cost.rows.max(1) as u64);
            table.add_row([
                format!("{kind} {}", cost.name),
                cost.shards.to_string(),
                cost.rows.to_string(),
                format!("{smallest} / {} / {largest}", grouped(average, 0)),
                grouped(cost.write_units_per_slot, 0),
                grouped(cost.slots_per_month(), 0),
                grouped(cost.write_units_per_month(), 0),
            ]);
        }
        table
    }

    fn reading(&self) -> Table {
        let mut table = table(
            &[
                "QUERY",
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
        let judges_worst = self.judges_worst();
        for query in self.ranges.iter().chain(&self.pages) {
            let &QueryTargets { pages, read_units, read_units_worst } = query.targets;
            let units = |measured: f64, most: Option<f64>| match most {
                Some(most) => with_target(&grouped(measured, 1), measured > most, most),
                None => grouped(measured, 1),
            };
            table.add_row([
                query.name.clone(),
                query.points.to_string(),
                match pages {
                    Some(most) => with_target(&query.pages.to_string(), query.pages > most, most),
                    None => query.pages.to_string(),
                },
                units(query.read_units, read_units),
                units(query.read_units_worst, read_units_worst.filter(|_| judges_worst)),
                query.worst_product.clone(),
                grouped(query.bytes_read, 0),
                grouped(query.response_bytes, 0),
                grouped(query.read_units * DOLLARS_PER_MILLION_READ_UNITS, 2),
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
        let units = self.writing.of_prices();
        let shown = with_target(&grouped(units, 0), units > MAX_WRITE_UNITS, grouped(MAX_WRITE_UNITS, 0));
        add("write units of prices".to_owned(), shown, write_dollars(units));
        let units = self.writing.of_candles();
        add("write units of candles".to_owned(), grouped(units, 0), write_dollars(units));
        let units: f64 = self.writing.candles.iter().map(WriteCost::read_units_per_month).sum();
        let read_dollars = |units: f64| units / 1e6 * DOLLARS_PER_MILLION_READ_UNITS;
        let what = "read units of record-candles, for what it builds from";
        add(what.to_owned(), grouped(units, 0), read_dollars(units));
        for additional in &self.additional {
            let (reads, writes) = additional.units_per_month();
            for (kind, units, cost) in
                [("read", reads, read_dollars(reads)), ("write", writes, write_dollars(writes))]
            {
                if units > 0.0 {
                    add(format!("{kind} units of {}", additional.what), grouped(units, 0), cost);
                }
            }
        }
        for (what, costs) in [
            ("prices stored, all tiers full", &self.writing.tiers),
            ("candles stored, all intervals full, and days of one year", &self.writing.candles),
        ] {
            let gigabytes = costs.iter().map(WriteCost::stored_bytes).sum::<f64>() / 1e9;
            let stored = format!("{} GB", grouped(gigabytes, 2));
            add(what.to_owned(), stored, gigabytes * DOLLARS_PER_GIGABYTE_MONTH);
        }
        table.add_row(["sum".to_owned(), String::new(), grouped(dollars, 2)]);
        let units = self.all_priced.of_prices() + self.all_priced.of_candles();
        let most = grouped(MAX_WRITE_UNITS_WITH_CANDLES, 0);
        let shown = with_target(&grouped(units, 0), units > MAX_WRITE_UNITS_WITH_CANDLES, most);
        let all = format!("write units, if all {} products had a price", self.products);
        table.add_row([all, shown, grouped(write_dollars(units), 2)]);
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
