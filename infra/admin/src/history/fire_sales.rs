//! Fire sales, one line each.

use common::json::whole_number;
use common::time::UnixSeconds;
use futures_util::StreamExt;
use serde::Deserialize;
use tables::Table;
use tables::history::fire_sales::{self, Fields, InvalidFireSale, Sighting};

use super::line::{self, BadLine, past};
use super::{Kind, PATIENCE, Rows, Stored};

/// The table's fire sales.
pub(super) struct FireSales(pub(super) Table);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    item_id: String,
    #[serde(deserialize_with = "whole_number")]
    start: i64,
    #[serde(deserialize_with = "whole_number")]
    end: i64,
    #[serde(deserialize_with = "whole_number")]
    amount: i64,
    #[serde(deserialize_with = "whole_number")]
    price: i64,
    recorded_at: UnixSeconds,
    seen_at: Option<UnixSeconds>,
}

impl Kind for FireSales {
    type Row = Sighting;

    // What the table holds in the end depends on the times in the lines and not on their order.
    const AT_A_TIME: usize = 8;

    fn parse(line: &str, now: UnixSeconds) -> Result<Sighting, BadLine> {
        let Line { item_id, start, end, amount, price, recorded_at, seen_at } = line::parse(line)?;
        let sale = Fields { item_id, start, end, amount, price };
        let sale = sale.try_into().map_err(|InvalidFireSale(reason)| BadLine::because(reason))?;
        let recorded_at = past("recorded_at", recorded_at, now)?;
        let seen_at = past("seen_at", seen_at.unwrap_or(recorded_at), now)?;
        if seen_at < recorded_at {
            return Err(BadLine::because(format!(
                "seen_at: {seen_at} is before recorded_at, {recorded_at}: it is when the sale was seen last"
            )));
        }
        Ok(Sighting { sale, recorded_at, seen_at })
    }

    async fn store(&self, sighting: &Sighting) -> Result<Stored, tables::Error> {
        let changed = fire_sales::record(self.0.with_timeout(PATIENCE), sighting).await?;
        Ok(if changed { Stored::Imported } else { Stored::AlreadyThere })
    }

    async fn rows(&self) -> Result<Rows<'_, Sighting>, tables::Error> {
        Ok((None, fire_sales::all(self.0.with_timeout(PATIENCE)).boxed_local()))
    }
}
