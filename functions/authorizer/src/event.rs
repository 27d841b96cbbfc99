//! The gateway's event: a request with the key that the authorizer checks.

use std::collections::HashMap;

use common::request::RequestContext;
use common::time::UnixMilliseconds;
use serde::Deserialize;

/// The header with the key (`functions/README.md`, Keys).
const HEADER: &str = "x-api-key";

/// The fields of the event that the authorizer reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorizerEvent {
    method_arn: String,
    headers: Option<HashMap<String, String>>,
    multi_value_headers: Option<HashMap<String, Vec<String>>>,
    #[serde(default)]
    request_context: RequestContext,
}

impl AuthorizerEvent {
    /// When the gateway received the request.
    pub(crate) fn time(&self) -> UnixMilliseconds {
        self.request_context.time()
    }

    /// Returns the key in the header. `None` if the header is absent or repeats: the gateway caches the
    /// policy under one of the values, and the authorizer might have checked another value.
    pub(crate) fn key(&self) -> Option<&str> {
        let lists = self.multi_value_headers.iter().flatten().filter(|(name, _)| is_header(name));
        let mut values: Vec<&String> = lists.flat_map(|(_, values)| values).collect();
        if self.multi_value_headers.is_none() {
            let single = self.headers.iter().flatten().filter(|(name, _)| is_header(name));
            values = single.map(|(_, value)| value).collect();
        }
        match values.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the resource of the policy: `GET` of every route of the stage, because the gateway caches one
    /// policy for all routes. `None` if the ARN is invalid.
    pub(crate) fn whole_stage(&self) -> Option<String> {
        // arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/METHOD/PATH
        let mut parts = self.method_arn.splitn(3, '/');
        let api = parts.next()?;
        let stage = parts.next()?;
        let has_method = parts.next().is_some_and(|method| !method.is_empty());
        (api.starts_with("arn:") && !stage.is_empty() && has_method).then(|| format!("{api}/{stage}/GET/*"))
    }
}

fn is_header(name: &str) -> bool {
    name.eq_ignore_ascii_case(HEADER)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: &serde_json::Value) -> AuthorizerEvent {
        serde_json::from_value(event.clone()).unwrap()
    }

    #[test]
    fn the_key_is_in_one_header_of_any_case() {
        let of = |headers, lists| {
            let event = event(&json!({"methodArn": "", "headers": headers, "multiValueHeaders": lists}));
            event.key().map(str::to_owned)
        };
        let none = json!(null);
        let key = Some("k".to_owned());
        for name in ["x-api-key", "X-API-Key", "X-Api-Key"] {
            assert_eq!(of(json!({name: "k"}), json!({name: ["k"]})), key);
            assert_eq!(of(none.clone(), json!({name: ["k"]})), key);
            assert_eq!(of(json!({name: "k"}), none.clone()), key);
        }
        assert_eq!(of(json!({"x-api-key": "k"}), json!({"x-api-key": ["k", "k"]})), None);
        assert_eq!(of(none.clone(), json!({"x-api-key": ["k"], "X-API-KEY": ["k"]})), None);
        assert_eq!(of(json!({"authorization": "k"}), json!({"authorization": ["k"]})), None);
        assert_eq!(of(none.clone(), none), None);
    }

    #[test]
    fn a_policy_covers_the_whole_stage() {
        let of = |arn: &str| event(&json!({"methodArn": arn})).whole_stage();
        let api = "arn:aws:execute-api:eu-central-1:123456789012:abcdefghij";
        let whole = Some(format!("{api}/live/GET/*"));
        for method in ["GET/v1/mayor", "GET/", "GET/v1/profile/GET/x", "POST/v1/bazaar"] {
            assert_eq!(of(&format!("{api}/live/{method}")), whole);
        }
        for arn in ["", "arn:aws", api, &format!("{api}/live"), &format!("{api}//GET/"), "x/live/GET/"] {
            assert_eq!(of(arn), None, "{arn}");
        }
    }
}
