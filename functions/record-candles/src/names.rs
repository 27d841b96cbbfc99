//! Writes the names of items once an hour, for `GET /v1/names`, and the public file with the same content.

use std::collections::BTreeMap;
use std::time::Duration;

use common::invocation::Invocation;
use common::time::UnixSeconds;
use common::upstream::{Upstream, UpstreamRequest, items};
use files::{Files, Form};
use tables::names::{build, plain, store, stored};
use tables::{Error, Session};

use crate::Result;

/// Writes the names of this hour, unless an earlier run has done so with the ids of both markets, and the
/// public file if it is older. If the provider fails, the names of the last hour stay, and the next run tries
/// again.
pub(crate) async fn write(
    upstream: &Upstream,
    files: Option<&Files>,
    table: Session<'_>,
    invocation: &Invocation,
) -> Result<()> {
    let now: UnixSeconds = invocation.now().into();
    let before = match stored(table).await {
        Err(Error::Corrupt { .. }) => None,
        before => before?,
    };
    let hour = |time: UnixSeconds| time.rounded_down(Duration::from_hours(1));
    let current = before.filter(|names| hour(names.updated_at) == hour(now) && names.have_both_markets());
    let names = if let Some(names) = current {
        names
    } else {
        let names = build(table, now, &catalogue(upstream, invocation).await?).await?;
        if names.items.is_empty() {
            return Ok(());
        }
        store(table, &names).await?;
        names
    };
    if let Some(files) = files {
        let seen = files.seen("names.json", Form::Plain).await?;
        if seen.is_older_than(names.updated_at) {
            files.replace(seen, &serde_json::to_vec(&names)?).await?;
        }
    }
    Ok(())
}

/// Returns the names in the provider's catalogue by id.
async fn catalogue(upstream: &Upstream, invocation: &Invocation) -> Result<BTreeMap<String, String>> {
    // The candles that this run has built may have taken all the time for requests.
    let attempt = invocation.next_attempt(Duration::ZERO, invocation.deadline());
    let response = upstream.get(&attempt, &UpstreamRequest::of(items::PATH)).await?;
    let items = items::parse(&response)?.into_usable(&response)?;
    let name = |item: items::Item<'_>| (item.id.decoded().into_owned(), plain(&item.name.decoded()));
    Ok(items.into_iter().map(name).collect())
}
