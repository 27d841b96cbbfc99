//! `issue_key` and `replace_key`. `issue_key` has four steps:
//!
//! 1. Write a pending row, which the authorizer rejects.
//! 2. Create a key in API Gateway, in the usage plan of the account's tier.
//! 3. Mark the row as issued.
//! 4. Return the key.
//!
//! If the command is interrupted before step 3, the next `issue_key` with the same label removes the pending key and issues a new one. If
//! it is interrupted after step 3, the key exists but the caller has not received it. The next `issue_key` with the same request id revokes
//! that key and issues a new one; without a request id, `issue_key` fails because the label is taken.
//!
//! `replace_key` issues the new key first. Only then does it revoke the old key, or let it expire.

use std::time::Duration;

use common::auth::{AccountName, ApiKey, KeyId, KeyRecord, KeyState, Label, Tier};

use crate::access::{ATTEMPTS, Access, now};
use crate::error::Error;
use crate::response::Response;
use crate::revoke::delete_from_gateway;
use crate::view::{AccountView, IssuedKey, KeyView, Note};

/// The most valid keys of an account, keys with an expiry included. Each key has a quota of requests, so their number is limited.
const MOST_KEYS: usize = 20;

/// The longest time for which a replaced key can stay valid.
const LONGEST_GRACE: Duration = Duration::from_hours(7 * 24);

/// A key to be issued.
pub(crate) struct Order<'a> {
    pub(crate) account: &'a AccountName,
    pub(crate) label: &'a Label,
    /// The key that the new one replaces. The new key gets the same label, although this key has it.
    pub(crate) replaced: Option<&'a KeyId>,
    /// The caller's request id. A repeated request has the same id.
    pub(crate) request: Option<&'a Label>,
}

/// Issues a new key with the account and label of the key `id`. The old key stays valid for `grace_seconds`.
pub(crate) async fn replace(
    access: &Access,
    id: &KeyId,
    grace_seconds: u32,
    request: Option<&Label>,
) -> Result<Response, Error> {
    let grace = Duration::from_secs(grace_seconds.into());
    if grace > LONGEST_GRACE {
        let longest = LONGEST_GRACE.as_secs();
        return Err(Error::InvalidCommand(format!(
            "grace_seconds must be 0 to {longest}, not {grace_seconds}"
        )));
    }
    let table = access.table();
    let key = tables::access::key(table, id).await?.ok_or_else(|| Error::NoKey(id.clone()))?;
    let is_repeated = match request {
        Some(request) => tables::access::issued_by(table, &key.account, request, now()).await?.is_some(),
        None => false,
    };
    if key.state_at(now()) != KeyState::Issued && !is_repeated {
        return Err(Error::NotIssued(id.clone()));
    }
    let order = Order { account: &key.account, label: &key.label, replaced: Some(id), request };
    let mut response = issue(access, &order).await?;
    if grace.is_zero() {
        tables::access::revoke_key(table, id, now()).await?;
        response.notes.extend(delete_from_gateway(access, id).await?);
    } else {
        tables::access::expire_key(table, id, now().plus(grace)).await?;
    }
    Ok(response)
}

/// Issues the key. Revokes the key that an earlier attempt of the same request has issued.
pub(crate) async fn issue(access: &Access, order: &Order<'_>) -> Result<Response, Error> {
    let mut notes = Vec::new();
    for _ in 0..ATTEMPTS {
        let lost = revoke_lost(access, order).await?;
        let account = access.existing(order.account).await?;
        if let Some(key) = issued_key(access, order, &mut notes).await? {
            if order.replaced.is_none() && issued_by(access, order).await? != lost {
                // Another attempt of the same request has issued `key`.
                continue;
            }
            return add_to_gateway(access, order, &key, account.subscription.tier, notes).await;
        }
        let reason = AccountView::at(now(), &account).reason;
        let warning = reason.map(|reason| Note::AccountInactive { reason });
        let Some((key, record)) = write_pending(access, order, lost.as_ref()).await? else { continue };
        match &access.gateway {
            Some(gateway) => {
                let gateway_key = gateway.create(&record).await?;
                access.move_to_plan(gateway, account, &gateway_key).await?;
            }
            None => notes.push(Note::NoGateway),
        }
        notes.extend(warning);
        let id = record.id();
        if !tables::access::complete_key(access.table(), &id).await? {
            delete_from_gateway(access, &id).await?;
            return Err(Error::Overtaken(id));
        }
        let issued = KeyRecord { state: KeyState::Issued, ..record };
        return response(Some(&key), &issued, notes);
    }
    Err(Error::Contended(order.account.clone()))
}

fn response(key: Option<&ApiKey>, record: &KeyRecord, notes: Vec<Note>) -> Result<Response, Error> {
    let view = KeyView::at(now(), record);
    let result = IssuedKey { key: key.map(|key| key.expose().to_owned()), view };
    Ok(Response { notes, ..Response::of(&result)?.about_key(&record.account, &record.id()) })
}

/// Returns the id of the key that the latest attempt of the request has written.
async fn issued_by(access: &Access, order: &Order<'_>) -> Result<Option<KeyId>, Error> {
    let Some(request) = order.request else { return Ok(None) };
    Ok(tables::access::issued_by(access.table(), order.account, request, now()).await?)
}

/// Revokes the key that an earlier attempt of the request has issued or is still issuing, and returns its id.
async fn revoke_lost(access: &Access, order: &Order<'_>) -> Result<Option<KeyId>, Error> {
    let lost = issued_by(access, order).await?;
    if let Some(id) = &lost {
        tables::access::revoke_key(access.table(), id, now()).await?;
        delete_from_gateway(access, id).await?;
    }
    Ok(lost)
}

/// Writes a pending key. Returns `None` if another attempt of the same request has written one since `lost` was read.
async fn write_pending(
    access: &Access,
    order: &Order<'_>,
    lost: Option<&KeyId>,
) -> Result<Option<(ApiKey, KeyRecord)>, Error> {
    let key = ApiKey::generate(getrandom::fill).map_err(|error| Error::Internal(error.to_string()))?;
    let record = KeyRecord {
        digest: key.digest(),
        account: order.account.clone(),
        label: order.label.clone(),
        created_at: now(),
        last_four: key.last_four().to_owned(),
        state: KeyState::Pending,
        expires_at: None,
    };
    let id = record.id();
    // It does not matter whether the row is new: the key is random, so an existing row is from an earlier attempt of this write.
    tables::access::put_key(access.table(), &record).await?;
    if let Some(request) = order.request {
        // The row of the key is written before its id is noted: a repeated request that finds the noted id must be able to revoke the key.
        let change = (lost, &id);
        let is_noted =
            tables::access::note_request(access.table(), order.account, request, change, now()).await?;
        if !is_noted {
            tables::access::remove_pending_key(access.table(), &id).await?;
            return Ok(None);
        }
    }
    Ok(Some((key, record)))
}

/// Adds an issued key to API Gateway, or moves it to the plan of its tier, if an earlier command did not.
///
/// # Errors
/// `LabelTaken` if API Gateway already has the key in that plan, if there is no API Gateway, or if the order replaces a key.
async fn add_to_gateway(
    access: &Access,
    order: &Order<'_>,
    key: &KeyRecord,
    tier: Tier,
    notes: Vec<Note>,
) -> Result<Response, Error> {
    if let (Some(gateway), None) = (&access.gateway, order.replaced) {
        let existing = gateway.find(&key.id()).await?;
        let is_new = existing.is_none();
        let gateway_key = if let Some(key) = existing { key } else { gateway.create(key).await? };
        if gateway.move_to(tier, &gateway_key).await? || is_new {
            return response(None, key, notes);
        }
    }
    Err(Error::LabelTaken { account: order.account.clone(), label: order.label.clone(), id: key.id() })
}

/// Returns the issued key with the label of the order. Ignores the key that the order replaces, and keys with an expiry in the future.
/// Removes pending keys with the label, and revokes expired keys with the label.
///
/// # Errors
/// `TooManyKeys` if no key has the label and the account already has the most valid keys.
async fn issued_key(
    access: &Access,
    order: &Order<'_>,
    notes: &mut Vec<Note>,
) -> Result<Option<KeyRecord>, Error> {
    let keys = access.keys_of(order.account).await?;
    let mut issued = None;
    let is_other = |id: &KeyId| order.replaced != Some(id);
    for key in keys.iter().filter(|key| key.label == *order.label && is_other(&key.id())) {
        let id = key.id();
        // The index may be older than the row.
        let Some(current) = tables::access::key(access.table(), &id).await? else { continue };
        match (current.state, current.state_at(now())) {
            (KeyState::Issued, KeyState::Revoked { at }) => {
                delete_from_gateway(access, &id).await?;
                tables::access::revoke_key(access.table(), &id, at).await?;
            }
            (KeyState::Issued, _) if current.expires_at.is_none() => issued = Some(current),
            (KeyState::Issued | KeyState::Revoked { .. }, _) => {}
            (KeyState::Pending, _) => {
                // API Gateway first: as long as the row exists, the next command finds the incomplete key.
                delete_from_gateway(access, &id).await?;
                if tables::access::remove_pending_key(access.table(), &id).await? {
                    notes.push(Note::IncompleteKeyRemoved { key_id: id });
                    continue;
                }
                // Another process has just issued, revoked or removed the key.
                let current = tables::access::key(access.table(), &id).await?;
                issued = current.filter(|current| current.state == KeyState::Issued).or(issued);
            }
        }
    }
    let valid = keys.iter().filter(|key| key.state_at(now()) == KeyState::Issued).count();
    let maximum = MOST_KEYS + usize::from(order.replaced.is_some());
    if issued.is_none() && valid >= maximum {
        return Err(Error::TooManyKeys { account: order.account.clone(), maximum });
    }
    Ok(issued)
}
