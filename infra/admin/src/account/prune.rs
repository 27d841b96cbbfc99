//! `account prune`. API Gateway has at most 10,000 keys in an AWS account and region.

use accounts::command::Command;
use accounts::{AccountRow, Pruned, Row};
use common::time::now;
use serde_json::json;
use tokio::time::sleep;

use super::rows::{PER_ACCOUNT, pages};
use crate::access::Accounts;
use crate::console::Progress;
use crate::error::Error;
use crate::output::{Format, write};

/// Asks the function to prune every account that is no longer paid for. The function decides whether it was
/// paid for long enough ago.
///
/// # Errors
/// If the function or AWS fails. A repeated command does the rest.
pub(super) async fn run(accounts: &Accounts, format: Format) -> Result<(), Error> {
    let (mut pruned, mut gateway_keys) = (0, 0);
    let mut progress = Progress::new();
    let lapsed = |row: Row| match row {
        Row::Account(AccountRow { account, paid_until, .. })
            if paid_until.is_none_or(|until| until < now()) =>
        {
            Some(account)
        }
        _ => None,
    };
    let rows = pages(accounts).await?.rows;
    for account in rows.into_iter().filter_map(lapsed) {
        progress.show(format_args!("pruned {pruned} accounts"));
        sleep(PER_ACCOUNT).await;
        let (result, _) = accounts.call::<Pruned>(Command::PruneAccount { account }).await?;
        pruned += u64::from(result.gateway_keys > 0);
        gateway_keys += result.gateway_keys;
    }
    let text = || format!("pruned {pruned} accounts: deleted {gateway_keys} keys in API Gateway");
    write(format, text, &json!({"accounts": pruned, "gateway_keys": gateway_keys}))
}
