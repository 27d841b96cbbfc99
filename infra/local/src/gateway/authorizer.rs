//! Asks a function who may ask, before anything else happens to a request, and remembers what it said: by what identifies
//! the caller, for every route of the stage.
//!
//! What identifies a caller is a secret. It is never written anywhere, not even when the function itself repeats it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use serde_json::Value;
use simulator::Clock;

use super::INTEGRATION_TIMEOUT;
use super::event::{self, Arrival, Matched};
use super::policy::Policy;
use crate::instance::Failure;
use crate::logs::Logs;
use crate::pool::Pool;
use crate::template;

/// How many answers are remembered; the least recently used go. As many as an account of AWS has API keys.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// How a function says that it does not know the caller.
const UNAUTHORIZED: &str = "Unauthorized";

/// What an authorizer's function answered. It does not print: what it says may be a secret.
pub(super) struct Permit {
    policy: Policy,
    /// Whom the function took the caller for.
    pub(super) principal_id: String,
    /// What else it said, for the functions behind the gateway. All values are texts there.
    pub(super) context: BTreeMap<String, String>,
    /// The key of a usage plan.
    pub(super) usage_identifier: Option<String>,
}

/// Why a request is not let in.
pub(super) enum Refusal {
    /// It does not say who asks. Nobody was asked about it.
    Anonymous,
    /// The function does not know who asks.
    Unknown,
    /// The function knows, and its policy denies it.
    Denied(Arc<Permit>),
    /// The function did not say.
    Failed,
}

/// What tells two callers apart: all values of all headers that identify them, as they came.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity {
    authorizer: String,
    values: Vec<Vec<Vec<u8>>>,
}

struct Remembered {
    permit: Arc<Permit>,
    since_ms: i64,
}

struct Authorizer {
    settings: template::Authorizer,
    pool: Arc<Pool>,
}

/// The authorizers of an API.
pub(super) struct Authorizers {
    by_name: BTreeMap<String, Authorizer>,
    remembered: Mutex<LruCache<Identity, Remembered>>,
    clock: Clock,
    logs: Logs,
}

impl Authorizers {
    pub(super) fn new(
        settings: &BTreeMap<String, template::Authorizer>,
        pools: &BTreeMap<String, Arc<Pool>>,
        clock: Clock,
        logs: Logs,
    ) -> Self {
        let authorizers = settings.iter().filter_map(|(name, settings)| {
            let pool = Arc::clone(pools.get(&settings.function)?);
            Some((name.clone(), Authorizer { settings: settings.clone(), pool }))
        });
        Self {
            by_name: authorizers.collect(),
            remembered: Mutex::new(LruCache::new(REMEMBERED)),
            clock,
            logs,
        }
    }

    /// What the authorizer `name` says about a request that it lets in.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) async fn check(
        &self,
        name: &str,
        arrival: &Arrival<'_>,
        matched: &Matched<'_>,
    ) -> Result<Arc<Permit>, Refusal> {
        let authorizer = self.by_name.get(name).ok_or(Refusal::Failed)?;
        let identity = identity(name, &authorizer.settings, arrival).ok_or(Refusal::Anonymous)?;
        let method_arn = event::method_arn(arrival);
        let permit = match self.recall(&identity, &authorizer.settings) {
            Some(permit) => permit,
            None => self.ask(authorizer, identity, arrival, matched, &method_arn).await?,
        };
        if permit.policy.allows(&method_arn) { Ok(permit) } else { Err(Refusal::Denied(permit)) }
    }

    fn recall(&self, identity: &Identity, settings: &template::Authorizer) -> Option<Arc<Permit>> {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let found = remembered.get(identity)?;
        if super::is_fresh(found.since_ms, settings.reauthorize_every, self.clock.now_ms()) {
            return Some(Arc::clone(&found.permit));
        }
        remembered.pop(identity);
        None
    }

    async fn ask(
        &self,
        authorizer: &Authorizer,
        identity: Identity,
        arrival: &Arrival<'_>,
        matched: &Matched<'_>,
        method_arn: &str,
    ) -> Result<Arc<Permit>, Refusal> {
        let event = event::for_authorizer(arrival, matched, method_arn).map_err(|_| Refusal::Failed)?;
        let invocation = authorizer.pool.invoke_unlogged(event);
        let reason = match tokio::time::timeout(INTEGRATION_TIMEOUT, invocation).await {
            Ok(Ok(payload)) => match Permit::read(&payload) {
                Ok(permit) => return Ok(self.remember(authorizer, identity, permit)),
                Err(reason) => format!("its answer is no authorizer's: {reason}"),
            },
            Ok(Err(failure)) if is_unauthorized(&failure) => return Err(Refusal::Unknown),
            Ok(Err(failure)) => identity.hidden_in(&failure.to_string()),
            Err(_) => format!("no answer within the gateway's {} s", INTEGRATION_TIMEOUT.as_secs()),
        };
        let function = &authorizer.pool.function().binary;
        self.logs.push(&format!("local: {function}: request {}: {reason}", arrival.request_id));
        Err(Refusal::Failed)
    }

    fn remember(&self, authorizer: &Authorizer, identity: Identity, permit: Permit) -> Arc<Permit> {
        let permit = Arc::new(permit);
        if !authorizer.settings.reauthorize_every.is_zero() {
            let remembered = Remembered { permit: Arc::clone(&permit), since_ms: self.clock.now_ms() };
            self.remembered.lock().unwrap_or_else(PoisonError::into_inner).put(identity, remembered);
        }
        permit
    }
}

/// Who asks, unless a header that says so is missing or empty.
fn identity(name: &str, settings: &template::Authorizer, arrival: &Arrival<'_>) -> Option<Identity> {
    let headers = &arrival.request.headers;
    let values = settings.identity_headers.iter().map(|header| {
        let values: Vec<_> =
            headers.get_all(header.as_str()).iter().map(|value| value.as_bytes().to_vec()).collect();
        values.iter().any(|value| !value.is_empty()).then_some(values)
    });
    Some(Identity { authorizer: name.to_owned(), values: values.collect::<Option<_>>()? })
}

impl Identity {
    /// The text without what identifies the caller: a function may repeat it when it fails.
    fn hidden_in(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for value in self.values.iter().flatten() {
            let value = String::from_utf8_lossy(value);
            // The function's words are JSON.
            let escaped = Value::from(value.as_ref()).to_string();
            let escaped = escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            for secret in [escaped.unwrap_or_default(), value.as_ref()] {
                if !secret.is_empty() {
                    hidden = hidden.replace(secret, "…");
                }
            }
        }
        hidden
    }
}

/// Whether the function says, with exactly this word, that it does not know the caller.
fn is_unauthorized(failure: &Failure) -> bool {
    let Failure::Function(payload) = failure else { return false };
    let error: Value = serde_json::from_slice(payload).unwrap_or_default();
    error.get("errorMessage").and_then(Value::as_str) == Some(UNAUTHORIZED)
}

impl Permit {
    /// What the function's answer says.
    ///
    /// # Errors
    /// What API Gateway would not take of it. Values are not repeated: they may be secrets.
    fn read(payload: &[u8]) -> Result<Self, String> {
        let answer: Value = serde_json::from_slice(payload).map_err(|_| "it is not JSON")?;
        let answer = answer.as_object().ok_or("it must be an object")?;
        let principal_id = answer.get("principalId").and_then(Value::as_str);
        let context = match answer.get("context") {
            None => BTreeMap::new(),
            Some(Value::Object(context)) => context
                .iter()
                .map(|(name, value)| Some((name.clone(), template::text(value)?)))
                .collect::<Option<_>>()
                .ok_or("context must hold texts, numbers and truth values only")?,
            Some(_) => return Err("context must be an object".to_owned()),
        };
        let usage_identifier = match answer.get("usageIdentifierKey") {
            None | Some(Value::Null) => None,
            Some(Value::String(key)) => Some(key.clone()),
            Some(_) => return Err("usageIdentifierKey must be a text".to_owned()),
        };
        Ok(Self {
            policy: Policy::read(answer.get("policyDocument").ok_or("policyDocument is missing")?)?,
            principal_id: principal_id.ok_or("principalId must be a text")?.to_owned(),
            context,
            usage_identifier,
        })
    }

    /// A permit for everything, of a caller in the tier.
    #[cfg(test)]
    pub(super) fn for_tests(tier: Option<&str>, usage_identifier: Option<&str>) -> Self {
        let policy = serde_json::json!({
            "Statement": [{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}],
        });
        Self {
            policy: Policy::read(&policy).unwrap(),
            principal_id: "someone".to_owned(),
            context: tier.map(|tier| ("tier".to_owned(), tier.to_owned())).into_iter().collect(),
            usage_identifier: usage_identifier.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;

    fn answer() -> Value {
        json!({
            "principalId": "someone",
            "policyDocument": {"Version": "2012-10-17", "Statement": []},
            "context": {"tier": "pro", "count": 2, "fraction": 0.5, "paid": true},
            "usageIdentifierKey": "0123456789abcdefghij",
        })
    }

    fn read(answer: &Value) -> Result<Permit, String> {
        Permit::read(answer.to_string().as_bytes())
    }

    #[test]
    fn an_answer_is_a_policy_and_what_functions_get_to_know() {
        let permit = read(&answer()).unwrap();
        assert_eq!(permit.principal_id, "someone");
        assert_eq!(permit.usage_identifier.as_deref(), Some("0123456789abcdefghij"));
        let context: Vec<_> =
            permit.context.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(context, [("count", "2"), ("fraction", "0.5"), ("paid", "true"), ("tier", "pro")]);
        let bare = json!({"principalId": "someone", "policyDocument": {"Statement": []}});
        let permit = read(&bare).unwrap();
        assert!(permit.context.is_empty() && permit.usage_identifier.is_none());
    }

    #[test]
    fn what_the_gateway_would_not_take_is_refused_without_repeating_it() {
        for (name, value) in [
            ("context", Value::Null),
            ("context", json!("secret")),
            ("context", json!({"a": null})),
            ("context", json!({"a": ["secret"]})),
            ("context", json!({"a": {"b": "secret"}})),
            ("principalId", Value::Null),
            ("principalId", json!({"secret": 1})),
            ("policyDocument", json!("secret")),
            ("policyDocument", json!({"Statement": [{"Effect": "Allow", "Condition": null}]})),
            ("usageIdentifierKey", json!(["secret"])),
        ] {
            let mut changed = answer();
            changed[name] = value;
            let said = read(&changed).err().unwrap();
            assert!(!said.contains("secret"), "{said}");
        }
        for payload in [&b"null"[..], b"\"secret\"", b"{\"principalId\":secret}", b""] {
            let said = Permit::read(payload).err().unwrap();
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn only_one_word_means_that_the_caller_is_unknown() {
        let failed = |message: &str| {
            let payload = json!({"errorType": "E", "errorMessage": message}).to_string();
            is_unauthorized(&Failure::Function(Bytes::from(payload)))
        };
        assert!(failed("Unauthorized"));
        assert!(!failed("unauthorized") && !failed("Unauthorized.") && !failed("not Unauthorized"));
        assert!(!is_unauthorized(&Failure::Function(Bytes::from_static(b"Unauthorized"))));
        assert!(!is_unauthorized(&Failure::Killed));
    }

    #[test]
    fn what_identifies_the_caller_is_not_repeated() {
        let values = vec![vec![b"gd_secret".to_vec(), b"with \"quotes\"".to_vec(), Vec::new()]];
        let identity = Identity { authorizer: "Keys".to_owned(), values };
        let said = r#"the invocation failed: {"errorMessage":"no gd_secret, no with \"quotes\""}"#;
        assert_eq!(identity.hidden_in(said), r#"the invocation failed: {"errorMessage":"no …, no …"}"#);
    }
}
