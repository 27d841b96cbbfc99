//! The memory of each function in `template.yaml`.

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};

use crate::workspace;

/// The size of each function in MB, by the name of its binary.
///
/// # Errors
/// A sentence, when the template is not as expected.
pub(super) fn sizes() -> Result<BTreeMap<String, u32>, String> {
    let path = workspace().join("template.yaml");
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let documents =
        Yaml::load_from_str(&text).map_err(|error| format!("the template is not YAML: {error}"))?;
    let root = documents.first().ok_or("the template is empty")?;
    let default = at(root, &["Globals", "Function", "MemorySize"]).and_then(number);
    let Some(Yaml::Mapping(resources)) = at(root, &["Resources"]) else {
        return Err("the template has no resources".to_owned());
    };
    let mut sizes = BTreeMap::new();
    for (_, resource) in resources {
        let binary = at(resource, &["Metadata", "BuildProperties", "Binary"]).and_then(text_of);
        let size = at(resource, &["Properties", "MemorySize"]).and_then(number).or(default);
        if let (Some(binary), Some(size)) = (binary, size) {
            sizes.insert(binary.to_owned(), size);
        }
    }
    Ok(sizes)
}

fn at<'node, 'text>(node: &'node Yaml<'text>, path: &[&str]) -> Option<&'node Yaml<'text>> {
    path.iter().try_fold(node, |node, name| {
        let Yaml::Mapping(entries) = node else { return None };
        entries.iter().find(|(key, _)| text_of(key) == Some(*name)).map(|(_, value)| value)
    })
}

fn text_of<'node>(node: &'node Yaml<'_>) -> Option<&'node str> {
    match node {
        Yaml::Value(Scalar::String(text)) => Some(text),
        _ => None,
    }
}

fn number(node: &Yaml<'_>) -> Option<u32> {
    match node {
        Yaml::Value(Scalar::Integer(number)) => u32::try_from(*number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::release;

    #[test]
    fn every_function_has_a_size() {
        let sizes: Vec<_> = super::sizes().unwrap().into_keys().collect();
        assert_eq!(sizes, release::functions().unwrap());
    }
}
