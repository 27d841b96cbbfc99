//! `set_account`, `get_account`, `list_keys`, `usage`, `delete_account` and `prune_account`.

use std::time::Duration;

use common::auth::{Account, AccountName, AccountStatus, GatewayKey, PaidTier, Tier};
use common::time::{UnixSeconds, now};
use tables::access::{AccountRecord, ended_keys};

use crate::access::{Access, Plan, Planned};
use crate::error::Error;
use crate::response::Response;
use crate::view::{AccountView, AccountWithKeys, Deleted, KeyView, Keys, Pruned};

/// The number of ended keys that commands show: the latest.
const ENDED_KEYS: usize = 20;
/// The number of ended keys that `delete_account` deletes at once.
const DELETED_AT_ONCE: usize = 100;
/// How long the keys of API Gateway are kept after the paid time of their account.
const GATEWAY_KEYS_KEPT: Duration = Duration::from_hours(180 * 24);

/// What a person changes. `None` leaves a value unchanged.
#[derive(Clone, Copy)]
pub(crate) struct Changes {
    pub(crate) tier: Option<Tier>,
    pub(crate) status: Option<AccountStatus>,
    pub(crate) paid_until: Option<UnixSeconds>,
}

struct Set<'a> {
    name: &'a AccountName,
    changes: Changes,
}

impl Plan for Set<'_> {
    type Result = Account;

    async fn plan(&self, access: &Access, before: Option<&AccountRecord>) -> Result<Planned<Account>, Error> {
        let Changes { tier, status, paid_until } = self.changes;
        let mut after = before.cloned().unwrap_or_else(|| AccountRecord::new(self.name.clone()));
        let account = &mut after.account;
        account.status = status.unwrap_or(account.status);
        if before.is_none() || tier.is_some() || paid_until.is_some() {
            let set = account.set_by_person;
            let tier = tier.or(set.map(|set| set.tier));
            let paid_until = paid_until.or(set.map(|set| set.paid_until));
            let incomplete = || Error::IncompleteAccount(self.name.clone());
            account.set_by_person = Some(PaidTier {
                tier: tier.ok_or_else(incomplete)?,
                paid_until: paid_until.ok_or_else(incomplete)?,
            });
        }
        complete(access, before, account).await?;
        let result = account.clone();
        Ok(Planned::of_account(before, after, result))
    }
}

/// Changes or creates the account. Its keys in API Gateway exist before the row says so.
pub(crate) async fn set(access: &Access, name: &AccountName, changes: Changes) -> Result<Response, Error> {
    let account = access.change(name, &Set { name, changes }).await?;
    Ok(Response::of(&AccountView::at(now(), &account, &access.limits))?.about(name))
}

/// Deletes the keys in API Gateway that an interrupted `prune_account` has marked, and completes those of all
/// tiers of the account. A suspended account needs none, so a suspension works while API Gateway fails.
/// Refuses a tier that a person has newly set and that is not offered.
pub(crate) async fn complete(
    access: &Access,
    before: Option<&AccountRecord>,
    account: &mut Account,
) -> Result<(), Error> {
    let set = |account: &Account| account.set_by_person.map(|set| set.tier);
    let is_new = |tier: &Tier| before.and_then(|before| set(&before.account)) != Some(*tier);
    if let Some(tier) = set(account).filter(is_new).filter(|tier| access.gateway.plan(*tier).is_none()) {
        return Err(Error::InvalidCommand(format!(
            "tier: {tier} is not offered; the parameter FreePlan is off"
        )));
    }
    if account.status == AccountStatus::Suspended {
        return Ok(());
    }
    for marked in account.gateway_keys.values().filter(|key| key.is_being_deleted) {
        access.gateway.delete(marked).await?;
    }
    account.gateway_keys.retain(|_, key| !key.is_being_deleted);
    for tier in account.tiers() {
        access.gateway.complete(account, tier, now()).await?;
    }
    Ok(())
}

pub(crate) async fn get(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let record = access.existing(name).await?;
    let keys = keys_of(access, &record).await?;
    let account = AccountView::at(now(), &record.account, &access.limits);
    Ok(Response::of(&AccountWithKeys { account, keys })?.about(name))
}

pub(crate) async fn list_keys(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let record = access.existing(name).await?;
    let keys = keys_of(access, &record).await?;
    Ok(Response::of(&Keys { account: name.clone(), keys })?.about(name))
}

/// Returns the valid keys of the account and the latest ended ones, newest first.
async fn keys_of(access: &Access, record: &AccountRecord) -> Result<Vec<KeyView>, Error> {
    let (table, now) = (access.table(), now());
    let mut keys = ended_keys(table, &record.account.name, now, ENDED_KEYS).await?;
    keys.retain(|key| !record.keys.contains_key(&key.id()));
    for id in record.keys.keys() {
        keys.extend(tables::access::key(table, id).await?);
    }
    keys.sort_by_key(|key| (std::cmp::Reverse(key.created_at), key.id()));
    Ok(keys.iter().map(|key| KeyView::at(now, key)).collect())
}

pub(crate) async fn usage(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let record = access.existing(name).await?;
    let usage = access.limits.usage(&access.gateway, &record.account, now()).await?;
    Ok(Response::of(&usage)?.about(name))
}

/// Deletes the account, its keys, and its keys in API Gateway. The account's row goes last, so a repeated
/// command finds what an interrupted one has left.
pub(crate) async fn delete(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let table = access.table();
    let mut deleted = 0;
    loop {
        let record = access.account(name).await?;
        let mut valid = Vec::new();
        for id in record.iter().flat_map(|record| record.keys.keys()) {
            valid.extend(tables::access::key(table, id).await?);
        }
        tables::access::delete_keys(table, &valid).await?;
        deleted += valid.len();
        loop {
            let ended = ended_keys(table, name, now(), DELETED_AT_ONCE).await?;
            tables::access::delete_keys(table, &ended).await?;
            deleted += ended.len();
            if ended.len() < DELETED_AT_ONCE {
                break;
            }
        }
        let Some(record) = record else {
            return if deleted == 0 { Err(Error::NoAccount(name.clone())) } else { done(name, deleted) };
        };
        for key in record.account.gateway_keys.values() {
            access.gateway.delete(key).await?;
        }
        // If the account has changed meanwhile, it may have another key.
        if tables::access::delete_account(table, &record).await? {
            return done(name, deleted);
        }
    }
}

fn done(name: &AccountName, keys: usize) -> Result<Response, Error> {
    Ok(Response::of(&Deleted { account: name.clone(), keys })?.about(name))
}

/// Marks the keys in API Gateway of an account whose paid time ended 180 days ago, so that no request uses
/// them while they are deleted. Returns the marked keys.
struct Mark<'a>(&'a AccountName);

impl Plan for Mark<'_> {
    type Result = Vec<GatewayKey>;

    async fn plan(&self, _: &Access, before: Option<&AccountRecord>) -> Result<Planned<Self::Result>, Error> {
        let mut account = before.cloned().ok_or_else(|| Error::NoAccount(self.0.clone()))?;
        if has_lapsed(&account) {
            for key in account.account.gateway_keys.values_mut() {
                key.is_being_deleted = true;
            }
        }
        let keys = account.account.gateway_keys.values();
        let result = keys.filter(|key| key.is_being_deleted).cloned().collect();
        Ok(Planned::of_account(before, account, result))
    }
}

/// Removes the marked keys from the account. If a payment came meanwhile, completes the key that it needs.
struct Unmark<'a>(&'a AccountName);

impl Plan for Unmark<'_> {
    type Result = ();

    async fn plan(&self, access: &Access, before: Option<&AccountRecord>) -> Result<Planned<()>, Error> {
        let mut account = before.cloned().ok_or_else(|| Error::NoAccount(self.0.clone()))?;
        account.account.gateway_keys.retain(|_, key| !key.is_being_deleted);
        if !has_lapsed(&account) {
            complete(access, before, &mut account.account).await?;
        }
        Ok(Planned::of_account(before, account, ()))
    }
}

fn has_lapsed(account: &AccountRecord) -> bool {
    account.account.last_paid().is_none_or(|paid| paid.plus(GATEWAY_KEYS_KEPT) < now())
}

/// Deletes the account's keys in API Gateway if its paid time ended 180 days ago. The next payment creates
/// new ones.
pub(crate) async fn prune(access: &Access, name: &AccountName) -> Result<Response, Error> {
    let marked = access.change(name, &Mark(name)).await?;
    for key in &marked {
        access.gateway.delete(key).await?;
    }
    if !marked.is_empty() {
        access.change(name, &Unmark(name)).await?;
    }
    Ok(Response::of(&Pruned { account: name.clone(), gateway_keys: marked.len() })?.about(name))
}
