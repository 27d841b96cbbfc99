//! `key revoke`.

use accounts::KeyView;
use accounts::command::Command;
use common::auth::KeyId;
use common::time::{UnixSeconds, now};

use crate::access::Accounts;
use crate::access::view::key_lines;
use crate::console;
use crate::error::Error;
use crate::output::{Format, table, write};

/// How long a revoked key may still be accepted: API Gateway caches the policy of the authorizer for 60
/// seconds (`ReauthorizeEvery` in the template), and the authorizer caches the key for 5.
const CACHED_SECONDS: i64 = 65;

/// Revokes the key.
///
/// # Errors
/// If there is no such key, or the table or AWS fails.
pub(super) async fn run(accounts: &Accounts, id: KeyId, format: Format) -> Result<(), Error> {
    let command = Command::RevokeKey { key_id: id, account: None };
    let (key, _) = accounts.call::<KeyView>(command).await?;
    write(format, || table(None, key_lines(&key)), &key)?;
    if let Some(at) = key.revoked_at {
        print_delay(at);
    }
    Ok(())
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
