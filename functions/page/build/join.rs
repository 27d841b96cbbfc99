//! Joins modules, so that a browser loads a few files instead of one for each module. Joined modules also
//! compress better.
//!
//! A module keeps its scope: it becomes a function that is called once and returns the module's exports. A
//! module may contain `import { a, b as c } from "./module.js";` and `export const a`, each at the beginning
//! of a line.

use std::collections::{BTreeMap, BTreeSet};

/// A file with a module and its imports.
#[derive(Default)]
pub(crate) struct Joined {
    /// The file names of the joined modules.
    pub(crate) modules: BTreeSet<String>,
    pub(crate) code: String,
}

/// A module with its imports and exports.
struct Module<'a> {
    /// The file name and the imported names of each import.
    imports: Vec<(&'a str, &'a str)>,
    exports: Vec<&'a str>,
    lines: Vec<&'a str>,
}

/// Joins the module `entry` with its imports. `base` is the name and the content of another joined file;
/// modules in `base` are imported from it instead. A module that is not among `modules` is a library, and
/// stays a file.
///
/// # Errors
/// If a line cannot be parsed, or if modules import each other in a circle.
pub(crate) fn join(
    entry: &str,
    modules: &BTreeMap<&str, &str>,
    base: Option<(&str, &Joined)>,
) -> Result<Joined, String> {
    let mut order = Vec::new();
    visit(entry, modules, base, &mut order, &mut Vec::new())?;
    let mut libraries = BTreeSet::new();
    let mut shared = BTreeSet::new();
    let mut code = Vec::new();
    for (name, module) in &order {
        code.push(format!("const {} = (() => {{", identifier(name)));
        for (file, names) in &module.imports {
            if !modules.contains_key(file) {
                libraries.insert(*file);
            } else if !order.iter().any(|(joined, _)| joined == file) {
                shared.insert(*file);
            }
            code.push(format!("const {{{}}} = {};", names.replace(" as ", ": "), identifier(file)));
        }
        code.extend(module.lines.iter().map(ToString::to_string));
        code.push(format!("return {{ {} }};\n}})();", module.exports.join(", ")));
    }
    let mut head: Vec<_> = libraries
        .iter()
        .map(|library| format!("import * as {} from \"./{library}\";", identifier(library)))
        .collect();
    if let Some((name, _)) = base {
        head.push(format!("import {{ {} }} from \"./{name}\";", identifiers(&shared)));
    }
    let (_, last) = order.last().ok_or("there is no module")?;
    if !last.exports.is_empty() {
        code.push(format!("export const {{ {} }} = {};", last.exports.join(", "), identifier(entry)));
    }
    let modules: BTreeSet<_> = order.iter().map(|(name, _)| *name).collect();
    code.push(format!("export {{ {} }};", identifiers(&modules)));
    let code = [head, code].concat().join("\n");
    Ok(Joined { modules: modules.into_iter().map(str::to_owned).collect(), code })
}

/// Adds the module to `order`, after all of its imports. `path` lists the modules whose imports led to this
/// one.
fn visit<'a>(
    name: &'a str,
    modules: &BTreeMap<&'a str, &'a str>,
    base: Option<(&str, &Joined)>,
    order: &mut Vec<(&'a str, Module<'a>)>,
    path: &mut Vec<&'a str>,
) -> Result<(), String> {
    let Some(code) = modules.get(name) else { return Ok(()) };
    let is_in_base = base.is_some_and(|(_, base)| base.modules.contains(name));
    if is_in_base || order.iter().any(|(joined, _)| *joined == name) {
        return Ok(());
    }
    if path.contains(&name) {
        return Err(format!("{name} imports itself, by way of {path:?}"));
    }
    path.push(name);
    let module = parse(code).map_err(|line| format!("{name}: {line}"))?;
    for (file, _) in &module.imports {
        visit(file, modules, base, order, path)?;
    }
    path.pop();
    order.push((name, module));
    Ok(())
}

/// Parses a module.
///
/// # Errors
/// If a line cannot be parsed. The error quotes the line.
fn parse(code: &str) -> Result<Module<'_>, String> {
    let mut module = Module { imports: Vec::new(), exports: Vec::new(), lines: Vec::new() };
    for line in code.lines() {
        if let Some(import) = line.strip_prefix("import ") {
            let (names, file) = import
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix("\";"))
                .and_then(|parts| parts.split_once("} from \"./"))
                .ok_or_else(|| format!("write `import {{ … }} from \"./…\";`: {line}"))?;
            module.imports.push((file, names));
        } else if let Some(export) = line.strip_prefix("export ") {
            let name = export.strip_prefix("const ").and_then(|rest| rest.split([' ', '=']).next());
            module.exports.push(name.ok_or_else(|| format!("write `export const …`: {line}"))?);
            module.lines.push(export);
        } else {
            module.lines.push(line);
        }
    }
    Ok(module)
}

/// Returns the name of the constant that holds the module's exports.
fn identifier(file: &str) -> String {
    let stem = file.strip_suffix(".js").unwrap_or(file);
    format!("${}", stem.replace(|character: char| !character.is_ascii_alphanumeric(), "_"))
}

fn identifiers(files: &BTreeSet<&str>) -> String {
    files.iter().map(|file| identifier(file)).collect::<Vec<_>>().join(", ")
}
