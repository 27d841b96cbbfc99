//! The handler of routes that list the newest entries of a history. They have the parameters `limit` and
//! `before`.

use std::marker::PhantomData;
use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::Description;
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::Before;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::Route;
use common::time::{UnixMilliseconds, UnixSeconds};
use schemars::JsonSchema;
use serde::Serialize;
use tables::Error;
use tables::Session;
use tables::Table;

/// Room for a thousand pages.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// A history, and the route that lists its newest entries.
pub trait HistoryList: 'static {
    const ROUTE: &'static Route;

    type Entry: Serialize;

    /// Returns the newest entries at the time `now`, at most `limit`. With `before`, returns the newest
    /// entries before that time; these can exceed `limit` by entries of the same time as the last one.
    fn newest(
        table: Session<'_>,
        now: UnixSeconds,
        before: Option<UnixSeconds>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Self::Entry>, Error>> + Send;
}

/// The newest entries of a history.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{E}s")]
struct HistoryPage<E> {
    /// The entries, newest first.
    history: Vec<E>,
}

/// The handler of the route of `L`. It caches one document for each pair of `before` and `limit`.
#[derive(Debug)]
pub struct HistoryListHandler<L> {
    table: Table,
    documents: Cache<(Option<UnixSeconds>, usize), Arc<Document>>,
    list: PhantomData<fn() -> L>,
}

impl<L: HistoryList> Handler for HistoryListHandler<L> {
    const ROUTE: &'static Route = L::ROUTE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let documents = Cache::new(L::ROUTE.cache, CACHE_BYTES);
        Ok(Self { table: Table::history(config)?, documents, list: PhantomData })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let limit = request.limit("limit")?;
        let before = request.parameter::<Before>("before")?.get().map(UnixMilliseconds::rounded_up);
        let invocation = request.invocation();
        let fetch = async || {
            let table = self.table.during(invocation);
            let now = invocation.now().into();
            let history = L::newest(table, now, before, limit).await?;
            Document::of(&HistoryPage { history }).map(Arc::new).map_err(Error::unwritable)
        };
        Ok(self.documents.get((before, limit), invocation, fetch).await?.into())
    }
}

impl<L: HistoryList<Entry: JsonSchema>> HistoryListHandler<L> {
    /// Returns the description of the route. For `example`, see [`common::description::Kind::example`].
    #[must_use]
    pub fn description(example: &'static str) -> Description {
        Description::of::<HistoryPage<L::Entry>>(L::ROUTE, example)
    }
}
