//! Every five minutes, builds the candles whose intervals have ended, for `GET /v1/bazaar/candles` and `GET /v1/bazaar/history`. It reads
//! the recorded minutes and finer candles, and nothing from the provider.

use std::error::Error;

use common::lambda::StartError;
use common::lambda::config::Config;
use common::lambda::invocation::Invocation;
use common::time::Tick;
use serde::Serialize;
use tables::bazaar::Candle;
use tables::feed::{self, Feed};
use tables::series::{self, Built, BuiltSlot};
use tables::{Recorder, Session, Ticks};

/// The outcome of one run.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The slots that were built; empty if there was nothing to do.
    slots: Vec<BuiltSlot>,
    /// The ends of the newest candles of five minutes.
    #[serde(skip)]
    ends: Vec<Tick>,
}

/// The `record-candles` recorder.
#[derive(Debug)]
pub struct RecordCandles;

impl Recorder for RecordCandles {
    const NAME: &'static str = "record-candles";

    const FEED: &'static Feed = &feed::CANDLES;

    type Outcome = Outcome;

    fn new(_: &Config) -> Result<Self, StartError> {
        Ok(Self)
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let Built { slots, ends, .. } = series::build::<Candle>(table, invocation.now().into()).await?;
        let ends: Vec<_> = ends.into_iter().map(Tick::of).collect();
        Ok((ends.last().copied().unwrap_or_else(|| ticks.current()), Outcome { slots, ends }))
    }

    fn is_nothing(outcome: &Outcome) -> bool {
        outcome.slots.is_empty()
    }

    fn recorded(_: Tick, outcome: &Outcome) -> Vec<Tick> {
        outcome.ends.clone()
    }
}
