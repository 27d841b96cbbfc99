//! The schemas of the functions' types, as the document has them.

use common::response::openapi::SchemaOf;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The prefix of references to named schemas.
pub(crate) const SCHEMA_PREFIX: &str = "#/components/schemas/";

/// Generates schemas, and collects those with a name.
pub(crate) struct Schemas(SchemaGenerator);

impl Schemas {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
        Self(settings.into_generator())
    }

    /// Returns the schema, or a reference to it if it has a name.
    pub(crate) fn schema(&mut self, of: SchemaOf) -> Value {
        polished(of(&mut self.0).to_value())
    }

    /// Returns the schemas with a name.
    pub(crate) fn into_components(mut self) -> Map<String, Value> {
        let named = self.0.take_definitions(true);
        named.into_iter().map(|(name, schema)| (name, polished(schema))).collect()
    }
}

/// Joins the lines of doc comments, and removes formats that OpenAPI does not know.
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
                *description = description.replace('\n', " ");
            }
            object.values_mut().for_each(polish);
        }
        Value::Array(values) => values.iter_mut().for_each(polish),
        _ => {}
    }
}
