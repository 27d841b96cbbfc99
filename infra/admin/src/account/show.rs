//! `account show`.

use common::auth::AccountName;
use serde::Serialize;

use crate::access::Access;
use crate::access::view::{AccountView, KeyView, keys};
use crate::clock::now;
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(access: &Access, name: &AccountName, format: Format) -> Result<(), Error> {
    #[derive(Serialize)]
    struct AccountOutput<'a> {
        #[serde(flatten)]
        account: &'a AccountView<'a>,
        keys: Vec<KeyView<'a>>,
    }
    let account = access.account(name).await?.ok_or_else(|| access.no_account(name))?;
    let account = AccountView::at(now(), &account);
    let records = access.keys_of(name).await?;
    let text = || {
        let keys = if records.is_empty() { "no keys".to_owned() } else { keys(&records) };
        format!("{}\n\n{keys}", account.text())
    };
    write(
        format,
        text,
        &AccountOutput { account: &account, keys: records.iter().map(KeyView::from).collect() },
    )
}
