//! `account set`. A change of the tier moves the keys of the account to another usage plan.

use common::auth::{Account, AccountName, KeyRecord, KeyState, Subscription, SubscriptionStatus, Tier};
use common::time::UnixSeconds;

use crate::access::view::AccountView;
use crate::access::{ATTEMPTS, Access, quoted};
use crate::clock::now;
use crate::console;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::output::{Format, write};

/// The changes to an account.
#[derive(Clone, Copy)]
pub(super) struct Changes {
    pub(super) tier: Option<Tier>,
    pub(super) paid_until: Option<UnixSeconds>,
    pub(super) status: Option<SubscriptionStatus>,
}

pub(super) async fn run(
    access: &Access,
    name: AccountName,
    changes: Changes,
    format: Format,
) -> Result<(), Error> {
    let (before, account) = change(access, name, changes).await?;
    let view = AccountView::at(now(), &account);
    write(format, || view.text(), &view)?;
    let tier = account.subscription.tier;
    match &access.gateway {
        // Even if the tier stays the same: an earlier command may have been interrupted before it moved all keys.
        Some(gateway) => move_keys_until_settled(access, gateway, account).await,
        None if before.is_some_and(|before| before.subscription.tier != tier) => access.warn_without_gateway(
            "the account's keys stay in the usage plan of the former tier; the same command with --stack moves them",
        ),
        None => Ok(()),
    }
}

/// Changes the account, and returns it as it was before and as it is now.
async fn change(
    access: &Access,
    name: AccountName,
    Changes { tier, paid_until, status }: Changes,
) -> Result<(Option<Account>, Account), Error> {
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
                _ => return Err(Error::Incomplete { name }),
            },
        };
        let account = Account { name: name.clone(), subscription };
        let is_unchanged = before.as_ref() == Some(&account);
        if is_unchanged || tables::access::replace_account(access.table(), before.as_ref(), &account).await? {
            return Ok((before, account));
        }
    }
    Err(Error::Contended { name })
}

/// Moves the account's keys, again if another process has changed its tier in the meantime.
async fn move_keys_until_settled(
    access: &Access,
    gateway: &Gateway,
    mut account: Account,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        move_keys(access, gateway, &account).await?;
        match access.account(&account.name).await? {
            Some(current) if current.subscription.tier != account.subscription.tier => account = current,
            _ => return Ok(()),
        }
    }
    Err(Error::Contended { name: account.name })
}

/// Moves every key of the account that is not revoked to the usage plan of its tier.
async fn move_keys(access: &Access, gateway: &Gateway, account: &Account) -> Result<(), Error> {
    let mut keys: Vec<KeyRecord> = access.keys_of(&account.name).await?;
    keys.retain(|key| !matches!(key.state, KeyState::Revoked { .. }));
    if keys.is_empty() {
        return Ok(());
    }
    let in_gateway = gateway.keys().await?;
    let tier = account.subscription.tier;
    for key in keys {
        let id = key.id();
        match in_gateway.get(id.as_str()) {
            Some(gateway_key) if gateway.move_to(tier, gateway_key).await? => {
                console::print(format_args!("moved the key {id} to the usage plan of {tier}"));
            }
            Some(_) => {}
            // The process that is issuing it checks the tier afterwards.
            None if key.state == KeyState::Pending => {}
            None => {
                let label = quoted(key.label.as_str());
                let command = access.command(&format!("key issue {} --label {label}", account.name));
                console::print(format_args!(
                    "warning: API Gateway does not have the key {id}; to add it, run: {command}"
                ));
            }
        }
    }
    Ok(())
}
