//! `key issue`, in four steps: write a pending row, which the authorizer rejects; create the API Gateway key in the usage
//! plan of the tier; mark the row as issued; show the key. If the command is interrupted before the third step, the next
//! `key issue` with the same label removes the pending key and issues a new one.

use std::process::ExitCode;

use common::auth::{AccountName, ApiKey, KeyRecord, KeyState, Label};
use serde::Serialize;

use crate::access::options::AccessOptions;
use crate::access::view::{AccountView, KeyView};
use crate::access::{Access, quoted};
use crate::clock::now;
use crate::console;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::interrupt::unless_interrupted;
use crate::output::{Format, is_discarded, write, write_all};

/// An issued key as a JSON document.
#[derive(Serialize)]
struct IssuedOutput<'a> {
    /// The key itself, if this command has issued it.
    key: Option<&'a str>,
    #[serde(flatten)]
    view: KeyView<'a>,
}

/// The result of everything that may be interrupted.
enum Prepared {
    /// A pending key.
    New(ApiKey, KeyRecord),
    /// A key with this label existed, and is now in API Gateway.
    Added(KeyRecord),
}

/// Issues a key.
///
/// # Errors
/// If the key cannot be issued.
pub(super) async fn run(
    options: &AccessOptions,
    name: &AccountName,
    label: &Label,
) -> Result<ExitCode, Error> {
    if is_discarded() {
        return Err(Error::Discarded);
    }
    let format = options.format();
    let prepare = async {
        let access = options.open().await?;
        let prepared = prepare(&access, name, label).await?;
        Ok((access, prepared))
    };
    match unless_interrupted(prepare).await? {
        (_, Prepared::Added(key)) => {
            console::print(format_args!(
                "added the key {} to API Gateway; the key itself, which ends in {}, was shown when it was issued",
                key.id(),
                key.last_four
            ));
            write(format, String::new, &IssuedOutput { key: None, view: KeyView::from(&key) })?;
        }
        // From here on the command cannot be interrupted: an issued key must be shown.
        (access, Prepared::New(key, record)) => complete(&access, &key, record, format).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn prepare(access: &Access, name: &AccountName, label: &Label) -> Result<Prepared, Error> {
    let account = access.account(name).await?.ok_or_else(|| access.no_account(name))?;
    let tier = account.subscription.tier;
    if let Some(key) = issued_key(access, name, label).await? {
        let is_added = match &access.gateway {
            Some(gateway) => {
                let existing = gateway.find(&key.id()).await?;
                let is_new = existing.is_none();
                let gateway_key = if let Some(key) = existing { key } else { gateway.create(&key).await? };
                gateway.move_to(tier, &gateway_key).await? || is_new
            }
            None => false,
        };
        if is_added {
            return Ok(Prepared::Added(key));
        }
        let id = key.id();
        let command = access.command(&format!("key revoke {id}"));
        return Err(Error::LabelTaken { account: name.clone(), label: label.clone(), id, command });
    }
    access.warn_without_gateway(
        "API Gateway rejects the key with 401; the same command with --stack adds the key to API Gateway",
    )?;
    if let Some(reason) = AccountView::at(now(), &account).reason() {
        console::print(format_args!("warning: the service rejects the key for now: {reason}"));
    }
    let key = ApiKey::generate(getrandom::fill).map_err(Error::Random)?;
    let record = KeyRecord {
        digest: key.digest(),
        account: name.clone(),
        label: label.clone(),
        created_at: now(),
        last_four: key.last_four().to_owned(),
        state: KeyState::Pending,
    };
    // An existing row is this one: an earlier attempt has written it, and its response was lost.
    tables::access::put_key(access.table(), &record).await?;
    if let Some(gateway) = &access.gateway {
        let gateway_key = gateway.create(&record).await?;
        access.move_to_plan(gateway, account, &gateway_key).await?;
    }
    Ok(Prepared::New(key, record))
}

/// The issued key with this label, if there is one. Pending keys are removed.
async fn issued_key(access: &Access, name: &AccountName, label: &Label) -> Result<Option<KeyRecord>, Error> {
    let keys = access.keys_of(name).await?;
    let mut issued = None;
    for key in keys.iter().filter(|key| key.label == *label) {
        let id = key.id();
        // The index may lag behind the row.
        let Some(current) = tables::access::key(access.table(), &id).await? else { continue };
        match current.state {
            KeyState::Issued => issued = Some(current),
            KeyState::Revoked { .. } => {}
            KeyState::Pending => {
                // API Gateway first: while the row exists, the next command finds what is left of the key.
                discard(access.gateway.as_ref(), &current).await?;
                if tables::access::remove_pending_key(access.table(), &id).await? {
                    console::print(format_args!("removed the key {id}, which was not issued completely"));
                    continue;
                }
                // Another process has just issued it.
                let current = tables::access::key(access.table(), &id).await?;
                issued = current.filter(|current| current.state == KeyState::Issued).or(issued);
            }
        }
    }
    Ok(issued)
}

/// Deletes a key that was never shown from API Gateway.
async fn discard(gateway: Option<&Gateway>, key: &KeyRecord) -> Result<(), Error> {
    if let Some(gateway) = gateway
        && let Some(gateway_key) = gateway.find(&key.id()).await?
    {
        gateway.delete(&gateway_key).await?;
    }
    Ok(())
}

async fn complete(access: &Access, key: &ApiKey, record: KeyRecord, format: Format) -> Result<(), Error> {
    let id = record.id();
    if !tables::access::complete_key(access.table(), &id).await? {
        discard(access.gateway.as_ref(), &record).await?;
        return Err(Error::Overtaken { id });
    }
    let record = KeyRecord { state: KeyState::Issued, ..record };
    let document = IssuedOutput { key: Some(key.expose()), view: KeyView::from(&record) };
    if let Err(cause) = write_all(format, || key.expose().to_owned(), &document) {
        let label = quoted(record.label.as_str());
        let revoke = access.command(&format!("key revoke {id}"));
        let issue = access.command(&format!("key issue {} --label {label}", record.account));
        return Err(Error::NotShown { id, cause, command: format!("{revoke} && {issue}") });
    }
    console::print(format_args!(
        "the key is shown only this once; its KEY-ID is {id}; it may take a minute until API Gateway accepts it"
    ));
    Ok(())
}
