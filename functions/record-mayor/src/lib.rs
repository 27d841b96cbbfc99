//! Every five minutes, records the sitting mayor, for `GET /v1/mayor/history`. The recorder writes one row
//! for each election, under the year in the provider's response, so the year is right even if the provider
//! shows a new mayor late. If the response has no election, the year comes from the game's calendar.

use std::error::Error;
use std::time::Duration;

use common::config::Config;
use common::invocation::Invocation;
use common::json::ObjectText;
use common::lambda::StartError;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::calendar::ElectionYear;
use common::upstream::election::{self, Elections, PATH};
use common::upstream::{Upstream, UpstreamError, UpstreamRequest, UpstreamResponse};
use recorder::feed::{self, Feed};
use recorder::heartbeat::Refresh;
use recorder::{Attempt, Recorder, repeat};
use serde::{Deserialize, Serialize};
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Session, Ticks};

/// How long after a term begins the provider may still show the previous mayor.
const HANDOVER: Duration = Duration::from_hours(1);

/// How far the provider's time may be ahead of ours.
const AHEAD: Duration = Duration::from_mins(3);

#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The year of the election that the sitting mayor won.
    year: ElectionYear,
    /// Whether this run has recorded a new mayor or changed perks.
    new: bool,
}

/// The mayor that the provider shows.
struct Shown {
    mayor: Mayor,
    /// Whether the year comes from an election in the response, and not from the calendar.
    is_elected: bool,
    /// The refresh that was read; `None` if the response has no time.
    refresh: Option<Refresh>,
}

/// The part of an election that the recorder reads.
#[derive(Debug, Deserialize)]
struct Election {
    /// An election without a year is ignored.
    year: Option<ElectionYear>,
}

#[derive(Debug)]
pub struct RecordMayor(Upstream);

impl Recorder for RecordMayor {
    const NAME: &'static str = "record-mayor";

    const FEED: &'static Feed = &feed::MAYOR;

    type Outcome = Outcome;

    type Public = ();

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self(Upstream::provider(config, None)?))
    }

    async fn warm_up(&self) {
        self.0.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<Attempt<Outcome>, Box<dyn Error + Send + Sync>> {
        let fetch = |attempt: Invocation| async move {
            let response = self.0.get(&attempt, &UpstreamRequest::of(PATH)).await?;
            let tick = ticks.current().tick;
            Ok((tick, shown(&response, tick)?))
        };
        let (tick, Shown { mayor, is_elected, refresh }) = repeat(invocation, fetch).await?;
        let year = mayor.year;
        let is_handover = !is_elected && tick.time() < year.term_begins().plus(HANDOVER);
        if is_handover && let Some(before) = year.previous() {
            let before = mayors::elected_in(table, before).await?;
            if before.is_some_and(|before| before.name == mayor.name) {
                return Ok(Attempt { refresh, ..Attempt::of(tick, Outcome { year, new: false }) });
            }
        }
        let new = mayors::record(table, &mayor).await?;
        Ok(Attempt { refresh, ..Attempt::of(tick, Outcome { year, new }) })
    }
}

/// Returns the mayor that the provider shows at the tick.
fn shown(response: &UpstreamResponse, tick: Tick) -> Result<Shown, UpstreamError> {
    let Elections { mayor, current, last_updated, .. } = election::parse(response)?;
    let won = mayor.election.map(|won| serde_json::from_str::<Election>(won.get()));
    let won = won.transpose().map_err(|error| response.invalid(error))?.and_then(|won| won.year);
    let year = won.or_else(|| ElectionYear::sitting_at(tick.time()));
    let year =
        year.ok_or_else(|| response.invalid("the mayor has no election, and the time is in no term"))?;
    let perk = |perk: election::Perk<'_>| Perk {
        name: perk.name.decoded().into_owned(),
        description: perk.description.decoded().into_owned(),
    };
    let latest = UnixMilliseconds::from(tick.time()).max(UnixMilliseconds::of_system_clock()).plus(AHEAD);
    let mayor = Mayor {
        year,
        name: mayor.name.decoded().into_owned(),
        key: mayor.key.decoded().into_owned(),
        perks: mayor.perks.into_any_usable(response)?.into_iter().map(perk).collect(),
        // If a time in the future were recorded, no later response could replace it.
        last_updated: last_updated.filter(|time| *time <= latest.get()),
    };
    // The open election is part of the data, because its votes change while the mayor stays.
    let election = current.map(ObjectText::get);
    let data = (&mayor.name, &mayor.perks, election);
    let refresh = last_updated.map(|time| Refresh::of(UnixMilliseconds::new(time), &data));
    Ok(Shown { mayor, is_elected: won.is_some(), refresh })
}
