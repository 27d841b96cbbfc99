//! The OpenAPI document, and the schemas in it.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::mismatch::{Mismatch, excerpt};

/// How many violations of a schema one mismatch lists.
const VIOLATIONS: usize = 3;

pub struct Document {
    value: Value,
    /// The document's components with closed schemas ([`close`]).
    closed_components: Value,
}

impl Document {
    /// The document in `value`. Parts that are missing in `value` count as empty.
    #[must_use]
    pub fn new(value: Value) -> Self {
        let mut closed_components = value.get("components").cloned().unwrap_or_default();
        close(&mut closed_components);
        Self { value, closed_components }
    }

    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// The target of the reference in `value`, or `value` itself if it is not a reference.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.value.pointer(reference.strip_prefix('#')?),
            None => Some(value),
        }
    }

    /// A validator for `schema`, which may refer to the document's components. All schemas are closed.
    ///
    /// # Errors
    /// If the schema is invalid.
    pub fn validator(&self, schema: &Value) -> Result<Validator, Mismatch> {
        let mut closed = schema.clone();
        close(&mut closed);
        let complete = json!({"allOf": [closed], "components": self.closed_components});
        let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&complete);
        validator
            .map_err(|error| Mismatch::new("a valid schema in the document", excerpt(&error.to_string())))
    }

    /// Checks `value` against `schema`.
    ///
    /// # Errors
    /// Lists the first few violations.
    pub fn check_value(&self, schema: &Value, value: &Value) -> Result<(), Mismatch> {
        let validator = self.validator(schema)?;
        let violations = validator.iter_errors(value).take(VIOLATIONS);
        let violations: Vec<String> = violations
            .map(|violation| format!("{} at {}", excerpt(&violation.to_string()), violation.instance_path()))
            .collect();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(Mismatch::new("a value that fits its schema", violations.join("; ")))
        }
    }
}

/// Forbids properties that `schema` does not describe.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            let parts =
                object.iter_mut().filter(|(name, _)| !matches!(name.as_str(), "example" | "examples"));
            parts.for_each(|(_, part)| close(part));
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

/// The JSON value of a header or a query parameter with this `schema`: a number if the schema requires an
/// integer and `text` is one, otherwise a string.
#[must_use]
pub fn parameter_value(text: &str, schema: &Value) -> Value {
    let is_integer = schema.get("type").is_some_and(|name| name == "integer");
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(number) if is_integer && is_number => number.into(),
        _ => text.into(),
    }
}
