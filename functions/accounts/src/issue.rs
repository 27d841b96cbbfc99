//! `issue_key` and `replace_key`. One transaction writes the new key, the account's list of valid keys, the
//! replaced key and the id of the request, so two requests at once cannot both pass the checks of this file,
//! and an interrupted command has done all or nothing.
//!
//! A caller may lose the response and repeat the request with the same id: the repetition revokes the key
//! that the request has issued, and issues another one.

use std::time::Duration;

use common::auth::{AccountName, ApiKey, KeyId, KeyRecord, KeyState, Label};
use common::time::{UnixSeconds, now};
use tables::access::{AccountRecord, Change, IssuedKey as Earlier, KeyChange, ValidKey};

use crate::access::{Access, Plan, Planned};
use crate::error::Error;
use crate::response::Response;
use crate::revoke::revoked;
use crate::view::{AccountView, IssuedKey, KeyView, Note};

/// The most valid keys of an account. One more is allowed while a replaced key is in its grace time.
pub(crate) const MOST_KEYS: usize = 20;
/// The most keys that an account issues on a day in UTC. The rows of revoked keys are kept for months.
const MOST_KEYS_A_DAY: u32 = 100;
const DAY: i64 = 86_400;

/// The longest time for which a replaced key can stay valid.
pub(crate) const LONGEST_GRACE: Duration = Duration::from_hours(7 * 24);

/// A key to be issued.
pub(crate) struct Order<'a> {
    account: &'a AccountName,
    label: &'a Label,
    /// The key that the new one replaces, and for how long it stays valid.
    replaced: Option<(&'a KeyId, Duration)>,
    /// The caller's request id. A repeated request has the same id.
    request: Option<&'a Label>,
}

pub(crate) async fn issue(
    access: &Access,
    account: &AccountName,
    label: &Label,
    request: Option<&Label>,
) -> Result<Response, Error> {
    Order { account, label, replaced: None, request }.run(access).await
}

/// Issues a new key with the account and label of the key `id`. The old key stays valid for `grace_seconds`.
pub(crate) async fn replace(
    access: &Access,
    id: &KeyId,
    owner: Option<&AccountName>,
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
    let KeyRecord { account, label, .. } = access.key(id, owner).await?;
    Order { account: &account, label: &label, replaced: Some((id, grace)), request }.run(access).await
}

impl Plan for Order<'_> {
    type Result = (ApiKey, KeyRecord, AccountRecord);

    async fn plan(
        &self,
        access: &Access,
        before: Option<&AccountRecord>,
    ) -> Result<Planned<Self::Result>, Error> {
        let now = now();
        let mut after = before.cloned().ok_or_else(|| Error::NoAccount(self.account.clone()))?;
        after.forget_expired_keys(now);
        let mut keys = Vec::new();
        match (self.earlier(access, now).await?, self.replaced) {
            (Some(earlier), _) => {
                let lost = tables::access::key(access.table(), &earlier.key).await?;
                keys.extend(lost.map(|lost| revoked(&mut after, lost, now)));
            }
            (None, Some((id, grace))) => {
                let key = access.key(id, Some(self.account)).await?;
                if key.state_at(now) != KeyState::Issued {
                    return Err(Error::NotIssued(id.clone()));
                }
                keys.push(ended(&mut after, key, now, grace));
            }
            (None, None) => {}
        }
        self.check(&after)?;
        let today = now.get().div_euclid(DAY);
        if after.issued.day != today {
            (after.issued.day, after.issued.keys) = (today, 0);
        }
        if after.issued.keys >= MOST_KEYS_A_DAY {
            return Err(Error::TooManyKeysToday { account: self.account.clone(), maximum: MOST_KEYS_A_DAY });
        }
        after.issued.keys += 1;
        let key = ApiKey::generate(getrandom::fill).map_err(|error| Error::Internal(error.to_string()))?;
        let record = KeyRecord {
            digest: key.digest(),
            account: self.account.clone(),
            label: self.label.clone(),
            created_at: now,
            last_four: key.last_four().to_owned(),
            state: KeyState::Issued,
            expires_at: None,
        };
        after.keys.insert(record.id(), ValidKey { label: record.label.clone(), expires_at: None });
        keys.push(KeyChange { before: None, after: record.clone() });
        let request = self.request.map(|request| Earlier {
            request: request.clone(),
            key: record.id(),
            command: self.command(),
            at: now,
        });
        let result = (key, record, after.clone());
        Ok(Planned { change: Some(Change { keys, request, ..Change::of(after) }), result })
    }
}

impl Order<'_> {
    async fn run(&self, access: &Access) -> Result<Response, Error> {
        let (key, record, account) = access.change(self.account, self).await?;
        let reason = AccountView::at(now(), &account.account, &access.limits).reason;
        let view = KeyView::at(now(), &record);
        let result = IssuedKey { key: key.expose().to_owned(), view };
        let notes = reason.map(|reason| Note::AccountInactive { reason }).into_iter().collect();
        Ok(Response { notes, ..Response::of(&result)?.about_key(self.account, &record.id()) })
    }

    /// The command with its values, to which the id of the request is bound.
    fn command(&self) -> String {
        match self.replaced {
            None => format!("issue_key {}", self.label),
            Some((id, grace)) => format!("replace_key {id} {}", grace.as_secs()),
        }
    }

    /// Returns the key that an earlier attempt of the request has issued.
    async fn earlier(&self, access: &Access, now: UnixSeconds) -> Result<Option<Earlier>, Error> {
        let Some(request) = self.request else { return Ok(None) };
        let earlier = tables::access::issued_by(access.table(), self.account, request, now).await?;
        match earlier {
            Some(earlier) if earlier.command != self.command() => Err(Error::InvalidCommand(format!(
                "request_id: {request} belongs to another request of this account; each request needs its own id"
            ))),
            earlier => Ok(earlier),
        }
    }

    /// Checks that the account may have one more key with the label.
    fn check(&self, account: &AccountRecord) -> Result<(), Error> {
        if let Some(id) = account.key_with_label(self.label) {
            let (account, label) = (self.account.clone(), self.label.clone());
            return Err(Error::LabelTaken { account, label, id: id.clone() });
        }
        let maximum = MOST_KEYS + usize::from(self.replaced.is_some());
        // The replaced key counts only in its grace time, and it may have been revoked since an earlier
        // attempt.
        if account.lasting_keys() >= MOST_KEYS || account.keys.len() >= maximum {
            return Err(Error::TooManyKeys { account: self.account.clone(), maximum });
        }
        Ok(())
    }
}

/// Ends the key after the grace time, and returns its change. A key that already has an end keeps the earlier
/// one.
fn ended(account: &mut AccountRecord, key: KeyRecord, now: UnixSeconds, grace: Duration) -> KeyChange {
    if grace.is_zero() {
        return revoked(account, key, now);
    }
    let end = now.plus(grace);
    let end = key.expires_at.map_or(end, |earlier| earlier.min(end));
    let valid = ValidKey { label: key.label.clone(), expires_at: Some(end) };
    account.keys.insert(key.id(), valid);
    KeyChange { after: KeyRecord { expires_at: Some(end), ..key.clone() }, before: Some(key) }
}
