//! `check_payments`: finds subscriptions that continue although their paid time has passed. Then events of
//! Stripe do not arrive: the destination is disabled, the event source is deleted, or a rule is broken. A
//! schedule sends this command once a day.

use common::auth::{AccountName, SubscriptionId};
use common::time::{UnixSeconds, now};
use serde::Serialize;
use tables::access::{AccessRow, AccountRecord};

use crate::access::{Access, Plan, Planned};
use crate::error::Error;
use crate::response::Response;

#[derive(Serialize)]
struct Checked {
    accounts: usize,
    /// The subscriptions that were found now.
    overdue: usize,
}

/// Notes that the subscription was reported as overdue since this time.
struct Note<'a> {
    account: &'a AccountName,
    id: &'a SubscriptionId,
    since: UnixSeconds,
}

impl Plan for Note<'_> {
    type Result = ();

    async fn plan(&self, _: &Access, before: Option<&AccountRecord>) -> Result<Planned<()>, Error> {
        let mut account = before.cloned().ok_or_else(|| Error::NoAccount(self.account.clone()))?;
        if let Some(subscription) = account.account.subscriptions.get_mut(self.id) {
            subscription.overdue = subscription.overdue.max(Some(self.since));
        }
        Ok(Planned::of_account(before, account, ()))
    }
}

pub(crate) async fn run(access: &Access) -> Result<Response, Error> {
    let mut checked = Checked { accounts: 0, overdue: 0 };
    let mut after = None;
    loop {
        let page = tables::access::page(access.table(), after).await?;
        for row in page.rows {
            match row {
                Ok(AccessRow::Account(record)) => {
                    checked.accounts += 1;
                    checked.overdue += check(access, &record).await?;
                }
                Ok(AccessRow::Key(_)) => {}
                Err(error) => tracing::warn!(cause = error.to_string(), "account not checked"),
            }
        }
        after = page.next;
        if after.is_none() {
            return Response::of(&checked);
        }
    }
}

/// Reports the overdue subscriptions of the account, each once for an end of its paid time. Returns their
/// number.
async fn check(access: &Access, record: &AccountRecord) -> Result<usize, Error> {
    let account = &record.account;
    let mut found = 0;
    for (id, subscription) in &account.subscriptions {
        let Some(since) =
            subscription.overdue_since(now()).filter(|since| subscription.overdue < Some(*since))
        else {
            continue;
        };
        let (name, paid_until) = (account.name.as_str(), since.to_string());
        // The line comes first: a line that is repeated after an interruption is better than a line that is
        // lost.
        tracing::warn!(account = name, subscription = id.as_str(), paid_until, "payment overdue");
        access.change(&account.name, &Note { account: &account.name, id, since }).await?;
        found += 1;
    }
    Ok(found)
}
