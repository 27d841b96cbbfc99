//! Writes the pages and their files as Rust: each as the JSON string that a proxy response carries, under one hash of all that the
//! pages load.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// The folders with files that browsers load.
const FOLDERS: [&str; 3] = ["docs", "market", "vendor"];

/// The pages. Their addresses are stable, so they have no hash.
const PAGES: [&str; 2] = ["docs.html", "market.html"];

/// The icon.
const ICON: &str = "icon.svg";

/// The script of the API reference, with its name in the crate that carries it.
const REFERENCE_SCRIPT: &str = "scalar.js";

/// What a page has in place of the folder of its files.
const ASSETS: &str = "{assets}";

/// How many hexadecimal digits the hash has.
const DIGITS: usize = 16;

/// How long browsers may keep files whose addresses contain the hash, and all others.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const SHORT: &str = "public, max-age=300";

/// The market page has scripts and styles in files only, and no script makes markup of text.
const MARKET_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The API reference inserts styles.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file that is no page loads nothing.
const FILE_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// A file with its name.
struct Source {
    name: String,
    text: String,
}

fn main() -> io::Result<()> {
    let output = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo has not set OUT_DIR"))?;
    let output = Path::new(&output);
    let mut sources = vec![reference_script()?];
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if name != "README.md" {
                sources.push(Source { name, text: fs::read_to_string(&path)? });
            }
        }
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    let (pages, assets): (Vec<_>, Vec<_>) =
        sources.into_iter().partition(|source| PAGES.contains(&source.name.as_str()));

    let hash = hash(&assets);
    let mut code = format!("pub(super) const HASH: &str = {hash:?};\n");
    let folder = format!("assets/{hash}");
    for Source { name, text } in pages {
        let policy = if name == "docs.html" { DOCS_POLICY } else { MARKET_POLICY };
        let constant = name.trim_end_matches(".html").to_uppercase();
        let page = Source { text: text.replace(ASSETS, &folder), name };
        let file = file(&page, SHORT, policy, output)?;
        append(&mut code, &format!("pub(super) static {constant}: File = {file};\n"))?;
    }
    let mut files = Vec::new();
    for asset in &assets {
        if asset.name == ICON {
            let icon = file(asset, SHORT, FILE_POLICY, output)?;
            append(&mut code, &format!("pub(super) static FAVICON: File = {icon};\n"))?;
        }
        files.push(file(asset, IMMUTABLE, FILE_POLICY, output)?);
    }
    append(
        &mut code,
        &format!("pub(super) static ASSETS: [File; {}] = [{}];\n", files.len(), files.join(",")),
    )?;
    fs::write(output.join("files.rs"), code)
}

fn append(code: &mut String, text: &str) -> io::Result<()> {
    code.write_str(text).map_err(io::Error::other)
}

fn reference_script() -> io::Result<Source> {
    let script = scalar_api_reference::get_asset(REFERENCE_SCRIPT);
    let script = script.ok_or_else(|| io::Error::other("scalar_api_reference carries no script"))?;
    let text = String::from_utf8(script).map_err(io::Error::other)?;
    Ok(Source { name: REFERENCE_SCRIPT.to_owned(), text })
}

fn hash(assets: &[Source]) -> String {
    let mut hasher = Sha256::new();
    for Source { name, text } in assets {
        hasher.update(format!("{name}\0{}\0{text}", text.len()));
    }
    let digits = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    digits.chars().take(DIGITS).collect()
}

/// Returns the file as Rust, and writes its content beside it.
fn file(source: &Source, cache_control: &str, policy: &str, output: &Path) -> io::Result<String> {
    let Source { name, text } = source;
    let content_type = match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => return Err(io::Error::other(format!("{name} has no extension that browsers are served"))),
    };
    let path = output.join(format!("{name}.json"));
    fs::write(&path, serde_json::to_string(text)?)?;
    let bytes = text.len();
    Ok(format!(
        "File {{ name: {name:?}, content_type: {content_type:?}, cache_control: {cache_control:?}, \
            content_security_policy: {policy:?}, json: include_str!({path:?}), bytes: {bytes} }}"
    ))
}
