//! Reads keys from standard input and from files, which keeps them out of the shell's history and the list of processes.

use std::io::IsTerminal as _;
use std::path::Path;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use crate::console::Console;
use crate::error::Error;

/// The white space that HTTP removes around a header's value, and the end of a line.
const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
/// The longest line that is read, in bytes; a key has 41.
const MAX_LINE: u64 = 4 * 1024;
const STANDARD_INPUT: &str = "standard input";

/// The text without the white space around it. Other white space is part of the key, as it is in a request.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(WHITE_SPACE)
}

/// The first line of standard input.
///
/// # Errors
/// If it cannot be read, or is blank.
pub(crate) async fn read_standard_input(console: &Console) -> Result<String, Error> {
    if std::io::stdin().is_terminal() {
        console.print("type or paste the key, then press Enter");
    }
    first_line(tokio::io::stdin(), STANDARD_INPUT).await
}

/// The first line of the file.
///
/// # Errors
/// If it cannot be read, or is blank.
pub(crate) async fn read_file(file: &Path) -> Result<String, Error> {
    let name = file.display().to_string();
    match File::open(file).await {
        Ok(opened) => first_line(opened, &name).await,
        Err(cause) => Err(Error::Read { name, cause }),
    }
}

async fn first_line(input: impl AsyncRead + Unpin, name: &str) -> Result<String, Error> {
    let mut line = String::new();
    let mut input = BufReader::new(input.take(MAX_LINE));
    let failed = |cause| Error::Read { name: name.to_owned(), cause };
    input.read_line(&mut line).await.map_err(failed)?;
    if line.trim().is_empty() { Err(Error::EmptyInput { name: name.to_owned() }) } else { Ok(line) }
}
