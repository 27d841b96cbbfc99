//! Mayors, one line for each election.

use common::calendar::ElectionYear;
use common::json::whole_number;
use common::time::UnixSeconds;
use futures_util::StreamExt;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tables::Table;
use tables::history::mayors::{self, Mayor, Perk};

use super::line::{self, BadLine, not_empty};
use super::{Kind, PATIENCE, Rows, Stored};

/// A row holds at most 400 kB, and takes no more than its line does.
const LONGEST_LINE: usize = 300_000;

/// The table's mayors.
pub(super) struct Mayors(pub(super) Table);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(deserialize_with = "election_year")]
    year: ElectionYear,
    #[serde(deserialize_with = "not_empty")]
    name: String,
    #[serde(deserialize_with = "not_empty")]
    key: String,
    perks: Vec<LineOfPerk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a perk: {\"name\":…,\"description\":…}")]
struct LineOfPerk {
    name: String,
    description: String,
}

fn election_year<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ElectionYear, D::Error> {
    let number = whole_number(deserializer)?;
    let outside =
        || format!("{number} is outside: a year of an election is from 1 to {}", ElectionYear::LAST);
    let number = u32::try_from(number).map_err(|_| D::Error::custom(outside()))?;
    ElectionYear::new(number).map_err(|_| D::Error::custom(outside()))
}

impl Kind for Mayors {
    type Row = Mayor;

    // The first of a year stays, so the order of the lines counts.
    const AT_A_TIME: usize = 1;

    fn parse(line: &str, now: UnixSeconds) -> Result<Mayor, BadLine> {
        if line.len() > LONGEST_LINE {
            return Err(BadLine::because(format!("a mayor's line may have at most {LONGEST_LINE} bytes")));
        }
        let Line { year, name, key, perks } = line::parse(line)?;
        // A row of an election that is yet to come would keep its real winner out.
        let sitting = ElectionYear::sitting_at(now);
        if sitting.is_some_and(|sitting| year > sitting) {
            return Err(BadLine::because(format!(
                "year: election {} closes at {}, which is in the future",
                year.get(),
                year.term_begins()
            )));
        }
        let perks = perks.into_iter().map(|LineOfPerk { name, description }| Perk { name, description });
        Ok(Mayor { year, name, key, perks: perks.collect() })
    }

    async fn store(&self, mayor: &Mayor) -> Result<Stored, tables::Error> {
        let new = mayors::record(self.0.with_timeout(PATIENCE), mayor).await?;
        Ok(if new { Stored::Imported } else { Stored::AlreadyThere })
    }

    async fn rows(&self) -> Result<Rows<'_, Mayor>, tables::Error> {
        Ok((None, mayors::all(self.0.with_timeout(PATIENCE)).boxed_local()))
    }
}
