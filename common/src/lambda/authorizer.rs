//! The function that the gateway asks whether a request may be answered (a Lambda authorizer of type REQUEST). It answers
//! with a policy; that a key is no key it says by failing with exactly `Unauthorized`, which the gateway turns into a 401.
//! Every other failure is a 500: nobody gets in because something is broken.

use std::collections::HashMap;
use std::error::Error as StandardError;
use std::future::Future;
use std::time::Duration;

use lambda_http::{Context, LambdaEvent};
use lambda_runtime::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{
    Error, LoggedAs, StartError, failed_invocation, guarded, milliseconds, own_deadline, serve, set_up,
};
use crate::auth::{ApiKey, Decision, KeyId, Refusal, Tier};
use crate::config::Config;
use crate::error::{INTERNAL_MESSAGE, chain};
use crate::invocation::Invocation;
use crate::request::RequestContext;

/// The header that carries the key (`decisions.md`).
const HEADER: &str = "x-api-key";

/// What the gateway takes for a 401, word for word.
const UNAUTHORIZED: &str = "Unauthorized";

/// What decides about keys.
pub trait Authorizer: Sized {
    /// The function's name: its crate, its binary, its folder.
    const NAME: &'static str;

    /// The authorizer as it starts, before its first event.
    ///
    /// # Errors
    /// If it cannot work with this configuration.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first event will need.
    fn warm_up(&self) -> impl Future<Output = ()>;

    /// What becomes of a request with `key`, a well-formed one.
    ///
    /// # Errors
    /// Why that cannot be found out.
    fn decide(
        &self,
        key: &ApiKey,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<Decision, Box<dyn StandardError + Send + Sync>>>;
}

/// Runs the authorizer `A` until Lambda ends the process.
///
/// # Errors
/// If the authorizer cannot start or the Runtime API is gone; the cause is in the log.
pub async fn run_authorizer<A: Authorizer>() -> Result<(), Error> {
    let instance = set_up(LoggedAs::Function(A::NAME), |config| {
        Ok(Instance { authorizer: A::new(config)?, is_cold: true.into() })
    })?;
    instance.authorizer.warm_up().await;
    serve(|event| instance.invoke(event)).await
}

/// The fields of the gateway's event that count.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthorizerEvent {
    method_arn: String,
    headers: Option<HashMap<String, String>>,
    multi_value_headers: Option<HashMap<String, Vec<String>>>,
    #[serde(default)]
    request_context: RequestContext,
}

impl AuthorizerEvent {
    /// What the header holds; nothing if it is there more than once: the gateway remembers what it is told under one of
    /// the values, and that would have to be the right one.
    fn key(&self) -> Option<&str> {
        let lists = self.multi_value_headers.iter().flatten().filter(|(name, _)| is_header(name));
        let mut lists: Vec<&String> = lists.flat_map(|(_, values)| values).collect();
        if self.multi_value_headers.is_none() {
            let single = self.headers.iter().flatten().filter(|(name, _)| is_header(name));
            lists = single.map(|(_, value)| value).collect();
        }
        match lists.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Every route of the stage: the gateway remembers the answer for all of them. `None` where the ARN is none.
    fn whole_stage(&self) -> Option<String> {
        // arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/METHOD/PATH
        let mut parts = self.method_arn.splitn(3, '/');
        let (api, stage) = (parts.next()?, parts.next()?);
        let is_method = parts.next().is_some_and(|method| !method.is_empty());
        (api.starts_with("arn:") && !stage.is_empty() && is_method).then(|| format!("{api}/{stage}/GET/*"))
    }
}

fn is_header(name: &str) -> bool {
    name.eq_ignore_ascii_case(HEADER)
}

/// The answer that the gateway reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    principal_id: String,
    policy_document: PolicyDocument,
    /// What the functions and the access log get to see.
    context: AnswerContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_identifier_key: Option<KeyId>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct PolicyDocument {
    version: &'static str,
    statement: [Statement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Statement {
    action: &'static str,
    effect: &'static str,
    resource: String,
}

#[derive(Serialize, Default)]
struct AnswerContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
}

impl Answer {
    fn new(effect: &'static str, resource: String, principal_id: String) -> Self {
        let statement = Statement { action: "execute-api:Invoke", effect, resource };
        Self {
            principal_id,
            policy_document: PolicyDocument { version: "2012-10-17", statement: [statement] },
            context: AnswerContext::default(),
            usage_identifier_key: None,
        }
    }

    /// `None` where the gateway is to be told `Unauthorized`.
    fn of(decision: &Decision, resource: String) -> Option<Self> {
        match decision {
            Decision::Refuse(_) => None,
            Decision::Deny(_) => Some(Self::new("Deny", resource, "nobody".to_owned())),
            Decision::Allow { account, tier, usage_identifier } => Some(Self {
                context: AnswerContext { account: Some(account.clone()), tier: Some(*tier) },
                usage_identifier_key: Some(usage_identifier.clone()),
                ..Self::new("Allow", resource, account.clone())
            }),
        }
    }
}

struct Instance<A> {
    authorizer: A,
    is_cold: std::cell::Cell<bool>,
}

impl<A: Authorizer> Instance<A> {
    /// Answers one event.
    ///
    /// # Errors
    /// `Unauthorized` for a key that is none, and something else where nothing could be decided.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<Answer, Diagnostic> {
        let start = Instant::now();
        let deadline = own_deadline(&event.context);
        let request_id = &event.context.request_id;
        // No words of the event in the log or in the answer: it holds the key.
        let parsed = serde_json::from_str::<AuthorizerEvent>(event.payload.get()).ok();
        let Some((payload, resource)) =
            parsed.and_then(|payload| payload.whole_stage().map(|resource| (payload, resource)))
        else {
            tracing::error!(function = A::NAME, request_id, "the event is no authorizer's");
            return Err(failed_invocation("the event is no REQUEST event of a REST API's authorizer"));
        };
        let invocation = Invocation::new(payload.request_context.time(), deadline);
        let decision = match payload.key().unwrap_or_default().parse::<ApiKey>() {
            Err(malformed) => Ok(Decision::Refuse(Refusal::Malformed(malformed))),
            Ok(key) => match guarded(deadline, self.authorizer.decide(&key, &invocation)).await {
                Ok(decided) => decided,
                Err(interrupted) => Err(interrupted.into()),
            },
        };
        self.write_line(&event.context, start.elapsed(), &invocation, &decision);
        match decision {
            Ok(decision) => Answer::of(&decision, resource).ok_or_else(|| failed_invocation(UNAUTHORIZED)),
            Err(_) => Err(failed_invocation(INTERNAL_MESSAGE)),
        }
    }

    fn write_line(
        &self,
        context: &Context,
        duration: Duration,
        invocation: &Invocation,
        decision: &Result<Decision, Box<dyn StandardError + Send + Sync>>,
    ) {
        macro_rules! line {
            ($level:ident, $message:literal, $($field:tt)*) => {
                tracing::$level!(
                    function = A::NAME,
                    duration_ms = milliseconds(duration),
                    upstream_ms = milliseconds(invocation.upstream_time()),
                    cold_start = self.is_cold.replace(false),
                    request_id = context.request_id,
                    $($field)*,
                    $message
                )
            };
        }
        match decision {
            Ok(Decision::Allow { account, tier, usage_identifier }) => {
                let (tier, key) = (tier.name(), usage_identifier.as_str());
                line!(info, "allowed", account = account, tier = tier, key = key);
            }
            Ok(Decision::Deny(inactive)) => line!(info, "denied", reason = inactive.to_string()),
            Ok(Decision::Refuse(refusal)) => line!(info, "refused", reason = refusal.to_string()),
            Err(error) => line!(error, "not decided", cause = chain(error.as_ref())),
        }
    }
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
        let (none, key) = (json!(null), Some("k".to_owned()));
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
    fn the_answer_is_about_the_whole_stage() {
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
