//! `revoke_key`.

use common::auth::{AccountName, KeyId, KeyRecord, KeyState};
use common::time::{UnixSeconds, now};
use tables::access::{AccountRecord, Change, KeyChange};

use crate::access::{Access, Plan, Planned};
use crate::error::Error;
use crate::response::Response;
use crate::view::KeyView;

struct Revoke<'a> {
    id: &'a KeyId,
    account: &'a AccountName,
}

impl Plan for Revoke<'_> {
    type Result = KeyRecord;

    async fn plan(
        &self,
        access: &Access,
        before: Option<&AccountRecord>,
    ) -> Result<Planned<KeyRecord>, Error> {
        let mut account = before.cloned().ok_or_else(|| Error::NoAccount(self.account.clone()))?;
        // Read after the account: a change of the key since then is also a change of the account.
        let key = access.key(self.id, Some(self.account)).await?;
        let revoked = revoked(&mut account, key, now());
        let result = revoked.after.clone();
        let is_new = revoked.before.as_ref() != Some(&result);
        let change = is_new.then(|| Change { keys: vec![revoked], ..Change::of(account) });
        Ok(Planned { change, result })
    }
}

/// Revokes the key. If it was revoked before, returns it unchanged.
pub(crate) async fn run(access: &Access, id: &KeyId, owner: Option<&AccountName>) -> Result<Response, Error> {
    let account = access.key(id, owner).await?.account;
    let key = access.change(&account, &Revoke { id, account: &account }).await?;
    Ok(Response::of(&KeyView::at(now(), &key))?.about_key(&account, id))
}

/// Removes the key from the account's valid keys, and returns its change: revoked at the time `at`, unless it
/// has ended before.
pub(crate) fn revoked(account: &mut AccountRecord, key: KeyRecord, at: UnixSeconds) -> KeyChange {
    account.keys.remove(&key.id());
    let state = match key.state_at(at) {
        KeyState::Issued => KeyState::Revoked { at },
        ended @ KeyState::Revoked { .. } => ended,
    };
    KeyChange { after: KeyRecord { state, expires_at: None, ..key.clone() }, before: Some(key) }
}
