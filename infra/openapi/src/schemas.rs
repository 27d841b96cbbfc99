//! The schemas of the functions' types, as the description has them.

use common::openapi::SchemaOf;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Where schemas with a name are in the document.
pub(crate) const PLACE: &str = "#/components/schemas/";

/// Makes schemas, and keeps those that have a name.
pub(crate) struct Schemas(SchemaGenerator);

impl Schemas {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
        Self(settings.into_generator())
    }

    /// The schema, or a reference to it.
    pub(crate) fn schema(&mut self, of: SchemaOf) -> Value {
        polished(of(&mut self.0).to_value())
    }

    /// The schemas with a name.
    pub(crate) fn into_components(mut self) -> Map<String, Value> {
        let named = self.0.take_definitions(true);
        named.into_iter().map(|(name, schema)| (name, polished(schema))).collect()
    }
}

/// For readers of the description: doc comments in one line and without what only a reader of the code can follow, formats
/// only where OpenAPI knows them.
fn polished(mut schema: Value) -> Value {
    polish(&mut schema);
    schema
}

fn polish(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("format").is_some_and(|format| format == "uint") {
                object.remove("format");
            }
            if let Some(Value::String(description)) = object.get_mut("description") {
                *description = without_citations(&description.replace('\n', " "));
            }
            object.values_mut().for_each(polish);
        }
        Value::Array(values) => values.iter_mut().for_each(polish),
        _ => {}
    }
}

/// The text without what stands in parentheses and names a file of the specification.
fn without_citations(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside_and_after)) = rest.split_once(" (`") {
        let Some((inside, after)) = inside_and_after.split_once(')') else { break };
        kept.push_str(before);
        if !inside.contains(".md`") {
            kept.push_str(" (`");
            kept.push_str(inside);
            kept.push(')');
        }
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::without_citations;

    #[test]
    fn citations_of_the_specification_are_left_out_and_other_remarks_are_not() {
        assert_eq!(without_citations("A point (`interface.md`, part 2). More."), "A point. More.");
        assert_eq!(without_citations("A tier (`COMMON` if none) of it"), "A tier (`COMMON` if none) of it");
        assert_eq!(without_citations("Open (`x"), "Open (`x");
    }
}
