//! `GET /v1/mayor/history`: the mayors whose terms have ended, newest first.

use common::description::{Describe, Description};
use common::routes::{self, Route};
use common::time::UnixSeconds;
use handlers::{HistoryList, HistoryListHandler};
use schemars::JsonSchema;
use serde::Serialize;
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Error, Session};

/// A past mayor and their term.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastMayor {
    /// The display name.
    name: String,
    /// The role, such as `mining`.
    key: String,
    /// The perks of the term.
    #[schemars(with = "Vec<common::upstream::election::Perk>")]
    perks: Vec<Perk>,
    /// When the term began: the end of the election that the mayor won.
    started_at: UnixSeconds,
    /// When the term ended: the end of the next election.
    ended_at: UnixSeconds,
}

impl From<Mayor> for PastMayor {
    fn from(Mayor { year, name, key, perks, .. }: Mayor) -> Self {
        Self { name, key, perks, started_at: year.term_begins(), ended_at: year.term_ends() }
    }
}

#[derive(Debug)]
pub struct MayorHistory;

impl HistoryList for MayorHistory {
    const ROUTE: &'static Route = &routes::MAYOR_HISTORY;

    type Entry = PastMayor;

    async fn newest(
        table: Session<'_>,
        now: UnixSeconds,
        before: Option<UnixSeconds>,
        limit: usize,
    ) -> Result<Vec<PastMayor>, Error> {
        let mayors = mayors::ended(table, now, before, limit).await?;
        Ok(mayors.into_iter().map(PastMayor::from).collect())
    }
}

impl Describe for MayorHistory {
    fn description() -> Description {
        HistoryListHandler::<Self>::description(include_str!("../example.json"))
            .invalid("limit", "/v1/mayor/history?limit=0")
            .invalid("before", "/v1/mayor/history?before=now")
    }
}
