//! `key issue`. In this order: a row that is pending, which nobody gets in by; API Gateway's key for it, in the usage plan
//! of the tier; the row says that the key is issued; the key is shown. Cut off before the third step, it leaves a key that
//! nobody has seen: the next `key issue` with its label takes that away and issues another one.

use std::process::ExitCode;

use common::auth::{Account, AccountName, ApiKey, KeyRecord, KeyState, Label};
use serde::Serialize;

use super::view::{AccountView, KeyView};
use super::{ATTEMPTS, Access, Place, now, quoted};
use crate::answer::{Format, goes_nowhere, write, write_surely};
use crate::console::Console;
use crate::error::Error;
use crate::gateway::{Gateway, GatewayKey};
use crate::unless_interrupted;

/// A key that has been issued, as a JSON document.
#[derive(Serialize)]
struct Document<'a> {
    /// The key itself, if this command issued it.
    key: Option<&'a str>,
    #[serde(flatten)]
    view: KeyView<'a>,
}

/// What there is to be done after everything that may be cut off.
enum Prepared {
    /// The key is there, but does not count yet.
    New(ApiKey, KeyRecord),
    /// There was a key with this label, and API Gateway knows it now.
    Mended(KeyRecord),
}

/// Issues a key.
///
/// # Errors
/// Why it could not be issued.
pub(super) async fn run(
    place: &Place,
    name: &AccountName,
    label: &Label,
    console: &Console,
) -> Result<ExitCode, Error> {
    if goes_nowhere() {
        return Err(Error::Nowhere);
    }
    let format = place.format();
    let prepare = async {
        let access = place.open().await?;
        let prepared = prepare(&access, name, label, console).await?;
        Ok((access, prepared))
    };
    match unless_interrupted(prepare).await? {
        (_, Prepared::Mended(key)) => {
            console.say(format_args!(
                "API Gateway knows the key {} now; the key itself was shown when it was issued (it ends in {})",
                key.id(),
                key.last_four
            ));
            write(format, String::new, &Document { key: None, view: KeyView::from(&key) })?;
        }
        // Not interruptible any more: a key that counts must be shown.
        (access, Prepared::New(key, record)) => complete(&access, &key, record, format, console).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn prepare(
    access: &Access,
    name: &AccountName,
    label: &Label,
    console: &Console,
) -> Result<Prepared, Error> {
    let account = access.account(name).await?.ok_or_else(|| access.no_account(name))?;
    let tier = account.subscription.tier;
    if let Some(key) = live_key(access, name, label, console).await? {
        let is_mended = match &access.gateway {
            Some(gateway) => {
                let known = gateway.find(&key.id()).await?;
                let is_new = known.is_none();
                let known = if let Some(known) = known { known } else { gateway.create(&key).await? };
                gateway.put_into(tier, &known).await? || is_new
            }
            None => false,
        };
        if is_mended {
            return Ok(Prepared::Mended(key));
        }
        let id = key.id();
        let command = access.command(&format!("key revoke {id}"));
        return Err(Error::LabelTaken { account: name.clone(), label: label.clone(), id, command });
    }
    access.warn_without_gateway(
        console,
        "API Gateway will not know the key, and answers 401; the same command with --stack makes it known",
    )?;
    if let Some(reason) = AccountView::at(now(), &account).reason() {
        console.say(format_args!("warning: the key will not be answered yet: {reason}"));
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
    // Where a row is there already, it is this one: an attempt before wrote it, and its answer got lost.
    tables::access::put_key(access.table(), &record).await?;
    if let Some(gateway) = &access.gateway {
        let known = gateway.create(&record).await?;
        put_into_plan(access, gateway, account, &known).await?;
    }
    Ok(Prepared::New(key, record))
}

/// Puts API Gateway's key into the plan of the account's tier, which somebody else may be changing.
async fn put_into_plan(
    access: &Access,
    gateway: &Gateway,
    mut account: Account,
    known: &GatewayKey,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let tier = account.subscription.tier;
        gateway.put_into(tier, known).await?;
        match access.account(&account.name).await? {
            Some(current) if current.subscription.tier != tier => account = current,
            _ => return Ok(()),
        }
    }
    Err(Error::Contended { name: account.name })
}

/// The key with this label that counts, if there is one. Those that were not issued to their end are taken away.
async fn live_key(
    access: &Access,
    name: &AccountName,
    label: &Label,
    console: &Console,
) -> Result<Option<KeyRecord>, Error> {
    let keys = access.keys_of(name).await?;
    let mut live = None;
    for key in keys.iter().filter(|key| key.label == *label) {
        let id = key.id();
        // The index may be late; the row is not.
        let Some(current) = tables::access::key(access.table(), &id).await? else { continue };
        match current.state {
            KeyState::Issued => live = Some(current),
            KeyState::Revoked { .. } => {}
            KeyState::Pending => {
                // API Gateway first: as long as the row is there, somebody looks for the rest of it.
                discard(access.gateway.as_ref(), &current).await?;
                if tables::access::remove_pending_key(access.table(), &id).await? {
                    console.say(format_args!("took away the key {id}, which was not issued to its end"));
                    continue;
                }
                // Whoever issued it has come to the end of it just now.
                let current = tables::access::key(access.table(), &id).await?;
                live = current.filter(|current| current.state == KeyState::Issued).or(live);
            }
        }
    }
    Ok(live)
}

/// Takes a key that nobody has seen out of API Gateway.
async fn discard(gateway: Option<&Gateway>, key: &KeyRecord) -> Result<(), Error> {
    if let Some(gateway) = gateway
        && let Some(known) = gateway.find(&key.id()).await?
    {
        gateway.delete(&known).await?;
    }
    Ok(())
}

async fn complete(
    access: &Access,
    key: &ApiKey,
    record: KeyRecord,
    format: Format,
    console: &Console,
) -> Result<(), Error> {
    let id = record.id();
    if !tables::access::complete_key(access.table(), &id).await? {
        discard(access.gateway.as_ref(), &record).await?;
        return Err(Error::Overtaken { id });
    }
    let record = KeyRecord { state: KeyState::Issued, ..record };
    let document = Document { key: Some(key.expose()), view: KeyView::from(&record) };
    if let Err(cause) = write_surely(format, || key.expose().to_owned(), &document) {
        let label = quoted(record.label.as_str());
        let revoke = access.command(&format!("key revoke {id}"));
        let issue = access.command(&format!("key issue {} --label {label}", record.account));
        return Err(Error::Unseen { id, cause, command: format!("{revoke} && {issue}") });
    }
    console.say(format_args!(
        "this is the only time that the key is shown; its KEY-ID is {id}; it may take a minute until it works"
    ));
    Ok(())
}
