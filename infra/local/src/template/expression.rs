//! Evaluates the intrinsic functions of `CloudFormation` that the template uses. Without a deployment,
//! `Fn::GetAtt` can return only the ARNs of tables and functions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::arn::{REGION, STACK, function_arn, table_arn};

/// The names that expressions can refer to.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) parameters: BTreeMap<String, String>,
    /// Whether each condition holds, or why it cannot be evaluated.
    pub(super) conditions: BTreeMap<String, Result<bool, String>>,
    /// The logical ids of the resources.
    pub(super) resources: BTreeSet<String>,
    /// The names of the tables, by logical id.
    pub(super) tables: BTreeMap<String, String>,
    /// The logical ids of the functions.
    pub(super) functions: BTreeSet<String>,
}

impl Scope {
    /// The value of an expression; `None` stands for `AWS::NoValue`. An expression within a list or a mapping
    /// stays unchanged if it cannot be evaluated.
    ///
    /// # Errors
    /// A sentence about the expression, if it cannot be evaluated.
    pub(super) fn evaluate(&self, value: &Value) -> Result<Option<Value>, String> {
        if let Some((function, argument)) = value.as_object().and_then(intrinsic) {
            return self.call(function, argument);
        }
        let within = |value: &Value| self.evaluate(value).unwrap_or_else(|_| Some(value.clone()));
        Ok(Some(match value {
            Value::Array(items) => items.iter().filter_map(within).collect(),
            Value::Object(entries) => {
                entries.iter().filter_map(|(key, entry)| Some((key.clone(), within(entry)?))).collect()
            }
            scalar => scalar.clone(),
        }))
    }

    fn call(&self, function: &str, argument: &Value) -> Result<Option<Value>, String> {
        let arguments = argument.as_array().map_or(std::slice::from_ref(argument), Vec::as_slice);
        match (function, arguments) {
            ("Ref", [Value::String(name)]) => self.reference(name),
            ("Fn::GetAtt", [Value::String(resource), Value::String(attribute)]) => {
                self.attribute(resource, attribute).map(Some)
            }
            ("Fn::Sub", [Value::String(pattern)]) => self.substitute(pattern).map(Some),
            ("Fn::If", [Value::String(name), then, otherwise]) => {
                self.evaluate(if self.holds(name)? { then } else { otherwise })
            }
            _ => Err(format!("the local cloud cannot evaluate {function} with these arguments")),
        }
    }

    fn reference(&self, name: &str) -> Result<Option<Value>, String> {
        let value = match name {
            "AWS::NoValue" => return Ok(None),
            "AWS::Region" => REGION,
            "AWS::StackName" => STACK,
            _ => match self.parameters.get(name).or_else(|| self.tables.get(name)) {
                Some(value) => value,
                // On AWS, other resources have a generated name.
                None if self.resources.contains(name) => name,
                None => return Err(format!("there is no parameter or resource {name}")),
            },
        };
        Ok(Some(Value::from(value)))
    }

    fn attribute(&self, resource: &str, attribute: &str) -> Result<Value, String> {
        match (self.tables.get(resource), attribute) {
            (Some(table), "Arn") => Ok(Value::from(table_arn(table))),
            (None, "Arn") if self.functions.contains(resource) => Ok(Value::from(function_arn(resource))),
            _ => Err(format!("the local cloud cannot evaluate Fn::GetAtt {resource}.{attribute}")),
        }
    }

    fn substitute(&self, pattern: &str) -> Result<Value, String> {
        let mut result = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            let (name, tail) = after.split_once('}').ok_or("Fn::Sub has a ${ without a }")?;
            let value = match name.split_once('.') {
                Some((resource, attribute)) => Some(self.attribute(resource, attribute)?),
                None => self.reference(name)?,
            };
            result.push_str(value.as_ref().and_then(Value::as_str).unwrap_or_default());
            rest = tail;
        }
        result.push_str(rest);
        Ok(Value::String(result))
    }

    /// Whether the condition with this name holds.
    ///
    /// # Errors
    /// A sentence, if there is no such condition or it cannot be evaluated.
    pub(super) fn holds(&self, name: &str) -> Result<bool, String> {
        let holds = self.conditions.get(name).ok_or_else(|| format!("there is no condition {name}"))?;
        holds.clone().map_err(|reason| format!("condition {name}: {reason}"))
    }

    /// Whether a condition holds, from its expression.
    ///
    /// # Errors
    /// A sentence, if it cannot be evaluated.
    pub(super) fn condition(&self, condition: &Value) -> Result<bool, String> {
        let call = condition.as_object().and_then(intrinsic);
        let operands = call.and_then(|(_, operands)| operands.as_array()).map(Vec::as_slice);
        match (call, operands) {
            (Some(("Fn::Equals", _)), Some([left, right])) => {
                // CloudFormation compares scalars as text.
                let operand = |operand| {
                    let value = self.evaluate(operand)?.unwrap_or_default();
                    text(&value).ok_or("Fn::Equals must compare texts".to_owned())
                };
                Ok(operand(left)? == operand(right)?)
            }
            (Some(("Fn::Not", _)), Some([operand])) => Ok(!self.condition(operand)?),
            (Some(("Fn::And", _)), Some(operands)) => {
                operands.iter().try_fold(true, |all, operand| Ok(all && self.condition(operand)?))
            }
            _ => Err("it must be Fn::Equals with two operands, Fn::Not with one, or Fn::And".to_owned()),
        }
    }
}

/// The function and its argument, if the object is a call.
fn intrinsic(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (key, argument) = entries.iter().next()?;
    let is_call = key == "Ref" || key.starts_with("Fn::");
    (is_call && entries.len() == 1).then_some((key.as_str(), argument))
}

/// A scalar as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}
