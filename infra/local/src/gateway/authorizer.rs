//! Invokes an authorizer's function before the usage plan, the cache and the route's function get a request.
//! Caches the authorizer's response by the caller's identity, for every route of the stage.
//!
//! The identity is a secret. It is never logged, not even when the function repeats it in an error.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use simulator::Clock;

use super::authorization::Authorization;
use super::event;
use super::expiring_cache::ExpiringCache;
use super::gateway_response::GatewayError;
use super::request::{INTEGRATION_TIMEOUT, MatchedRequest};
use crate::instance::Failure;
use crate::pool::Pools;
use crate::template::Authorizer;

/// The error message with which a function rejects a caller.
const UNAUTHORIZED: &str = "Unauthorized";

/// The name of the authorizer, and all values of its identity header as they were sent.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity {
    authorizer: String,
    values: Vec<Vec<u8>>,
}

pub(super) struct Authorizers {
    by_name: BTreeMap<String, Authorizer>,
    pools: Arc<Pools>,
    cache: ExpiringCache<Identity, Arc<Authorization>>,
}

impl Authorizers {
    pub(super) fn new(by_name: BTreeMap<String, Authorizer>, pools: Arc<Pools>, clock: Clock) -> Self {
        Self { by_name, pools, cache: ExpiringCache::new(clock) }
    }

    /// Returns the response of the authorizer `name`, if it allows the request.
    ///
    /// # Errors
    /// When the request is not authorized.
    pub(super) async fn authorize(
        &self,
        name: &str,
        matched: &MatchedRequest<'_>,
    ) -> Result<Arc<Authorization>, GatewayError> {
        let authorizer = self.by_name.get(name).ok_or(GatewayError::AuthorizerFailure)?;
        let header = authorizer.identity_header.as_str();
        let values =
            matched.request.parts.headers.get_all(header).iter().map(|value| value.as_bytes().to_vec());
        let identity = Identity { authorizer: name.to_owned(), values: values.collect() };
        if identity.values.iter().all(Vec::is_empty) {
            return Err(GatewayError::MissingIdentity);
        }
        let authorization = match self.cache.get(&identity) {
            Some(authorization) => authorization,
            None => self.invoke(authorizer, identity, matched).await?,
        };
        if authorization.allows(&matched.request.method_arn()) {
            Ok(authorization)
        } else {
            Err(GatewayError::AccessDenied)
        }
    }

    async fn invoke(
        &self,
        authorizer: &Authorizer,
        identity: Identity,
        matched: &MatchedRequest<'_>,
    ) -> Result<Arc<Authorization>, GatewayError> {
        let pool = self.pools.get(&authorizer.function).ok_or(GatewayError::AuthorizerFailure)?;
        let invocation = pool.invoke_unlogged(event::for_authorizer(matched));
        let reason = match tokio::time::timeout(INTEGRATION_TIMEOUT, invocation).await {
            Ok(Ok(payload)) => match Authorization::read(&payload) {
                Ok(authorization) => {
                    let authorization = Arc::new(authorization);
                    let ttl = authorizer.reauthorize_every;
                    self.cache.put(identity, Arc::clone(&authorization), ttl);
                    return Ok(authorization);
                }
                Err(reason) => reason,
            },
            Ok(Err(failure)) if is_unauthorized(&failure) => return Err(GatewayError::Unauthorized),
            Ok(Err(failure)) => identity.redacted_from(&failure.to_string()),
            Err(_) => format!("no response within the gateway's {} s", INTEGRATION_TIMEOUT.as_secs()),
        };
        pool.log(&format!("request {}: {reason}", matched.request.request_id));
        Err(GatewayError::AuthorizerFailure)
    }
}

impl Identity {
    /// Removes the identity from the error of a function, which may repeat it.
    fn redacted_from(&self, text: &str) -> String {
        let mut redacted = text.to_owned();
        for value in &self.values {
            let value = String::from_utf8_lossy(value);
            // The function's error is JSON, so the value may be escaped in it.
            let quoted = Value::from(value.as_ref()).to_string();
            let escaped = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            for secret in [escaped.unwrap_or_default(), value.as_ref()] {
                if !secret.is_empty() {
                    redacted = redacted.replace(secret, "…");
                }
            }
        }
        redacted
    }
}

/// Whether the function rejected the caller: its error message is exactly [`UNAUTHORIZED`].
fn is_unauthorized(failure: &Failure) -> bool {
    let Failure::Function(payload) = failure else { return false };
    let error: Value = serde_json::from_slice(payload).unwrap_or_default();
    error.get("errorMessage").and_then(Value::as_str) == Some(UNAUTHORIZED)
}
