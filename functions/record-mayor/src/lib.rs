//! Every five minutes, records the sitting mayor, for `GET /v1/mayor/history`. It writes one row for each election, under the
//! year that the provider gives. So a mayor is recorded under the right year however late the provider shows them.

use std::error::Error;

use common::lambda::StartError;
use common::lambda::config::Config;
use common::lambda::invocation::Invocation;
use common::time::Tick;
use common::upstream::calendar::ElectionYear;
use common::upstream::election::{self, Elections, PATH};
use common::upstream::json::ObjectText;
use common::upstream::{Upstream, UpstreamError, UpstreamRequest, UpstreamResponse};
use serde::{Deserialize, Serialize};
use tables::feed::{self, Feed};
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Recorder, Session, Ticks, repeat};

/// The outcome of one tick.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The year of the election that the sitting mayor won.
    year: ElectionYear,
    /// Whether the mayor is newly recorded.
    new: bool,
}

/// The part of an election that the recorder reads.
#[derive(Debug, Deserialize)]
struct Election {
    year: ElectionYear,
}

/// The `record-mayor` recorder.
#[derive(Debug)]
pub struct RecordMayor(Upstream);

impl Recorder for RecordMayor {
    const NAME: &'static str = "record-mayor";

    const FEED: &'static Feed = &feed::MAYOR;

    type Outcome = Outcome;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self(Upstream::provider(config)?))
    }

    async fn warm_up(&self) {
        self.0.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let fetch = |attempt: Invocation| async move {
            let response = self.0.get(&attempt, &UpstreamRequest::of(PATH)).await?;
            Ok((ticks.current(), mayor(&response)?))
        };
        let (tick, mayor) = repeat(invocation, fetch).await?;
        Ok((tick, Outcome { year: mayor.year, new: mayors::record(table, &mayor).await? }))
    }
}

/// Returns the sitting mayor.
fn mayor(response: &UpstreamResponse) -> Result<Mayor, UpstreamError> {
    let Elections { mayor, .. } = election::parse(response)?;
    // A row is never overwritten, so an incomplete mayor must not be recorded.
    if let Some(reason) = &mayor.perks.skipped.reason {
        return Err(response.invalid(format_args!("a perk makes no sense: {reason}")));
    }
    let won =
        mayor.election.map(ObjectText::get).ok_or_else(|| response.invalid("the mayor has no election"))?;
    let Election { year } = serde_json::from_str(won).map_err(|error| response.invalid(error))?;
    let perk = |perk: election::Perk<'_>| Perk {
        name: perk.name.decoded().into_owned(),
        description: perk.description.decoded().into_owned(),
    };
    Ok(Mayor {
        year,
        name: mayor.name.decoded().into_owned(),
        key: mayor.key.decoded().into_owned(),
        perks: mayor.perks.usable.into_iter().map(perk).collect(),
    })
}
