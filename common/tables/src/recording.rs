//! The kind of function that history comes from: on a schedule it asks the provider one thing and keeps it in the table.

use std::error::Error;
use std::marker::PhantomData;

use common::config::Config;
use common::invocation::Invocation;
use common::lambda::{Recorder, StartError};
use common::time::Tick;
use common::upstream::Upstream;
use serde::Serialize;

use crate::Table;

/// Something of the provider's that is recorded.
pub trait Recordable {
    /// The function's name: its crate, its binary, its folder.
    const NAME: &'static str;

    /// What was done, for the log and for whoever invoked it by hand.
    type Outcome: Serialize;

    /// Records the tick. Doing so twice leaves what doing so once leaves. It asks the provider each time that there is
    /// something to record, never a cache.
    ///
    /// # Errors
    /// Why the tick is not, or not wholly, recorded. Recording it again completes it.
    fn record(
        upstream: &Upstream,
        table: &Table,
        tick: Tick,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<Self::Outcome, Box<dyn Error + Send + Sync>>>;
}

/// The function that records `R`.
#[derive(Debug)]
pub struct Recording<R> {
    upstream: Upstream,
    table: Table,
    recorded: PhantomData<R>,
}

impl<R: Recordable> Recorder for Recording<R> {
    const NAME: &'static str = R::NAME;

    type Outcome = R::Outcome;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, table: Table::history(config)?, recorded: PhantomData })
    }

    async fn warm_up(&self) {
        futures_util::future::join(self.upstream.warm_up(), self.table.warm_up()).await;
    }

    async fn record(
        &self,
        tick: Tick,
        invocation: &Invocation,
    ) -> Result<R::Outcome, Box<dyn Error + Send + Sync>> {
        R::record(&self.upstream, &self.table, tick, invocation).await
    }
}
