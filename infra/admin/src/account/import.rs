//! `account import`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::rows::AccessRows;
use crate::access::Accounts;
use crate::error::Error;
use crate::output::{Format, write};
use crate::row_file;

/// Imports the file.
///
/// # Errors
/// If the file cannot be read, or the function or AWS fails. Rows that were imported before stay.
pub(super) async fn run(access: &Accounts, file: &Path, format: Format) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(access);
    let bad_lines = row_file::import(&mut kind, file).await?;
    let AccessRows { accounts, keys, .. } = kind;
    let left_out = bad_lines + accounts.left_out + keys.left_out;
    if format == Format::Json {
        let document = json!({"accounts": accounts, "keys": keys, "bad_lines": bad_lines});
        write(format, String::new, &document)?;
    }
    Ok(if left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
