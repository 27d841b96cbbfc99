//! `account export`. The file holds the hashes of keys and the end of each account's paid time, so only the
//! file's owner can read it.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::rows::AccessRows;
use crate::access::Accounts;
use crate::arguments::STANDARD_STREAM;
use crate::console;
use crate::error::Error;
use crate::output::{Format, write};
use crate::row_file;
use crate::row_file::writer::Exported;

pub(super) async fn run(
    accounts: &Accounts,
    file: &Path,
    replaces: bool,
    format: Format,
) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(accounts);
    let Exported { rows, skipped } = row_file::export(&mut kind, file, replaces, true).await?;
    let exported = kind.exported;
    let keys = rows - exported;
    console::print(format_args!("exported accounts {exported}, keys {keys}; skipped {skipped}"));
    if format == Format::Json && file.as_os_str() != STANDARD_STREAM {
        write(format, String::new, &json!({"accounts": exported, "keys": keys, "skipped": skipped}))?;
    }
    Ok(if skipped == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
