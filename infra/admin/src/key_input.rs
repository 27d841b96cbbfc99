//! Reads keys from standard input, which keeps them out of the shell's history and the list of processes.

use std::io::IsTerminal as _;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::console;
use crate::error::Error;

/// The white space that HTTP removes around a header's value, and line ends.
const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
/// The longest line that is read, in bytes; a key has 41.
const MAX_LINE: u64 = 4 * 1024;
const STANDARD_INPUT: &str = "standard input";

/// Removes [`WHITE_SPACE`] around the text. Any other white space counts as part of the key, as in a request.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(WHITE_SPACE)
}

/// Reads the first line of standard input.
pub(crate) async fn read_standard_input() -> Result<String, Error> {
    if std::io::stdin().is_terminal() {
        console::print("type or paste the key, then press Enter");
    }
    let mut line = String::new();
    let read = BufReader::new(tokio::io::stdin().take(MAX_LINE)).read_line(&mut line).await;
    read.map_err(|cause| Error::Read { name: STANDARD_INPUT.to_owned(), cause })?;
    if line.trim().is_empty() { Err(Error::EmptyInput) } else { Ok(line) }
}
