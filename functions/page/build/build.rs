//! Writes the pages, and the files that they load, as Rust code. Each content is stored as a JSON string,
//! ready for the function's response. The addresses of all files that pages load contain the same hash, which
//! covers all of these files.

mod compact;
mod join;
mod reference;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs, io};

use sha2::{Digest, Sha256};

use self::compact::compact;
use self::join::join;
use self::reference::with_document;

/// The folders with files that browsers load. A README is for people who edit the files.
const FOLDERS: [&str; 3] = ["docs", "market", VENDOR];

/// The folder of libraries, which stay as their authors publish them.
const VENDOR: &str = "vendor";
const README: &str = "README.md";

/// The file of each page, with the name of its constant and its policy. Pages have stable addresses, without
/// the hash.
const PAGES: [(&str, &str, &str); 2] =
    [("docs.html", "DOCS", DOCS_POLICY), ("market.html", "MARKET", MARKET_POLICY)];

/// The modules that are joined with their imports: the market page's module, and the modules of the views
/// that it loads later.
const MARKET: &str = "market.js";
const LAZY: [&str; 7] =
    ["item.js", "running.js", "hours.js", "tables.js", "mayor.js", "sales.js", "status.js"];

/// The page that contains the operations of the OpenAPI document.
const REFERENCE: &str = "docs.html";
/// The OpenAPI document.
const DOCUMENT: &str = "../index/openapi.json";

/// The icon, which is also the response to `GET /favicon.ico`.
const ICON: &str = "icon.svg";

/// Scalar, the script of the API reference. This is also its name in the crate `scalar_api_reference`, which
/// contains it.
const REFERENCE_SCRIPT: &str = "scalar.js";

/// The placeholder in a page for the folder of its files.
const ASSETS: &str = "{assets}";

/// The number of bytes of the SHA-256 digest that the hash keeps.
const HASH_BYTES: usize = 8;

/// `Cache-Control` of files whose addresses contain the hash.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// `Cache-Control` of all other files.
const SHORT: &str = "public, max-age=300";

/// The market page has scripts and styles only in files, and no script turns text into markup. With the
/// trusted-types policy `library`, `views.js` adds one script.
const MARKET_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types library";

/// Scalar inserts styles into the API reference, so inline styles are allowed.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The policy of all other files: a browser that opens one of them as a page loads nothing else.
const FILE_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

struct Source {
    name: String,
    text: String,
    /// Whether the file belongs to this project, not to a library.
    is_own: bool,
}

fn main() -> io::Result<()> {
    let output = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo has not set OUT_DIR"))?;
    let output = Path::new(&output);
    let is_page = |source: &Source| PAGES.iter().any(|(name, ..)| *name == source.name);
    let (pages, mut assets): (Vec<_>, Vec<_>) = sources()?.into_iter().partition(is_page);
    join_modules(&mut assets).map_err(io::Error::other)?;

    let hash = hash(&assets);
    let mut code = vec![format!("pub(super) const HASH: &str = {hash:?};\n")];
    let folder = format!("assets/{hash}");
    for (name, constant, policy) in PAGES {
        let mut text = named(&pages, name)?.text.replace(ASSETS, &folder);
        if name == REFERENCE {
            println!("cargo::rerun-if-changed={DOCUMENT}");
            text = with_document(&text, &serde_json::from_str(&fs::read_to_string(DOCUMENT)?)?)?;
        }
        let page = literal(&Source { name: name.to_owned(), text, is_own: true }, SHORT, policy, output)?;
        code.push(format!("pub(super) static {constant}: File = {page};\n"));
    }
    let icon = literal(named(&assets, ICON)?, SHORT, FILE_POLICY, output)?;
    code.push(format!("pub(super) static FAVICON: File = {icon};\n"));
    code.push(format!("pub(super) static ASSETS: [File; {}] = [\n", assets.len()));
    for asset in &assets {
        code.push(format!("{},\n", literal(asset, IMMUTABLE, FILE_POLICY, output)?));
    }
    code.push("];\n".to_owned());
    fs::write(output.join("files.rs"), code.concat())
}

/// Returns the files of all folders and the script of the API reference, by name.
///
/// # Errors
/// If a file cannot be read, or two files have the same name: the API serves all of them in one folder.
fn sources() -> io::Result<Vec<Source>> {
    let mut sources = vec![reference_script()?];
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        read(Path::new(folder), folder != VENDOR, &mut sources)?;
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    for (one, next) in sources.iter().zip(sources.iter().skip(1)) {
        if one.name == next.name {
            return Err(io::Error::other(format!("two folders have a file {}", one.name)));
        }
    }
    Ok(sources)
}

/// Adds the files of this folder and of the folders in it to `sources`.
fn read(folder: &Path, is_own: bool, sources: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(&path, is_own, sources)?;
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name != README {
            let mut text = fs::read_to_string(&path)?;
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if is_own && ["css", "js"].contains(&extension) {
                text = compact(&text).map_err(|reason| io::Error::other(format!("{name}: {reason}")))?;
            }
            if is_own && extension == "js" {
                text = in_one_folder(&text);
            }
            sources.push(Source { name, text, is_own });
        }
    }
    Ok(())
}

/// Returns the module with `"./name"` in place of every relative path in quotation marks, such as
/// `"../folder/name"`.
fn in_one_folder(module: &str) -> String {
    let parts = module.split('"').map(|part| match part.rsplit_once('/') {
        Some((_, name)) if part.starts_with("./") || part.starts_with("../") => format!("./{name}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Replaces the market page's module, and the modules of the views, by joined modules. All other modules stay
/// as files, because the API reference imports one of them.
fn join_modules(assets: &mut [Source]) -> Result<(), String> {
    let is_module =
        |source: &&Source| source.is_own && Path::new(&source.name).extension() == Some("js".as_ref());
    let modules: BTreeMap<_, _> =
        assets.iter().filter(is_module).map(|source| (source.name.as_str(), source.text.as_str())).collect();
    let market = join(MARKET, &modules, None)?;
    let mut joined = Vec::new();
    for view in LAZY {
        joined.push((view, join(view, &modules, Some((MARKET, &market)))?));
    }
    joined.push((MARKET, market));
    for asset in assets {
        if let Some((_, file)) = joined.iter().find(|(name, _)| *name == asset.name) {
            asset.text.clone_from(&file.code);
        }
    }
    Ok(())
}

fn reference_script() -> io::Result<Source> {
    let script = scalar_api_reference::get_asset(REFERENCE_SCRIPT)
        .ok_or_else(|| io::Error::other("scalar_api_reference carries no script"))?;
    let text = String::from_utf8(script).map_err(io::Error::other)?;
    Ok(Source { name: REFERENCE_SCRIPT.to_owned(), text, is_own: false })
}

fn named<'a>(sources: &'a [Source], name: &str) -> io::Result<&'a Source> {
    let found = sources.iter().find(|source| source.name == name);
    found.ok_or_else(|| io::Error::other(format!("no folder has a file {name}")))
}

/// Returns the hash of the names and contents of all assets, in hexadecimal digits.
fn hash(assets: &[Source]) -> String {
    let mut hasher = Sha256::new();
    for Source { name, text, .. } in assets {
        hasher.update(format!("{name}\0{}\0{text}", text.len()));
    }
    let digest = hasher.finalize();
    let digits = digest.iter().take(HASH_BYTES).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Returns the file as a struct literal, and writes its content into the folder `output`.
///
/// # Errors
/// If the name has no extension with a known content type.
fn literal(source: &Source, cache_control: &str, policy: &str, output: &Path) -> io::Result<String> {
    let Source { name, text, .. } = source;
    let content_type = match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => {
            let reason = format!("{name:?} must be a css, html, js, svg or txt file");
            return Err(io::Error::other(reason));
        }
    };
    let content = format!("{name}.json");
    fs::write(output.join(&content), serde_json::to_string(text)?)?;
    let bytes = text.len();
    Ok(format!(
        "File {{ name: {name:?}, content_type: {content_type:?}, cache_control: {cache_control:?}, \
            content_security_policy: {policy:?}, json: include_str!({content:?}), bytes: {bytes} }}"
    ))
}
