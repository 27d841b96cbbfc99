//! The kind of function that answers with the newest rows of a history: one parameter, `limit`.

use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::Refused;
use common::request::Request;
use common::routes::Route;
use common::time::UnixSeconds;
use serde::Serialize;
use tokio::time::Instant;

use crate::{Error, Table};

/// A history that is listed, the newest first.
pub trait Listable {
    /// The route.
    const ROUTE: &'static Route;

    /// How many entries an answer may have.
    type Limit: FromStr<Err: Into<Refused>> + Default + Into<usize>;

    /// An entry, as an answer has it.
    type Entry: Serialize;

    /// The newest entries at the moment `now`, at most `limit`.
    ///
    /// # Errors
    /// If the table does not answer in time.
    fn newest(
        table: &Table,
        now: UnixSeconds,
        limit: usize,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<Self::Entry>, Error>>;
}

/// The entries of a history that were asked for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema), schemars(rename = "{E}s"))]
struct Data<E> {
    /// The entries.
    history: Vec<E>,
}

/// The function that lists `L`, from memory while that is fresh.
#[derive(Debug)]
pub struct Listing<L> {
    table: Table,
    latest: Cached<usize, Arc<Document>, Error>,
    listed: PhantomData<L>,
}

impl<L: Listable> Function for Listing<L> {
    const ROUTE: &'static Route = L::ROUTE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let latest = Cached::new(L::ROUTE.cache, usize::MAX);
        Ok(Self { table: Table::history(config)?, latest, listed: PhantomData })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let limit = request.parameter::<L::Limit>("limit")?.into();
        let invocation = request.invocation();
        let fetch = async || {
            let now = invocation.now().into();
            let newest = L::newest(&self.table, now, limit, invocation.upstream_deadline());
            let data = Data { history: invocation.waiting_for(newest).await? };
            Document::of(&data).map(Arc::new).map_err(Error::unwritable)
        };
        let served = self.latest.get(limit, invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}

#[cfg(feature = "openapi")]
impl<L: Listable<Limit: schemars::JsonSchema, Entry: schemars::JsonSchema>> Described for Listing<L> {
    fn description() -> Description {
        Description::of::<Data<L::Entry>>(L::ROUTE).parameter::<L::Limit>("limit")
    }
}
