//! No two files of a crate or of a folder of tests use each other, directly or through other files, so a
//! reader can understand one before the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::in_repository;

/// A module's path in its crate. Empty for the root.
type Module = Vec<String>;

/// The modules of the crate in this folder that each module names, in imports and in other paths, without
/// those of unit tests.
fn imports(folder: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut texts = BTreeMap::new();
    read(folder, &Vec::new(), &mut texts);
    let modules: BTreeSet<_> = texts.keys().cloned().collect();
    let of = |(module, text): (&Module, &String)| {
        let code = text.split("#[cfg(test)]").next().unwrap();
        let code: Vec<_> = code.lines().map(|line| line.split("//").next().unwrap()).collect();
        let code = code.join("\n");
        let statements = code.split(';').filter_map(|statement| statement.rsplit_once("use "));
        let imported = statements.flat_map(|(_, path)| each(path.trim()));
        let is_of_name = |character: char| character.is_alphanumeric() || "_:".contains(character);
        let named = code.split(|character| !is_of_name(character)).map(str::to_owned);
        let named = named.filter(|path| path.contains("::") && !path.ends_with(':'));
        let others = imported.chain(named).filter_map(|path| resolved(module, &path, &modules));
        (module.clone(), others.filter(|other| other != module).collect())
    };
    texts.iter().map(of).collect()
}

/// Adds the text of each file in the folder to `texts`. `module` is the path of the folder's module.
fn read(folder: &Path, module: &Module, texts: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = [module.as_slice(), std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            read(&path, &inner, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_outer = ["lib", "main", "mod"].contains(&name.as_str());
            texts.insert(
                if is_outer { module.clone() } else { inner },
                std::fs::read_to_string(path).unwrap(),
            );
        }
    }
}

/// The paths of an import, one for each name in its braces.
fn each(path: &str) -> Vec<String> {
    match path.split_once("::{") {
        Some((front, names)) => {
            names.trim_end_matches('}').split(',').map(|name| format!("{front}::{}", name.trim())).collect()
        }
        None => vec![path.to_owned()],
    }
}

/// The module that contains the item at `path`, as named in `module`. `None` if the item is in another crate.
fn resolved(module: &Module, path: &str, modules: &BTreeSet<Module>) -> Option<Module> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let mut found = match parts[0] {
        "crate" => Module::new(),
        "self" | "super" => module.clone(),
        name if modules.contains(&[module.as_slice(), &[name.to_owned()]].concat()) => module.clone(),
        _ => return None,
    };
    while ["crate", "self", "super"].contains(&parts[0]) {
        if parts.remove(0) == "super" {
            found.pop();
        }
        if parts.is_empty() {
            break;
        }
    }
    found.extend(parts.into_iter().map(str::to_owned));
    while !modules.contains(&found) {
        found.pop()?;
    }
    Some(found)
}

/// Removes modules without imports, and imports of removed modules, until nothing changes. The remaining
/// modules are in a circle, or lead to one.
pub(crate) fn circles<M: Ord + Clone>(mut imports: BTreeMap<M, BTreeSet<M>>) -> BTreeSet<M> {
    loop {
        let done: BTreeSet<_> = imports
            .iter()
            .filter(|(_, others)| others.is_empty())
            .map(|(module, _)| module.clone())
            .collect();
        if done.is_empty() {
            return imports.into_keys().collect();
        }
        imports.retain(|module, _| !done.contains(module));
        for others in imports.values_mut() {
            others.retain(|other| !done.contains(other));
        }
    }
}

#[test]
fn no_files_of_a_crate_use_each_other() {
    let mut crates = vec!["common".to_owned()];
    for folder in ["common", "functions", "infra"] {
        let entries = std::fs::read_dir(in_repository(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        crates.extend(names.map(|name| format!("{folder}/{name}")));
    }
    crates.retain(|path| in_repository(path).join("src").is_dir());
    assert!(crates.len() > 25, "{crates:?}");
    let sources = crates.iter().map(|path| format!("{path}/src"));
    let folders = sources.chain(["tests/service", "tests/browser", "tests/speed/src"].map(str::to_owned));
    let found: Vec<_> = folders
        .map(|folder| (circles(imports(&in_repository(&folder))), folder))
        .filter(|(found, _)| !found.is_empty())
        .collect();
    assert!(found.is_empty(), "these files use each other: {found:#?}");
}

#[test]
fn a_circle_of_three_files_is_found() {
    let imports = |pairs: &[(&str, &str)]| {
        let module = |name: &str| vec![name.to_owned()];
        let import = |(from, to): &(&str, &str)| (module(from), [module(to)].into());
        pairs.iter().map(import).collect::<BTreeMap<_, BTreeSet<Module>>>()
    };
    assert_eq!(circles(imports(&[("a", "b"), ("b", "c"), ("c", "a")])).len(), 3);
}
