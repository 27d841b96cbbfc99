//! Evaluates `CloudFormation`'s intrinsic functions, as far as the template uses them. Before a deployment, `Fn::GetAtt`
//! knows only the ARNs of tables and functions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::arn::{REGION, function_arn, table_arn};

/// What expressions can refer to.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The values of the parameters.
    pub(super) parameters: BTreeMap<String, String>,
    /// The conditions, not yet evaluated.
    pub(super) conditions: Map<String, Value>,
    /// The logical ids of the resources.
    pub(super) resources: BTreeSet<String>,
    /// The names of the tables, by logical id.
    pub(super) tables: BTreeMap<String, String>,
    /// The logical ids of the functions.
    pub(super) functions: BTreeSet<String>,
}

impl Scope {
    /// The value of an expression; `None` stands for `AWS::NoValue`.
    ///
    /// # Errors
    /// A sentence about the first expression that cannot be evaluated.
    pub(super) fn evaluate(&self, value: &Value) -> Result<Option<Value>, String> {
        match value {
            Value::Array(items) => {
                let mut evaluated = Vec::with_capacity(items.len());
                for item in items {
                    evaluated.extend(self.evaluate(item)?);
                }
                Ok(Some(Value::Array(evaluated)))
            }
            Value::Object(entries) => {
                if let Some((function, argument)) = intrinsic(entries) {
                    return self.call(function, argument);
                }
                let mut evaluated = Map::new();
                for (key, entry) in entries {
                    if let Some(entry) = self.evaluate(entry)? {
                        evaluated.insert(key.clone(), entry);
                    }
                }
                Ok(Some(Value::Object(evaluated)))
            }
            scalar => Ok(Some(scalar.clone())),
        }
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
            "AWS::StackName" => "local",
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
        let condition = self.conditions.get(name).ok_or_else(|| format!("there is no condition {name}"))?;
        self.condition(condition).map_err(|reason| format!("condition {name}: {reason}"))
    }

    fn condition(&self, condition: &Value) -> Result<bool, String> {
        let call = condition.as_object().and_then(intrinsic);
        let (function, operands) = match call {
            Some((function, Value::Array(operands))) => (function, operands.as_slice()),
            _ => ("", [].as_slice()),
        };
        match (function, operands) {
            // CloudFormation compares scalars as text.
            ("Fn::Equals", [left, right]) => Ok(self.operand(left)? == self.operand(right)?),
            ("Fn::Not", [operand]) => Ok(!self.condition(operand)?),
            _ => Err("it must be Fn::Equals with two operands or Fn::Not with one".to_owned()),
        }
    }

    /// The text that a condition compares. It cannot depend on a condition, so no condition depends on itself.
    fn operand(&self, operand: &Value) -> Result<Option<String>, String> {
        let is_allowed = match operand {
            Value::Array(_) => false,
            Value::Object(entries) => intrinsic(entries).is_some_and(|(function, _)| function != "Fn::If"),
            _ => true,
        };
        if !is_allowed {
            return Err("Fn::Equals must compare texts, without Fn::If".to_owned());
        }
        Ok(self.evaluate(operand)?.as_ref().and_then(text))
    }
}

/// The function and its argument, if the object is a call.
fn intrinsic(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut entries = entries.iter();
    let (key, argument) = entries.next()?;
    let is_call = key == "Ref" || key.starts_with("Fn::");
    (is_call && entries.next().is_none()).then_some((key.as_str(), argument))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> Scope {
        let conditions = json!({
            "CacheIsOn": {"Fn::Equals": [{"Ref": "GatewayCache"}, "on"]},
            "CacheIsOff": {"Fn::Not": [{"Fn::Equals": [{"Ref": "GatewayCache"}, "on"]}]},
            "Odd": {"Fn::Equals": [1]},
            "Circular": {"Fn::Equals": [{"Fn::If": ["Circular", 1, 2]}, 1]},
            "List": {"Fn::Equals": [[{"Fn::If": ["List", 1, 2]}], 1]},
        });
        Scope {
            parameters: BTreeMap::from([("GatewayCache".to_owned(), "on".to_owned())]),
            conditions: conditions.as_object().unwrap().clone(),
            resources: BTreeSet::from(["HistoryTable".to_owned(), "Queue".to_owned()]),
            tables: BTreeMap::from([("HistoryTable".to_owned(), "history".to_owned())]),
            functions: BTreeSet::from(["MayorFunction".to_owned()]),
        }
    }

    #[test]
    fn expressions_are_evaluated() {
        let table = "arn:aws:dynamodb:eu-central-1:123456789012:table/history";
        for (expression, expected) in [
            (json!([{"Ref": "GatewayCache"}, {"Ref": "Queue"}]), json!(["on", "Queue"])),
            (json!({"Ref": "AWS::Region"}), json!("eu-central-1")),
            (
                json!({"Fn::Sub": "{{resolve:${GatewayCache}}}/${AWS::StackName}"}),
                json!("{{resolve:on}}/local"),
            ),
            (json!({"Ref": "HistoryTable"}), json!("history")),
            (json!({"Fn::Sub": "${HistoryTable}/${HistoryTable.Arn}"}), json!(format!("history/{table}"))),
            (json!({"Fn::GetAtt": ["HistoryTable", "Arn"]}), json!(table)),
            (
                json!({"Fn::GetAtt": ["MayorFunction", "Arn"]}),
                json!("arn:aws:lambda:eu-central-1:123456789012:function:MayorFunction"),
            ),
            (json!({"Fn::If": ["CacheIsOn", 1, 2]}), json!(1)),
            (
                json!({"kept": 1, "gone": {"Fn::If": ["CacheIsOff", 2, {"Ref": "AWS::NoValue"}]}}),
                json!({"kept": 1}),
            ),
        ] {
            assert_eq!(scope().evaluate(&expression), Ok(Some(expected)), "{expression}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_evaluated_is_named() {
        for (expression, named) in [
            (json!({"Ref": "Nothing"}), "Nothing"),
            (json!({"Fn::GetAtt": ["Queue", "Arn"]}), "Fn::GetAtt Queue.Arn"),
            (json!({"Fn::Sub": "${HistoryTable.StreamArn}"}), "HistoryTable.StreamArn"),
            (json!({"Fn::Sub": "${Open"}), "without a }"),
            (json!({"Fn::If": ["Absent", 1, 2]}), "Absent"),
            (json!({"Fn::If": ["Odd", 1, 2]}), "condition Odd"),
            (json!({"Fn::If": ["Circular", 1, 2]}), "condition Circular: Fn::Equals must compare texts"),
            (json!({"Fn::If": ["List", 1, 2]}), "condition List: Fn::Equals must compare texts"),
            (json!({"Fn::Join": ["", []]}), "Fn::Join"),
        ] {
            let message = scope().evaluate(&expression).unwrap_err();
            assert!(message.contains(named), "{expression}: {message}");
        }
    }
}
