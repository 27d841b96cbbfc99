//! Expressions in `template.yaml`.

use std::collections::BTreeMap;

use local::template::{Document, Template};
use serde_json::{Value, json};

/// Evaluates an expression, given as JSON, as the value of an environment variable and as a condition.
///
/// # Panics
/// If plain text changes, or a condition selects nothing.
pub fn template_expression(data: &[u8]) {
    let Ok(expression) = serde_json::from_slice::<Value>(data) else { return };
    if let Some(template) = evaluate(&expression, &json!({"Fn::Equals": [1, 1]}))
        && let Some(text) = expression.as_str().filter(|text| text.is_ascii())
    {
        assert_eq!(variable(&template, "VALUE"), Some(text));
    }
    if let Some(template) = evaluate(&Value::Null, &expression) {
        let choice = variable(&template, "CHOICE");
        assert!(matches!(choice, Some("yes" | "no")), "{choice:?}");
    }
}

fn variable<'a>(template: &'a Template, name: &str) -> Option<&'a str> {
    template.functions.get("Reader")?.environment.get(name).map(String::as_str)
}

/// The template with this value and this condition, if it is valid. JSON is YAML.
fn evaluate(value: &Value, condition: &Value) -> Option<Template> {
    let text = json!({
        "Parameters": {"Stage": {"Type": "String", "Default": "live"}},
        "Conditions": {"Chosen": condition},
        "Resources": {
            "Api": {"Type": "AWS::Serverless::Api", "Properties": {"StageName": {"Ref": "Stage"}}},
            "Rows": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                },
            },
            "Reader": {
                "Type": "AWS::Serverless::Function",
                "Metadata": {"BuildProperties": {"Binary": "reader"}},
                "Properties": {
                    "Environment": {"Variables": {"VALUE": value, "CHOICE": {"Fn::If": ["Chosen", "yes", "no"]}}},
                },
            },
        },
    });
    Document::parse(&text.to_string()).ok()?.evaluate(&BTreeMap::new()).ok()
}
