//! Keys that are read from standard input, so that they are in no history and in no list of processes.

use std::io::IsTerminal as _;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::console::Console;
use crate::error::Error;

/// What is no part of a header's value where it stands around it, and the end of a line.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
/// More than any key has.
const LONGEST_LINE: u64 = 4 * 1024;

/// The text without what a header would not have around it, either. Other blanks stay: callers would be refused with them.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(BLANKS)
}

/// The first line of standard input.
///
/// # Errors
/// If there is none.
pub(crate) async fn key(console: &Console) -> Result<String, Error> {
    if std::io::stdin().is_terminal() {
        console.say("type or paste the key, then press Enter");
    }
    let mut line = String::new();
    let mut input = BufReader::new(tokio::io::stdin().take(LONGEST_LINE));
    let failed = |cause| Error::Read { name: "standard input".to_owned(), cause };
    input.read_line(&mut line).await.map_err(failed)?;
    if line.trim().is_empty() { Err(Error::EmptyInput) } else { Ok(line) }
}
