//! `set_account`, `get_account` and `list_keys`. If the tier changes, the account's keys move to another usage plan.

use common::auth::{Account, AccountName, KeyRecord, KeyState, Subscription, SubscriptionStatus, Tier};
use common::time::UnixSeconds;
use gateway::Gateway;

use crate::access::{ATTEMPTS, Access, now};
use crate::error::Error;
use crate::response::Response;
use crate::view::{AccountView, AccountWithKeys, KeyView, Keys, Note};

/// The changes to an account. `None` leaves a value unchanged.
#[derive(Clone, Copy)]
pub(crate) struct Changes {
    pub(crate) tier: Option<Tier>,
    pub(crate) status: Option<SubscriptionStatus>,
    pub(crate) paid_until: Option<UnixSeconds>,
}

impl Changes {
    const fn is_empty(&self) -> bool {
        self.tier.is_none() && self.status.is_none() && self.paid_until.is_none()
    }
}

pub(crate) async fn set(access: &Access, name: AccountName, changes: Changes) -> Result<Response, Error> {
    let (before, account) = change(access, name, changes).await?;
    let mut response = Response::of(&AccountView::at(now(), &account))?.about(&account.name);
    let tier = account.subscription.tier;
    match &access.gateway {
        // Even if the tier stays the same: an earlier command may have been interrupted before it moved all keys.
        Some(gateway) => move_keys_until_settled(access, gateway, account, &mut response.notes).await?,
        None if before.is_some_and(|before| before.subscription.tier != tier) => {
            response.notes.push(Note::NoGateway);
        }
        None => {}
    }
    Ok(response)
}

pub(crate) async fn get(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let account = access.existing(name).await?;
    let keys = access.keys_of(name).await?;
    let keys = keys.iter().map(|key| KeyView::at(now(), key)).collect();
    Ok(Response::of(&AccountWithKeys { account: AccountView::at(now(), &account), keys })?.about(name))
}

pub(crate) async fn list_keys(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let keys = access.keys_of(name).await?;
    if keys.is_empty() {
        access.existing(name).await?;
    }
    let keys = keys.iter().map(|key| KeyView::at(now(), key)).collect();
    Ok(Response::of(&Keys { account: name.clone(), keys })?.about(name))
}

/// Changes or creates the account. Returns the previous account, if it existed, and the new one.
async fn change(
    access: &Access,
    name: AccountName,
    changes: Changes,
) -> Result<(Option<Account>, Account), Error> {
    let Changes { tier, status, paid_until } = changes;
    for _ in 0..ATTEMPTS {
        let before = access.account(&name).await?;
        let subscription = match before.as_ref().map(|before| before.subscription) {
            Some(before) => Subscription {
                tier: tier.unwrap_or(before.tier),
                status: status.unwrap_or(before.status),
                paid_until: paid_until.unwrap_or(before.paid_until),
            },
            None => match (tier, paid_until) {
                (Some(tier), Some(paid_until)) => {
                    Subscription { tier, status: status.unwrap_or(SubscriptionStatus::Active), paid_until }
                }
                _ => return Err(Error::IncompleteAccount(name)),
            },
        };
        let account = Account { name: name.clone(), subscription };
        // A command that repeats the stored values is also written: the time of the write makes earlier events of payments outdated.
        if changes.is_empty()
            || tables::access::replace_account(access.table(), before.as_ref(), &account).await?
        {
            return Ok((before, account));
        }
    }
    Err(Error::Contended(name))
}

/// Moves the account's keys, and moves them again if another process changes the tier meanwhile.
async fn move_keys_until_settled(
    access: &Access,
    gateway: &Gateway,
    mut account: Account,
    notes: &mut Vec<Note>,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        move_keys(access, gateway, &account, notes).await?;
        match access.account(&account.name).await? {
            Some(current) if current.subscription.tier != account.subscription.tier => account = current,
            _ => return Ok(()),
        }
    }
    Err(Error::Contended(account.name))
}

/// Moves the account's keys, except revoked ones, to the usage plan of the account's tier.
async fn move_keys(
    access: &Access,
    gateway: &Gateway,
    account: &Account,
    notes: &mut Vec<Note>,
) -> Result<(), Error> {
    let mut keys: Vec<KeyRecord> = access.keys_of(&account.name).await?;
    keys.retain(|key| !matches!(key.state_at(now()), KeyState::Revoked { .. }));
    if keys.is_empty() {
        return Ok(());
    }
    let in_gateway = gateway.keys().await?;
    let tier = account.subscription.tier;
    for key in keys {
        let key_id = key.id();
        match in_gateway.get(key_id.as_str()) {
            Some(gateway_key) if gateway.move_to(tier, gateway_key).await? => {
                notes.push(Note::KeyMoved { key_id, tier });
            }
            Some(_) => {}
            // The process that is issuing this key moves it to the right plan.
            None if key.state == KeyState::Pending => {}
            None => notes.push(Note::KeyNotInGateway { key_id, label: key.label }),
        }
    }
    Ok(())
}
