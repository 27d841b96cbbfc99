//! Writes the OpenAPI document without the white space of the checked-in file: anyone can request it without
//! a key, so every byte costs. Writes the texts as JSON strings, which proxy responses contain.

use std::path::Path;
use std::{env, fs, io};

const DOCUMENT: &str = "openapi.json";
const TEXTS: [&str; 2] = ["docs.md", "llms.txt"];

fn main() -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo has not set OUT_DIR"))?;
    let folder = Path::new(&folder);
    for name in TEXTS {
        fs::write(folder.join(format!("{name}.json")), serde_json::to_string(&fs::read_to_string(name)?)?)?;
    }
    fs::write(folder.join(DOCUMENT), without_white_space(&fs::read_to_string(DOCUMENT)?))
}

/// Returns the JSON document without white space outside strings.
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
