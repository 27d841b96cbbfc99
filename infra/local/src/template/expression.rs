//! Evaluates `CloudFormation`'s intrinsic functions. Only those that a template needs before there is anything deployed:
//! what a resource is like on AWS (`Fn::GetAtt`) is known of tables and functions only, and refused by name for the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// How deeply conditions may refer to one another, so that a circle of them is an error and not the end of the stack.
const MAX_DEPTH: u8 = 32;

/// What expressions can refer to.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Values of the parameters.
    pub(super) parameters: BTreeMap<String, String>,
    /// Conditions, not yet evaluated.
    pub(super) conditions: Map<String, Value>,
    /// Logical ids of the resources.
    pub(super) resources: BTreeSet<String>,
    /// Names of the tables, by logical id.
    pub(super) tables: BTreeMap<String, String>,
    /// Logical ids of the functions.
    pub(super) functions: BTreeSet<String>,
}

impl Scope {
    /// What `value` comes to; `None` is `AWS::NoValue`.
    ///
    /// # Errors
    /// A sentence about the first expression that cannot be evaluated.
    pub(super) fn evaluate(&self, value: &Value) -> Result<Option<Value>, String> {
        self.evaluate_within(value, 0)
    }

    fn evaluate_within(&self, value: &Value, depth: u8) -> Result<Option<Value>, String> {
        if depth > MAX_DEPTH {
            return Err("it refers to itself, or is nested too deeply".to_owned());
        }
        match value {
            Value::Array(items) => {
                let mut evaluated = Vec::with_capacity(items.len());
                for item in items {
                    evaluated.extend(self.evaluate_within(item, depth + 1)?);
                }
                Ok(Some(Value::Array(evaluated)))
            }
            Value::Object(entries) => {
                if let Some((function, argument)) = intrinsic(entries) {
                    return self.call(function, argument, depth + 1);
                }
                let mut evaluated = Map::new();
                for (key, entry) in entries {
                    if let Some(entry) = self.evaluate_within(entry, depth + 1)? {
                        evaluated.insert(key.clone(), entry);
                    }
                }
                Ok(Some(Value::Object(evaluated)))
            }
            plain => Ok(Some(plain.clone())),
        }
    }

    fn call(&self, function: &str, argument: &Value, depth: u8) -> Result<Option<Value>, String> {
        match function {
            "Ref" => self.reference(text(argument, "Ref")?),
            "Fn::GetAtt" => match argument.as_array().map(Vec::as_slice) {
                Some([Value::String(resource), Value::String(attribute)]) => {
                    self.attribute(resource, attribute).map(Some)
                }
                _ => Err("Fn::GetAtt needs a resource and an attribute".to_owned()),
            },
            "Fn::Sub" => self.substitute(argument, depth).map(|text| Some(Value::String(text))),
            "Fn::If" => match argument.as_array().map(Vec::as_slice) {
                Some([condition, then, otherwise]) => {
                    let holds = self.condition(text(condition, "Fn::If")?, depth)?;
                    self.evaluate_within(if holds { then } else { otherwise }, depth)
                }
                _ => Err("Fn::If needs a condition and two values".to_owned()),
            },
            "Condition" | "Fn::Equals" | "Fn::Not" | "Fn::And" | "Fn::Or" => {
                self.holds(function, argument, depth).map(|holds| Some(Value::Bool(holds)))
            }
            other => Err(format!("the local cloud cannot evaluate {other}")),
        }
    }

    fn reference(&self, name: &str) -> Result<Option<Value>, String> {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        if let Some(value) = self.parameters.get(name) {
            return Ok(Some(Value::from(value.as_str())));
        }
        if let Some(value) = pseudo_parameter(name) {
            return Ok(Some(Value::from(value)));
        }
        if let Some(table) = self.tables.get(name) {
            return Ok(Some(Value::from(table.as_str())));
        }
        // On AWS it is a generated name; here the logical id serves as name.
        if self.resources.contains(name) {
            return Ok(Some(Value::from(name)));
        }
        Err(format!("it refers to {name}, which is neither a parameter nor a resource"))
    }

    fn attribute(&self, resource: &str, attribute: &str) -> Result<Value, String> {
        match (self.tables.get(resource), attribute) {
            (Some(table), "Arn") => Ok(Value::from(crate::table_arn(table))),
            (None, "Arn") if self.functions.contains(resource) => {
                Ok(Value::from(crate::function_arn(resource)))
            }
            _ => Err(format!("the local cloud cannot evaluate Fn::GetAtt {resource}.{attribute}")),
        }
    }

    fn substitute(&self, argument: &Value, depth: u8) -> Result<String, String> {
        let (pattern, variables) = match argument {
            Value::String(pattern) => (pattern.as_str(), None),
            Value::Array(parts) => match parts.as_slice() {
                [Value::String(pattern), Value::Object(variables)] => (pattern.as_str(), Some(variables)),
                _ => return Err("Fn::Sub needs a text, and at most a map of variables".to_owned()),
            },
            _ => return Err("Fn::Sub needs a text".to_owned()),
        };
        let mut result = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            let (name, tail) = after.split_once('}').ok_or("Fn::Sub has a ${ without its }")?;
            if let Some(literal) = name.strip_prefix('!') {
                result.push_str("${");
                result.push_str(literal);
                result.push('}');
            } else {
                let value = match variables.and_then(|variables| variables.get(name)) {
                    Some(variable) => self.evaluate_within(variable, depth)?,
                    None => match name.split_once('.') {
                        Some((resource, attribute)) => Some(self.attribute(resource, attribute)?),
                        None => self.reference(name)?,
                    },
                };
                match value {
                    Some(Value::String(value)) => result.push_str(&value),
                    Some(value @ (Value::Number(_) | Value::Bool(_))) => result.push_str(&value.to_string()),
                    _ => return Err(format!("Fn::Sub cannot put {name} into a text")),
                }
            }
            rest = tail;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn condition(&self, name: &str, depth: u8) -> Result<bool, String> {
        let definition = self.conditions.get(name).ok_or_else(|| format!("there is no condition {name}"))?;
        self.truth(definition, depth + 1).map_err(|reason| format!("in the condition {name}, {reason}"))
    }

    fn truth(&self, value: &Value, depth: u8) -> Result<bool, String> {
        if depth > MAX_DEPTH {
            return Err("a condition refers to itself".to_owned());
        }
        match value.as_object().and_then(intrinsic) {
            Some((function, argument)) => self.holds(function, argument, depth + 1),
            None => Err("a condition must be Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition".to_owned()),
        }
    }

    fn holds(&self, function: &str, argument: &Value, depth: u8) -> Result<bool, String> {
        if function == "Condition" {
            return self.condition(text(argument, "Condition")?, depth);
        }
        let operands = argument.as_array().map(Vec::as_slice).unwrap_or_default();
        match (function, operands) {
            ("Fn::Equals", [left, right]) => {
                let left = self.evaluate_within(left, depth)?.as_ref().map(plain_text);
                Ok(left == self.evaluate_within(right, depth)?.as_ref().map(plain_text))
            }
            ("Fn::Not", [operand]) => Ok(!self.truth(operand, depth)?),
            ("Fn::And", [_, _, ..]) => {
                for operand in operands {
                    if !self.truth(operand, depth)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ("Fn::Or", [_, _, ..]) => {
                for operand in operands {
                    if self.truth(operand, depth)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            ("Fn::Equals" | "Fn::Not" | "Fn::And" | "Fn::Or", _) => {
                Err(format!("{function} has the wrong number of operands"))
            }
            _ => Err(format!("{function} is no condition")),
        }
    }
}

/// The function and its argument, if the object is a call.
fn intrinsic(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut entries_left = entries.iter();
    let (key, argument) = entries_left.next()?;
    let is_call = key == "Ref" || key.starts_with("Fn::") || (key == "Condition" && argument.is_string());
    (is_call && entries_left.next().is_none()).then_some((key.as_str(), argument))
}

fn text<'value>(value: &'value Value, function: &str) -> Result<&'value str, String> {
    value.as_str().ok_or_else(|| format!("{function} needs a name"))
}

/// `5`, `'5'` and a parameter with that value are equal to `CloudFormation`.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn pseudo_parameter(name: &str) -> Option<&'static str> {
    Some(match name {
        "AWS::AccountId" => crate::ACCOUNT_ID,
        "AWS::Partition" => "aws",
        "AWS::Region" => crate::REGION,
        "AWS::StackName" => "local",
        "AWS::URLSuffix" => "amazonaws.com",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> Scope {
        let conditions = json!({
            "CacheIsOn": {"Fn::Equals": [{"Ref": "GatewayCache"}, "on"]},
            "CacheIsOff": {"Fn::Not": [{"Condition": "CacheIsOn"}]},
            "Never": {"Fn::And": [{"Condition": "CacheIsOn"}, {"Condition": "CacheIsOff"}]},
            "Always": {"Fn::Or": [{"Condition": "CacheIsOn"}, {"Condition": "CacheIsOff"}]},
            "Circle": {"Condition": "Circle"},
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
    fn references_are_parameters_pseudo_parameters_and_logical_ids() {
        let scope = scope();
        let value = json!([{"Ref": "GatewayCache"}, {"Ref": "AWS::Region"}, {"Ref": "Queue"}]);
        assert_eq!(scope.evaluate(&value).unwrap().unwrap(), json!(["on", crate::REGION, "Queue"]));
    }

    #[test]
    fn a_table_has_its_name_and_an_arn() {
        let value = json!([
            {"Ref": "HistoryTable"},
            {"Fn::Sub": "${HistoryTable}/${HistoryTable.Arn}"},
            {"Fn::GetAtt": ["HistoryTable", "Arn"]},
        ]);
        let arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/history";
        let expected = json!(["history", format!("history/{arn}"), arn]);
        assert_eq!(scope().evaluate(&value).unwrap().unwrap(), expected);
    }

    #[test]
    fn a_function_has_an_arn() {
        let value = json!({"Fn::GetAtt": ["MayorFunction", "Arn"]});
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:MayorFunction";
        assert_eq!(scope().evaluate(&value).unwrap().unwrap(), arn);
    }

    #[test]
    fn no_value_removes_the_property() {
        let value = json!({"kept": 1, "gone": {"Fn::If": ["CacheIsOff", 2, {"Ref": "AWS::NoValue"}]}});
        assert_eq!(scope().evaluate(&value).unwrap().unwrap(), json!({"kept": 1}));
    }

    #[test]
    fn conditions_combine() {
        for (condition, expected) in
            [("CacheIsOn", "yes"), ("CacheIsOff", "no"), ("Never", "no"), ("Always", "yes")]
        {
            let value = json!({"Fn::If": [condition, "yes", "no"]});
            assert_eq!(scope().evaluate(&value).unwrap().unwrap(), json!(expected), "{condition}");
        }
    }

    #[test]
    fn substitution_fills_in_names_and_leaves_literals() {
        let scope = scope();
        let value =
            json!({"Fn::Sub": "{{resolve:secretsmanager:${GatewayCache}}}/${!Literal}/${AWS::Partition}"});
        assert_eq!(
            scope.evaluate(&value).unwrap().unwrap(),
            json!("{{resolve:secretsmanager:on}}/${Literal}/aws")
        );
        let value = json!({"Fn::Sub": ["${one}-${GatewayCache}", {"one": 1}]});
        assert_eq!(scope.evaluate(&value).unwrap().unwrap(), json!("1-on"));
    }

    #[test]
    fn what_cannot_be_evaluated_is_named() {
        for (value, named) in [
            (json!({"Ref": "Nothing"}), "Nothing"),
            (json!({"Fn::GetAtt": ["Queue", "Arn"]}), "Fn::GetAtt Queue.Arn"),
            (json!({"Fn::GetAtt": ["HistoryTable", "StreamArn"]}), "HistoryTable.StreamArn"),
            (json!({"Fn::Sub": "${Queue.Arn}"}), "Queue.Arn"),
            (json!({"Fn::If": ["Absent", 1, 2]}), "Absent"),
            (json!({"Fn::If": ["Circle", 1, 2]}), "itself"),
            (json!({"Fn::Sub": "${Open"}), "without its }"),
            (json!({"Fn::Equals": [1]}), "Fn::Equals"),
        ] {
            let said = scope().evaluate(&value).unwrap_err();
            assert!(said.contains(named), "{value}: {said}");
        }
    }
}
