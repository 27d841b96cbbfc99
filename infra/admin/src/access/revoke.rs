//! `key revoke`. The table first, because that is what stops a key; API Gateway's key is only what requests were counted
//! under. Doing it again does the rest.

use common::auth::{KeyId, KeyState};
use common::time::UnixSeconds;

use super::view::{KeyView, key_lines};
use super::{Access, now};
use crate::answer::{Format, table, write};
use crate::console::Console;
use crate::error::Error;

/// How long a key that was revoked may be answered: API Gateway remembers what the authorizer said for 60 seconds
/// (`ReauthorizeEvery` in the template), and an authorizer believes what it read for 5.
const REMEMBERED_SECONDS: i64 = 65;

/// Revokes the key.
///
/// # Errors
/// If there is no such key, or it could not be done to its end.
pub(super) async fn run(access: &Access, id: &KeyId, format: Format, console: &Console) -> Result<(), Error> {
    tables::access::revoke_key(access.table(), id, now()).await?;
    let key = tables::access::key(access.table(), id).await?;
    let key = key.ok_or_else(|| Error::NoKey { id: id.clone() })?;
    write(format, || table(None, key_lines(&key)), &KeyView::from(&key))?;
    if let KeyState::Revoked { at } = key.state {
        say_how_long(at, console);
    }
    match &access.gateway {
        Some(gateway) => {
            if let Some(known) = gateway.find(id).await? {
                gateway.delete(&known).await?;
                console.say("API Gateway's key for it is deleted");
            }
            Ok(())
        }
        None => access.warn_without_gateway(
            console,
            "API Gateway's key for it stays, which does no harm; the same command with --stack deletes it",
        ),
    }
}

fn say_how_long(at: UnixSeconds, console: &Console) {
    let left = at.get() + REMEMBERED_SECONDS - now().get();
    if left > 0 {
        let left = left.min(REMEMBERED_SECONDS);
        console.say(format_args!(
            "it may still be answered for {left} seconds: API Gateway remembers for 60 whom it let in, the authorizer \
             for 5 what it read"
        ));
    }
}
