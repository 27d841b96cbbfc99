//! The template as a whole: as it is written, and for one choice of parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::api::{self, Api};
use super::auth::Auth;
use super::expression::{Scope, text};
use super::function::{self, Function};
use super::section::{Section, is_of_type};
use super::table::{self, Table};
use super::usage_plan::{self, UsagePlan};
use super::{route, yaml};
use crate::error::Error;

/// A template as it is written, with expressions that are not evaluated yet.
#[derive(Debug)]
pub struct Document {
    root: Map<String, Value>,
}

/// A template for one choice of parameters.
#[derive(Debug, Clone)]
pub struct Template {
    pub parameters: BTreeMap<String, String>,
    /// The functions, by logical id.
    pub functions: BTreeMap<String, Function>,
    /// The tables, by logical id.
    pub tables: BTreeMap<String, Table>,
    pub api: Api,
    pub usage_plans: Vec<UsagePlan>,
}

impl Document {
    /// The document at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a template.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::new(format!("cannot read the template {}: {cause}", path.display())))?;
        Self::parse(&text)
    }

    /// The document in `text`.
    ///
    /// # Errors
    /// When it is not a YAML mapping.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match yaml::parse(text).map_err(|reason| Error::template("the top level", reason))? {
            Value::Object(root) => Ok(Self { root }),
            _ => Err(Error::template("the top level", "it must be a mapping with Resources")),
        }
    }

    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.root.get("Parameters").and_then(|parameters| parameters.get(name)).is_some()
    }

    /// The default of the parameter `name`, if the template declares one.
    #[must_use]
    pub fn default_of(&self, name: &str) -> Option<String> {
        text(self.root.get("Parameters")?.get(name)?.get("Default")?)
    }

    /// The template with these parameters, and the defaults of all others.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value, and when the template is invalid.
    pub fn evaluate(&self, overrides: &BTreeMap<String, String>) -> Result<Template, Error> {
        let mut scope = Scope { parameters: self.parameters(overrides)?, ..Scope::default() };
        // A condition cannot depend on another one: all are evaluated before any result is stored.
        let conditions = self.mapping("Conditions")?.into_iter();
        scope.conditions = conditions.map(|(name, condition)| (name, scope.condition(&condition))).collect();
        let resources = self.resources(&scope)?;
        scope.resources = resources.keys().cloned().collect::<BTreeSet<_>>();
        let tables = table::read(&resources, &scope)?;
        scope.tables = tables.values().map(|table| (table.logical_id.clone(), table.name.clone())).collect();
        let functions = resources.iter().filter(|(_, resource)| is_of_type(resource, function::TYPE));
        scope.functions = functions.clone().map(|(logical_id, _)| logical_id.clone()).collect();
        let usage_plans = usage_plan::read(&resources, &scope)?;
        let globals = self.mapping("Globals")?;
        let apis: Vec<_> = resources.iter().filter(|(_, resource)| is_of_type(resource, api::TYPE)).collect();
        let [(logical_id, resource)] = apis.as_slice() else {
            return Err(Error::template("Resources", format!("there must be exactly one {}", api::TYPE)));
        };
        let api = Section::properties(logical_id, resource, globals.get("Api"), &scope)?;
        let auth = Auth::read(&api)?;
        let mut routes = Vec::new();
        let mut by_id = BTreeMap::new();
        for (logical_id, resource) in functions {
            let section = Section::properties(logical_id, resource, globals.get("Function"), &scope)?;
            by_id.insert(logical_id.clone(), function::read(logical_id, resource, &section)?);
            routes.extend(route::read(logical_id, &section, &auth)?);
        }
        let api = api::read(&api, auth, routes)?;
        Ok(Template { parameters: scope.parameters, functions: by_id, tables, api, usage_plans })
    }

    /// The resources without a condition, or with a condition that holds.
    fn resources(&self, scope: &Scope) -> Result<Map<String, Value>, Error> {
        let mut resources = Map::new();
        for (logical_id, resource) in self.mapping("Resources")? {
            let exists = match resource.get("Condition") {
                None => Ok(true),
                Some(Value::String(name)) => scope.holds(name),
                Some(_) => Err("it must be the name of a condition".to_owned()),
            };
            if exists.map_err(|reason| Error::template(&format!("{logical_id}.Condition"), reason))? {
                resources.insert(logical_id, resource);
            }
        }
        Ok(resources)
    }

    fn mapping(&self, name: &str) -> Result<Map<String, Value>, Error> {
        match self.root.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(entries)) => Ok(entries.clone()),
            Some(_) => Err(Error::template(name, "it must be a mapping")),
        }
    }

    fn parameters(&self, overrides: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Error> {
        let declared = self.mapping("Parameters")?;
        if let Some(unknown) = overrides.keys().find(|name| !declared.contains_key(*name)) {
            let known = declared.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(Error::new(format!(
                "the template has no parameter {unknown}; it has {}",
                if known.is_empty() { "none" } else { &known }
            )));
        }
        let mut parameters = BTreeMap::new();
        for (name, declaration) in &declared {
            let value = match (overrides.get(name), declaration.get("Default")) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => text(default).ok_or_else(|| {
                    Error::template(&format!("Parameters.{name}.Default"), "it must be plain text")
                })?,
                (None, None) => {
                    let reason = format!("the parameter {name} needs a value: --parameter {name}=VALUE");
                    return Err(Error::new(reason));
                }
            };
            check_parameter(name, &value, declaration)?;
            parameters.insert(name.clone(), value);
        }
        Ok(parameters)
    }
}

fn check_parameter(name: &str, value: &str, declaration: &Value) -> Result<(), Error> {
    let values = declaration.get("AllowedValues").and_then(Value::as_array);
    let texts = values.map(|values| values.iter().filter_map(text).collect::<Vec<_>>());
    if let Some(allowed) = texts.filter(|allowed| !allowed.iter().any(|allowed| allowed == value)) {
        return Err(Error::new(format!(
            "the parameter {name} must be one of {}, not {value:?}",
            allowed.join(", ")
        )));
    }
    if declaration.get("Type").and_then(Value::as_str) == Some("Number") && value.parse::<f64>().is_err() {
        return Err(Error::new(format!("the parameter {name} must be a number, not {value:?}")));
    }
    Ok(())
}
