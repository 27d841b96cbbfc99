//! `key list`.

use common::auth::AccountName;
use serde::Serialize;

use crate::access::Access;
use crate::access::view::{KeyView, keys};
use crate::console;
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(access: &Access, name: &AccountName, format: Format) -> Result<(), Error> {
    #[derive(Serialize)]
    struct KeysOutput<'a> {
        account: &'a AccountName,
        keys: Vec<KeyView<'a>>,
    }
    let records = access.keys_of(name).await?;
    if records.is_empty() {
        access.account(name).await?.ok_or_else(|| access.no_account(name))?;
        console::print(format_args!("{name} has no keys"));
    }
    let text = || if records.is_empty() { String::new() } else { keys(&records) };
    write(format, text, &KeysOutput { account: name, keys: records.iter().map(KeyView::from).collect() })
}
