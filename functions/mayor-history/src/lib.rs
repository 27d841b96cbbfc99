//! `GET /v1/mayor/history`: the mayors whose terms have ended, newest first.

use common::params::Limit;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use serde::Serialize;
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Error, Listable, Table};
use tokio::time::Instant;

/// A mayor and their term (`interface.md`, part 2).
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct PastMayor {
    /// The display name.
    name: String,
    /// The role, such as `mining`.
    key: String,
    /// The perks of the term.
    #[cfg_attr(feature = "openapi", schemars(with = "Vec<common::upstream::election::Perk>"))]
    perks: Vec<Perk>,
    /// When the election closed that they won.
    started_at: UnixSeconds,
    /// When the next election closed.
    ended_at: UnixSeconds,
}

impl From<Mayor> for PastMayor {
    fn from(Mayor { year, name, key, perks }: Mayor) -> Self {
        Self { name, key, perks, started_at: year.term_begins(), ended_at: year.term_ends() }
    }
}

/// The mayors whose terms have ended.
#[derive(Debug)]
pub struct MayorHistory;

impl Listable for MayorHistory {
    const ROUTE: &'static Route = &routes::MAYOR_HISTORY;

    /// How many mayors an answer has: 1 to 100, 24 by default (`interface.md`, part 4).
    type Limit = Limit<1, 100, 24>;

    type Entry = PastMayor;

    async fn newest(
        table: &Table,
        now: UnixSeconds,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<PastMayor>, Error> {
        let mayors = mayors::ended(table, now, limit, deadline).await?;
        Ok(mayors.into_iter().map(PastMayor::from).collect())
    }
}
