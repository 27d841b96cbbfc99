//! The modules of the market page are on floors, so a reader can understand a floor without those above it,
//! and a view without the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::between;
use crate::circles::circles;
use crate::support::in_repository;

/// The floors, the lowest first. A module imports from its own floor and from those below.
const FLOORS: [&str; 6] =
    ["vendor/", "market/values/", "market/data/", "market/parts/", "market/views/", "market/"];

/// The imports of each module of the market page, also those that are loaded later, as paths in
/// `functions/page`.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let page = in_repository("functions/page").canonicalize().unwrap();
    let mut folders = vec![page.join("market")];
    let mut imports = BTreeMap::<_, BTreeSet<_>>::new();
    let name = |path: &Path| path.strip_prefix(&page).unwrap().to_str().unwrap().to_owned();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "js") {
                let text = std::fs::read_to_string(&path).unwrap();
                let imported = between(&text, "from \"", '"').chain(between(&text, "import(\"", '"'));
                let found = imported.map(|import| {
                    let path = folder.join(import).canonicalize();
                    name(&path.unwrap_or_else(|error| panic!("{import}: {error}")))
                });
                imports.insert(name(&path), found.collect());
            }
        }
    }
    imports
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| module.starts_with(floor))
}

/// The name of the view: of its folder, or of its only module.
fn view(module: &str) -> Option<&str> {
    module.strip_prefix("market/views/")?.split(['/', '.']).next()
}

fn folder(module: &str) -> &str {
    module.rsplit_once('/').unwrap().0
}

#[test]
fn no_view_imports_another_nothing_imports_a_higher_floor_and_there_are_no_circles() {
    let imports = imports();
    assert!(imports.len() > 50, "{imports:?}");
    let (mut modules, mut folders) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for (module, others) in &imports {
        for other in others {
            assert!(floor(other) <= floor(module), "{module} imports {other}, which is on a higher floor");
            let is_other_view = floor(other) == floor(module) && view(other) != view(module);
            assert!(!is_other_view, "{module} imports {other}, which is another view");
            modules.entry(module.as_str()).or_default().insert(other.as_str());
            modules.entry(other).or_default();
            folders.entry(folder(other)).or_default();
            if folder(module) != folder(other) {
                folders.entry(folder(module)).or_default().insert(folder(other));
            }
        }
    }
    assert_eq!(circles(modules), [].into(), "these modules import each other");
    assert_eq!(circles(folders), [].into(), "these folders import each other");
}
