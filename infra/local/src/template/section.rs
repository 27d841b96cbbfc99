//! A mapping in the template whose entries are evaluated on access: entries that are never read may use expressions that
//! only AWS can evaluate.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::expression::{Scope, text};
use crate::error::Error;

pub(super) struct Section<'scope> {
    pub(super) place: String,
    pub(super) entries: Map<String, Value>,
    pub(super) scope: &'scope Scope,
}

impl<'scope> Section<'scope> {
    /// The properties of a resource, on top of those in `Globals`.
    pub(super) fn properties(
        logical_id: &str,
        resource: &Value,
        globals: Option<&Value>,
        scope: &'scope Scope,
    ) -> Self {
        let mut merged = globals.cloned().unwrap_or_else(|| Value::Object(Map::new()));
        merge(&mut merged, resource.get("Properties").unwrap_or(&Value::Null));
        let entries = merged.as_object().cloned().unwrap_or_default();
        Self { place: format!("{logical_id}.Properties"), entries, scope }
    }

    pub(super) fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// An error about the entry `name`.
    pub(super) fn invalid(&self, name: &str, reason: impl Into<String>) -> Error {
        invalid(&self.place(name), reason)
    }

    pub(super) fn value(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(value) => self.scope.evaluate(value).map_err(|reason| self.invalid(name, reason)),
        }
    }

    pub(super) fn required<T>(&self, name: &str, found: Option<T>) -> Result<T, Error> {
        found.ok_or_else(|| self.invalid(name, "it is missing"))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        text(&value).map(Some).ok_or_else(|| self.invalid(name, "it must be plain text"))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Error> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let number = text.parse().map_err(|_| self.invalid(name, format!("{text:?} is not a whole number")));
        number.map(Some)
    }

    pub(super) fn boolean(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.text(name)?.as_deref() {
            None => Ok(None),
            Some("false") => Ok(Some(false)),
            Some("true") => Ok(Some(true)),
            Some(other) => Err(self.invalid(name, format!("it must be true or false, not {other:?}"))),
        }
    }

    /// # Errors
    /// When there is another entry. For settings that are dangerous to ignore.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Error> {
        match self.entries.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(self.invalid(unknown, "the local cloud does not support this setting")),
        }
    }

    /// The mapping `name`, not yet evaluated. It is empty if there is none.
    pub(super) fn section(&self, name: &str) -> Result<Self, Error> {
        let entries = match self.entries.get(name) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(entries)) => entries.clone(),
            Some(_) => return Err(self.invalid(name, "it must be a mapping")),
        };
        Ok(Self { place: self.place(name), entries, scope: self.scope })
    }

    /// The list `name`. It is empty if there is none.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Value>, Error> {
        match self.value(name)? {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.invalid(name, "it must be a list")),
        }
    }

    pub(super) fn texts(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut texts = BTreeMap::new();
        for name in self.entries.keys() {
            if let Some(text) = self.text(name)? {
                texts.insert(name.clone(), text);
            }
        }
        Ok(texts)
    }
}

/// Merges as SAM merges `Globals`: mappings are merged, lists joined, other values replaced.
fn merge(base: &mut Value, own: &Value) {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => {
            for (key, value) in own {
                merge(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(own)) => base.extend(own.iter().cloned()),
        (_, Value::Null) => {}
        (base, own) => base.clone_from(own),
    }
}

/// The constant in a text: SAM writes constants of the gateway in single quotes.
pub(super) fn constant(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// Whether the resource has this type.
pub(super) fn is_of_type(resource: &Value, resource_type: &str) -> bool {
    resource.get("Type").and_then(Value::as_str) == Some(resource_type)
}

pub(super) fn invalid(place: &str, reason: impl Into<String>) -> Error {
    Error::Template { place: place.to_owned(), reason: reason.into() }
}
