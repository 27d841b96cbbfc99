//! A mapping in the template. Its entries are evaluated where possible: entries that are never read may use
//! expressions that only AWS can evaluate.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::expression::{Scope, text};
use crate::error::Error;

pub(super) struct Section<'scope> {
    pub(super) place: String,
    pub(super) entries: Map<String, Value>,
    pub(super) scope: &'scope Scope,
}

impl<'scope> Section<'scope> {
    /// The properties of a resource, merged over the `Globals`.
    ///
    /// # Errors
    /// When they are not a mapping.
    pub(super) fn properties(
        logical_id: &str,
        resource: &Value,
        globals: Option<&Value>,
        scope: &'scope Scope,
    ) -> Result<Self, Error> {
        let mut merged = globals.cloned().unwrap_or_default();
        merge(&mut merged, resource.get("Properties").unwrap_or(&Value::Null));
        let place = format!("{logical_id}.Properties");
        let evaluated = scope.evaluate(&merged).map_err(|reason| Error::template(&place, reason))?;
        Self::of(place, evaluated, scope)
    }

    /// The mapping `value`; empty if there is no value.
    fn of(place: String, value: Option<Value>, scope: &'scope Scope) -> Result<Self, Error> {
        match value {
            None | Some(Value::Null) => Ok(Self { place, entries: Map::new(), scope }),
            Some(Value::Object(entries)) => Ok(Self { place, entries, scope }),
            Some(_) => Err(Error::template(&place, "it must be a mapping")),
        }
    }

    pub(super) fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// An error about the entry `name`.
    pub(super) fn invalid(&self, name: &str, reason: impl Display) -> Error {
        Error::template(&self.place(name), reason)
    }

    pub(super) fn value(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(value) => self.scope.evaluate(value).map_err(|reason| self.invalid(name, reason)),
        }
    }

    pub(super) fn required_text(&self, name: &str) -> Result<String, Error> {
        self.required(name, self.text(name)?)
    }

    pub(super) fn required<T>(&self, name: &str, found: Option<T>) -> Result<T, Error> {
        found.ok_or_else(|| self.invalid(name, "it is missing"))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        text(&value).map(Some).ok_or_else(|| self.invalid(name, "it must be plain text"))
    }

    pub(super) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Error> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let number = text.parse().map_err(|_| self.invalid(name, format!("{text:?} is not a valid number")));
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

    /// Checks that there are only known entries, for settings that are dangerous to ignore.
    ///
    /// # Errors
    /// When there is another entry.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Error> {
        match self.entries.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(self.invalid(unknown, "the local cloud does not support this setting")),
        }
    }

    /// The mapping `name`; empty if it is absent.
    pub(super) fn section(&self, name: &str) -> Result<Self, Error> {
        Self::of(self.place(name), self.value(name)?, self.scope)
    }

    /// The list `name` of mappings; empty if it is absent.
    pub(super) fn sections(&self, name: &str) -> Result<Vec<Self>, Error> {
        let items = match self.value(name)? {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.invalid(name, "it must be a list")),
        };
        let place = |position| format!("{}[{position}]", self.place(name));
        let numbered = items.into_iter().enumerate();
        numbered.map(|(position, item)| Self::of(place(position), Some(item), self.scope)).collect()
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

pub(super) fn is_of_type(resource: &Value, resource_type: &str) -> bool {
    resource.get("Type").and_then(Value::as_str) == Some(resource_type)
}
