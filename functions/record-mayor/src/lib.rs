//! Records the sitting mayor, every five minutes, for `GET /v1/mayor/history`. The row is written once for each election,
//! by the year that the provider gives it: however late the provider changes mayors, nobody is recorded under a wrong one.

use std::error::Error;

use common::calendar::ElectionYear;
use common::invocation::Invocation;
use common::json::ObjectText;
use common::time::Tick;
use common::upstream::election::{self, Elections, PATH};
use common::upstream::{Question, Reply, Upstream, UpstreamError};
use serde::{Deserialize, Serialize};
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Recordable, Table};

/// What was recorded.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The year of the election that the sitting mayor won.
    year: ElectionYear,
    /// Whether the mayor was not recorded before.
    new: bool,
}

/// An election, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Election {
    year: ElectionYear,
}

/// What this function records.
#[derive(Debug)]
pub struct RecordMayor;

impl Recordable for RecordMayor {
    const NAME: &'static str = "record-mayor";

    type Outcome = Outcome;

    async fn record(
        upstream: &Upstream,
        table: &Table,
        _: Tick,
        invocation: &Invocation,
    ) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
        let reply = upstream.get(invocation, &Question::of(PATH)).await?;
        let mayor = mayor(&reply)?;
        // A row is final.
        if mayor.name.is_empty() || mayor.key.is_empty() {
            return Err(reply.nonsense("the mayor has no name").into());
        }
        let record = mayors::record(table, &mayor, invocation.deadline());
        Ok(Outcome { year: mayor.year, new: invocation.waiting_for(record).await? })
    }
}

/// The sitting mayor. A minister, whom the provider lists inside the mayor, is none.
fn mayor(reply: &Reply) -> Result<Mayor, UpstreamError> {
    let Elections { mayor, .. } = reply.parse()?;
    let won =
        mayor.election.map(ObjectText::get).ok_or_else(|| reply.nonsense("the mayor has no election"))?;
    let Election { year } = serde_json::from_str(won).map_err(|error| reply.nonsense(error))?;
    let perk = |perk: election::Perk<'_>| Perk {
        name: perk.name.decoded(),
        description: perk.description.decoded(),
    };
    Ok(Mayor {
        year,
        name: mayor.name.decoded(),
        key: mayor.key.decoded(),
        perks: mayor.perks.into_iter().map(perk).collect(),
    })
}
