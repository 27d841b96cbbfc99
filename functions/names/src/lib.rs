//! `GET /v1/names`: the names of all items that have a price, from the newest recorded row.

use std::sync::Arc;
use std::time::Duration;

use common::cache::{Cache, Weight};
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use tables::names::{self, Names};
use tables::{Error, ResponseError, Table};

/// Older names lack the items of a day, so a recorder has failed.
const LONGEST_AGE: Duration = Duration::from_hours(24);

/// The error if names are too old to be served, or were never recorded.
fn not_recorded() -> ApiError {
    ApiError::internal("no run of record-candles has written names for a day")
}

#[derive(Debug)]
struct Snapshot {
    updated_at: UnixSeconds,
    /// Whether a later run replaces the names before an hour has passed, because they lack a market.
    is_incomplete: bool,
    document: Arc<Document>,
}

impl Weight for Snapshot {
    fn bytes(&self) -> usize {
        self.document.bytes()
    }
}

#[derive(Debug)]
pub struct ItemNames {
    table: Table,
    snapshot: Cache<(), Arc<Snapshot>>,
}

impl Handler for ItemNames {
    const ROUTE: &'static Route = &routes::NAMES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, snapshot: Cache::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let invocation = request.invocation();
        let now: UnixSeconds = invocation.now().into();
        let is_recent = |updated_at: UnixSeconds| updated_at.plus(LONGEST_AGE) >= now;
        let fetch = async || {
            let stored = names::stored(self.table.during(invocation)).await?;
            let recent = stored.filter(|names| is_recent(names.updated_at));
            let names = recent.ok_or_else(|| ResponseError::Nothing(not_recorded()))?;
            let document = Arc::new(Document::of(&names).map_err(Error::unwritable)?);
            Ok::<_, ResponseError>(Arc::new(Snapshot {
                updated_at: names.updated_at,
                is_incomplete: !names.have_both_markets(),
                document,
            }))
        };
        let may_serve = |kept: &Arc<Snapshot>| is_recent(kept.updated_at) && !kept.is_incomplete;
        let lookup = self.snapshot.get_recent((), invocation, may_serve, fetch).await?;
        Ok(Response::of_lookup(&lookup, Arc::clone(&lookup.value.document)))
    }
}

impl Describe for ItemNames {
    fn description() -> Description {
        Description::of::<Names>(Self::ROUTE, include_str!("../example.json"))
    }
}
