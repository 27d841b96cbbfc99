//! `GET /v1/mayor/history`: the mayors whose terms have ended, newest first.

use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::params::Limit;
use common::request::Request;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use serde::Serialize;
use tables::Table;
use tables::history::mayors::{self, Mayor, Perk};

/// How many mayors an answer has: 1 to 100, 24 by default (`interface.md`, part 4).
type HistoryLimit = Limit<1, 100, 24>;

/// The data of an answer.
#[derive(Debug, Serialize)]
struct Data {
    /// The mayors.
    history: Vec<PastMayor>,
}

/// A mayor and their term (`interface.md`, part 2).
#[derive(Debug, Serialize)]
struct PastMayor {
    /// The display name.
    name: String,
    /// The role, such as `mining`.
    key: String,
    /// The perks of the term.
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

/// The function.
#[derive(Debug)]
pub struct MayorHistory {
    table: Table,
    latest: Cached<usize, Arc<Document>, tables::Error>,
}

impl Function for MayorHistory {
    const ROUTE: &'static Route = &routes::MAYOR_HISTORY;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, latest: Cached::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let limit = request.parameter::<HistoryLimit>("limit")?.get();
        let invocation = request.invocation();
        let fetch = async || {
            let now = invocation.now().into();
            let mayors = mayors::ended(&self.table, now, limit, invocation.upstream_deadline());
            let mayors = invocation.waiting_for(mayors).await?;
            let data = Data { history: mayors.into_iter().map(PastMayor::from).collect() };
            Document::of(&data).map(Arc::new).map_err(tables::Error::unwritable)
        };
        let served = self.latest.get(limit, invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}
