//! The schemas of the functions' types in the document.

use common::description::SchemaOf;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The prefix of references to named schemas.
pub(crate) const SCHEMA_PREFIX: &str = "#/components/schemas/";

/// Generates schemas and collects the named ones.
pub(crate) struct Schemas {
    generator: SchemaGenerator,
    /// The named schemas that come from no function's type.
    added: Map<String, Value>,
}

impl Schemas {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
        Self { generator: settings.into_generator(), added: Map::new() }
    }

    /// Returns the schema, or a reference to it if it is named.
    pub(crate) fn schema(&mut self, of: SchemaOf) -> Value {
        polished(of(&mut self.generator).to_value())
    }

    pub(crate) fn add(&mut self, name: String, schema: Value) -> Value {
        let reference = json!({ "$ref": format!("{SCHEMA_PREFIX}{name}") });
        self.added.insert(name, schema);
        reference
    }

    /// Returns the number of required fields of the schema and of its parts. If every value of a schema also
    /// fits another schema, the former has more required fields.
    pub(crate) fn required_fields(&self, schema: &Value) -> usize {
        let named =
            schema.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix(SCHEMA_PREFIX));
        if let Some(target) = named.and_then(|name| self.generator.definitions().get(name)) {
            return self.required_fields(target);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let fields = required.filter_map(Value::as_str).map(|field| {
            let field = schema.get("properties").and_then(|properties| properties.get(field));
            1 + field.map_or(0, |field| self.required_fields(field))
        });
        let parts = ["items", "additionalProperties"].into_iter().filter_map(|part| schema.get(part));
        fields.sum::<usize>() + parts.map(|part| self.required_fields(part)).sum::<usize>()
    }

    pub(crate) fn into_components(mut self) -> Map<String, Value> {
        let named = self.generator.take_definitions(true);
        named.into_iter().map(|(name, schema)| (name, polished(schema))).chain(self.added).collect()
    }
}

/// Joins the lines of doc comments and removes formats that OpenAPI does not know.
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
