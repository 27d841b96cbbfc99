//! The response of an authorizer's function: a policy, and the context that is passed on to the route's
//! function. Access to a method requires a statement that allows the method, and no statement that denies it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::scalar::Scalar;

/// The action of calling an API.
const INVOKE: &str = "execute-api:Invoke";

/// Not `Debug`: the context may hold secrets.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Authorization {
    pub(super) principal_id: String,
    policy_document: Policy,
    #[serde(default)]
    context: BTreeMap<String, Scalar>,
    /// The key of a usage plan.
    #[serde(rename = "usageIdentifierKey")]
    pub(super) usage_identifier: Option<String>,
}

/// Unknown fields are refused: ignoring a condition would grant too much.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Policy {
    #[serde(rename = "Version")]
    _version: IgnoredAny,
    statement: Vec<Statement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Statement {
    effect: Effect,
    action: String,
    resource: String,
}

#[derive(Deserialize, PartialEq, Eq)]
enum Effect {
    Allow,
    Deny,
}

impl Authorization {
    /// Reads the response of an authorizer's function.
    ///
    /// # Errors
    /// Names the invalid field, without its value, which may be a secret.
    pub(super) fn read(payload: &[u8]) -> Result<Self, String> {
        serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(payload))
            .map_err(|error| format!("its response is invalid at {}", error.path()))
    }

    /// Whether the policy allows the method. A denial takes precedence. Methods that no statement matches are
    /// denied.
    pub(super) fn allows(&self, method_arn: &str) -> bool {
        let statements = self.policy_document.statement.iter();
        let mut matching = statements
            .filter(|statement| statement.action == INVOKE && matches(&statement.resource, method_arn))
            .peekable();
        matching.peek().is_some() && matching.all(|statement| statement.effect == Effect::Allow)
    }

    /// The context and the principal for the route's function. All values are text.
    pub(super) fn for_function(&self) -> BTreeMap<&str, String> {
        let context = self.context.iter().map(|(name, value)| (name.as_str(), value.to_string()));
        context.chain([("principalId", self.principal_id.clone())]).collect()
    }
}

/// Whether the text matches the pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("a*", "a/b/c", true),
            ("a*c", "abcbc", true),
            ("a*b*c", "a-b-b-c", true),
            ("*bc", "abcbcb", false),
            ("ab*bc", "abc", false),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn an_invalid_response_is_refused_by_its_field_without_the_value() {
        let valid = r#"{"principalId":"someone","policyDocument":{"Version":"2012-10-17","Statement":[
            {"Effect":"Allow","Action":"execute-api:Invoke","Resource":"*"}]},"context":{"tier":"pro"}}"#;
        assert!(Authorization::read(valid.as_bytes()).is_ok());
        for (right, wrong, field) in [
            (r#""pro""#, r#"["secret"]"#, "context.tier"),
            (r#""someone""#, r#"{"secret":1}"#, "principalId"),
            (r#""Allow""#, r#""secret""#, "policyDocument.Statement[0].Effect"),
            (r#""*"}"#, r#""*","Condition":"secret"}"#, "policyDocument.Statement[0].Condition"),
        ] {
            let message = Authorization::read(valid.replace(right, wrong).as_bytes()).err().unwrap();
            assert_eq!(message, format!("its response is invalid at {field}"));
        }
    }
}
