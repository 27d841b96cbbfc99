//! The rows of subscriptions: which account has the subscription.

use std::time::Duration;

use common::auth::{Account, AccountName, Subscription, SubscriptionId};

use crate::item::{Attributes, Corrupt, PARTITION_KEY, TIME_TO_LIVE, number, parsed, string};

pub(super) const PREFIX: &str = "subscription#";
const ACCOUNT: &str = "account";
/// How long the row is kept after the end of the subscription: as long as the account keeps the subscription.
const KEPT: Duration = Account::ENDED_KEPT;

pub(super) fn partition(id: &SubscriptionId) -> String {
    format!("{PREFIX}{id}")
}

pub(super) fn row(id: &SubscriptionId, account: &Account) -> Attributes {
    let ended_at = account.subscriptions.get(id).and_then(Subscription::ended_at);
    let expiry = ended_at.map(|at| (TIME_TO_LIVE.to_owned(), number(at.plus(KEPT).get())));
    let attributes = [
        (PARTITION_KEY.to_owned(), string(partition(id))),
        (ACCOUNT.to_owned(), string(account.name.as_str())),
    ];
    attributes.into_iter().chain(expiry).collect()
}

pub(super) fn read(row: &Attributes) -> Result<AccountName, Corrupt> {
    parsed(row, ACCOUNT, "the name of an account")
}
