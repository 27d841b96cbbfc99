//! Writes the OpenAPI document without the white space that makes the checked-in file readable: anyone can request it without
//! a key, so every byte costs.

use std::path::Path;
use std::{env, fs, io};

const DOCUMENT: &str = "openapi.json";

fn main() -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo has not set OUT_DIR"))?;
    fs::write(Path::new(&folder).join(DOCUMENT), without_white_space(&fs::read_to_string(DOCUMENT)?))
}

/// The JSON document without white space outside of its strings.
fn without_white_space(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let is_kept = |character: &char| {
        let is_kept = in_string || !character.is_ascii_whitespace();
        if *character == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = *character == '\\' && !escaped;
        is_kept
    };
    json.chars().filter(is_kept).collect()
}
