//! The policy that an authorizer answers with, and whether it lets a request in: only what a statement allows and none
//! denies.

use serde_json::{Map, Value};

/// What asking the API for something is called.
const INVOKE: &str = "execute-api:invoke";

/// A policy document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy(Vec<Statement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    allows: bool,
    /// In lower case: actions are compared without regard to it.
    actions: Vec<String>,
    resources: Vec<String>,
}

impl Policy {
    /// The policy that `document` says.
    ///
    /// # Errors
    /// What API Gateway would not take, or the local cloud cannot evaluate. Values are not repeated: they may be secrets.
    pub(super) fn read(document: &Value) -> Result<Self, String> {
        let document = document.as_object().ok_or("policyDocument must be an object")?;
        known(document, &["Version", "Id", "Statement"], "policyDocument")?;
        let statements = match document.get("Statement") {
            Some(Value::Array(statements)) => statements.as_slice(),
            Some(statement @ Value::Object(_)) => std::slice::from_ref(statement),
            _ => return Err("policyDocument.Statement must be a list of statements".to_owned()),
        };
        statements.iter().map(Statement::read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the method may be called. A denial goes before every permission, and what nothing is said about is denied.
    pub(super) fn allows(&self, method_arn: &str) -> bool {
        let mut matching = self.0.iter().filter(|statement| statement.is_about(method_arn)).peekable();
        matching.peek().is_some() && matching.all(|statement| statement.allows)
    }
}

impl Statement {
    fn read(statement: &Value) -> Result<Self, String> {
        let statement = statement.as_object().ok_or("a statement must be an object")?;
        // What a condition, a NotAction or a NotResource takes away must not be let in by passing it over.
        known(statement, &["Sid", "Effect", "Action", "Resource"], "a statement")?;
        let allows = match statement.get("Effect").and_then(Value::as_str) {
            Some("Allow") => true,
            Some("Deny") => false,
            _ => return Err("Effect must be Allow or Deny".to_owned()),
        };
        let mut actions = texts(statement, "Action")?;
        for action in &mut actions {
            action.make_ascii_lowercase();
        }
        Ok(Self { allows, actions, resources: texts(statement, "Resource")? })
    }

    fn is_about(&self, method_arn: &str) -> bool {
        self.actions.iter().any(|action| matches(action, INVOKE))
            && self.resources.iter().any(|resource| matches(resource, method_arn))
    }
}

fn known(object: &Map<String, Value>, names: &[&str], what: &str) -> Result<(), String> {
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        // Names are the policy's own; what else stands there may be anything.
        Some(name) if ["Condition", "NotAction", "NotResource", "Principal"].contains(&name.as_str()) => {
            Err(format!("{name} in {what} is refused by API Gateway, or not evaluated here"))
        }
        Some(_) => Err(format!("{what} has an element other than {}", names.join(", "))),
        None => Ok(()),
    }
}

fn texts(object: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let texts: Option<Vec<String>> = match object.get(name) {
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    texts
        .filter(|texts| !texts.is_empty())
        .ok_or_else(|| format!("{name} must be a text, or a list of texts"))
}

/// Whether `text` is what `pattern` says, in which `*` is any characters, also none, and `?` is one.
fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to go on when the characters after the last `*` do not fit: the `*` takes one more.
    let mut retry = None;
    loop {
        let mut rest = text.clone();
        match (pattern.next(), rest.next()) {
            (None, None) => return true,
            (Some('*'), _) => retry = Some((pattern.clone(), text.clone())),
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => text = rest,
            _ => {
                let Some((after_star, mut skipped)) = retry.take() else { return false };
                if skipped.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_star.clone(), skipped.clone());
                retry = Some((after_star, skipped));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MAYOR: &str = "arn:aws:execute-api:eu-central-1:123456789012:api/live/GET/v1/mayor";
    const ALL: &str = "arn:aws:execute-api:eu-central-1:123456789012:api/live/GET/*";

    fn allows(statements: &Value) -> bool {
        let document = json!({"Version": "2012-10-17", "Statement": statements});
        Policy::read(&document).unwrap().allows(MAYOR)
    }

    fn statement(effect: &str, resource: &Value) -> Value {
        json!({"Effect": effect, "Action": "execute-api:Invoke", "Resource": resource})
    }

    #[test]
    fn what_a_statement_allows_is_let_in() {
        for resource in [json!(ALL), json!(MAYOR), json!("*"), json!(["arn:other", ALL])] {
            assert!(allows(&json!([statement("Allow", &resource)])), "{resource}");
        }
        assert!(allows(&statement("Allow", &json!(ALL))), "a single statement needs no list");
        for action in [json!("execute-api:*"), json!("*"), json!(["s3:Get", "Execute-API:invoke"])] {
            let allowed = json!([{"Sid": "1", "Effect": "Allow", "Action": action, "Resource": ALL}]);
            assert!(allows(&allowed), "{action}");
        }
    }

    #[test]
    fn what_nothing_is_said_about_is_denied() {
        for resource in [json!(ALL.replace("GET", "POST")), json!(ALL.replace("live", "test")), json!("")] {
            assert!(!allows(&json!([statement("Allow", &resource)])), "{resource}");
        }
        assert!(!allows(&json!([])));
        assert!(!allows(&json!([{"Effect": "Allow", "Action": "execute-api:Invalidate*", "Resource": ALL}])));
    }

    #[test]
    fn a_denial_goes_first_wherever_it_stands() {
        let (allow, deny) = (statement("Allow", &json!(ALL)), statement("Deny", &json!(MAYOR)));
        assert!(!allows(&json!([allow, deny])) && !allows(&json!([deny, allow])));
        let elsewhere = statement("Deny", &json!(MAYOR.replace("mayor", "items")));
        assert!(allows(&json!([elsewhere, allow])));
    }

    #[test]
    fn a_star_is_any_characters_and_a_question_mark_is_one() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("a*", "a/b/c", true),
            ("a*c", "abcbc", true),
            ("a*b*c", "a-b-b-c", true),
            ("*bc", "abcbcb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a?", "aé", true),
            ("a", "ab", false),
            ("ab", "a", false),
            ("**", "x", true),
            ("[a]", "a", false),
            ("*a*a*a*a*a*a*a*a*a*b", &"a".repeat(200), false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_refused_without_repeating_it() {
        let fine = statement("Allow", &json!("secret"));
        let with = |name: &str, value: Value| {
            let mut changed = fine.clone();
            changed[name] = value;
            json!({"Statement": [changed]})
        };
        for document in [
            json!(null),
            json!("secret"),
            json!({}),
            json!({"Statement": "secret"}),
            json!({"Statement": ["secret"]}),
            json!({"Statement": [], "secret": 1}),
            with("Condition", Value::Null),
            with("Condition", json!({"secret": 1})),
            with("NotAction", json!("secret")),
            with("secret", json!(1)),
            with("Effect", json!("allow")),
            with("Effect", Value::Null),
            with("Action", Value::Null),
            with("Action", json!([])),
            with("Resource", json!([1])),
        ] {
            let said = Policy::read(&document).unwrap_err();
            assert!(!said.contains("secret"), "{document}: {said}");
        }
    }
}
