//! `key revoke`. It changes the table first, because the authorizer decides by it; API Gateway only counts requests. Running
//! the command again does the rest.

use common::auth::{KeyId, KeyState};
use common::time::UnixSeconds;

use crate::access::Access;
use crate::access::view::{KeyView, key_lines};
use crate::clock::now;
use crate::console;
use crate::error::Error;
use crate::output::{Format, table, write};

/// How long a revoked key may still be accepted: API Gateway caches the policy of the authorizer for 60 seconds
/// (`ReauthorizeEvery` in the template), and the authorizer caches the key for 5.
const CACHED_SECONDS: i64 = 65;

/// Revokes the key.
///
/// # Errors
/// If there is no such key, or the table or AWS fails.
pub(super) async fn run(access: &Access, id: &KeyId, format: Format) -> Result<(), Error> {
    tables::access::revoke_key(access.table(), id, now()).await?;
    let key =
        tables::access::key(access.table(), id).await?.ok_or_else(|| Error::NoKey { id: id.clone() })?;
    write(format, || table(None, key_lines(&key)), &KeyView::from(&key))?;
    if let KeyState::Revoked { at } = key.state {
        print_delay(at);
    }
    match &access.gateway {
        Some(gateway) => {
            if let Some(gateway_key) = gateway.find(id).await? {
                console::print(if gateway.delete(&gateway_key).await? {
                    "deleted the key from API Gateway"
                } else {
                    "API Gateway keeps the key: it is also in a usage plan of another stack"
                });
            }
            Ok(())
        }
        None => access.warn_without_gateway(
            "API Gateway keeps its key for it, which does no harm; the same command with --stack deletes it",
        ),
    }
}

fn print_delay(at: UnixSeconds) {
    let left = (at.get() + CACHED_SECONDS - now().get()).min(CACHED_SECONDS);
    if left > 0 {
        console::print(format_args!(
            "the key may still be accepted for {left} seconds: API Gateway caches the decision for 60, the authorizer \
             caches the key for 5"
        ));
    }
}
