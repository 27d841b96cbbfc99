//! The Lambda authorizer (type REQUEST) of the gateway. It decides whether a request with an API key is
//! allowed.
//!
//! It returns a policy that allows or denies the request. If the key is refused, the invocation fails with
//! exactly `Unauthorized`, which the gateway turns into a 401. Every other failure becomes a 500, so an
//! outage never lets a request in.

mod event;
mod policy;
mod records;

use std::error::Error as StandardError;
use std::time::Duration;

use common::auth::{ApiKey, Decision, Refusal};
use common::error::{INTERNAL_MESSAGE, chain};
use common::invocation::Invocation;
use common::lambda::{
    Context, Diagnostic, Error, IsCold, LambdaEvent, LogName, block_on, deadline, failed_invocation, guard,
    milliseconds, serve, set_up,
};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::event::AuthorizerEvent;
use crate::policy::PolicyResponse;
use crate::records::KeyRecords;

const NAME: &str = "authorizer";

/// The message that the gateway turns into a 401.
const UNAUTHORIZED: &str = "Unauthorized";

type DecisionResult = Result<Decision, Box<dyn StandardError + Send + Sync>>;

/// Runs the authorizer until Lambda ends the process.
///
/// # Errors
/// If the authorizer cannot start, or cannot reach the Runtime API. The log has the cause of a failed start.
pub fn run() -> Result<(), Error> {
    let instance = set_up(LogName::Function(NAME), |config| {
        let stack = config.text("STACK_NAME").unwrap_or_default();
        Ok(Authorizer { records: KeyRecords::new(config)?, stack, is_cold: IsCold::default() })
    })?;
    block_on(async {
        instance.records.warm_up().await;
        serve(|event| instance.invoke(event)).await
    })
}

struct Authorizer {
    records: KeyRecords,
    stack: String,
    is_cold: IsCold,
}

impl Authorizer {
    /// Handles one event.
    ///
    /// # Errors
    /// `Unauthorized` if the key is refused, and another message if the authorizer cannot decide.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<PolicyResponse, Diagnostic> {
        let start = Instant::now();
        let deadline = deadline(&event.context);
        let request_id = &event.context.request_id;
        // The event contains the key, so neither the log nor the error quotes the event.
        let parsed = serde_json::from_str::<AuthorizerEvent>(event.payload.get()).ok();
        let of_stage = parsed.and_then(|event| event.whole_stage().map(|resource| (event, resource)));
        let Some((payload, resource)) = of_stage else {
            tracing::error!(function = NAME, request_id, "the event is not an authorizer event");
            return Err(failed_invocation("the event is not a REQUEST event for a REST API authorizer"));
        };
        let invocation = Invocation::new(payload.time(), deadline);
        let decision = match payload.key().unwrap_or_default().parse::<ApiKey>() {
            Err(malformed) => Ok(Decision::Refuse(Refusal::Malformed(malformed))),
            Ok(key) => match guard(deadline, self.records.decide(&key, &invocation)).await {
                Ok(decision) => decision.map_err(Into::into),
                Err(interrupted) => Err(interrupted.into()),
            },
        };
        self.log(&event.context, start.elapsed(), &invocation, &decision);
        match decision {
            Ok(decision) => {
                let policy = PolicyResponse::of(&decision, &self.stack, resource);
                policy.ok_or_else(|| failed_invocation(UNAUTHORIZED))
            }
            Err(_) => Err(failed_invocation(INTERNAL_MESSAGE)),
        }
    }

    fn log(&self, context: &Context, duration: Duration, invocation: &Invocation, decision: &DecisionResult) {
        macro_rules! line {
            ($level:ident, $message:literal, $($field:tt)*) => {
                tracing::$level!(
                    function = NAME,
                    duration_ms = milliseconds(duration),
                    upstream_ms = milliseconds(invocation.upstream_time()),
                    cold_start = self.is_cold.take(),
                    request_id = context.request_id,
                    $($field)*,
                    $message
                )
            };
        }
        match decision {
            Ok(Decision::Allow { account, key, tier, counted_in }) => {
                let (account, key) = (account.as_str(), key.as_str());
                let (tier, counted_in) = (tier.name(), counted_in.name());
                line!(info, "allowed", account = account, key = key, tier = tier, counted_in = counted_in);
            }
            Ok(Decision::Deny(inactive)) => line!(info, "denied", reason = inactive.to_string()),
            Ok(Decision::Refuse(refusal)) => line!(info, "refused", reason = refusal.to_string()),
            Err(error) => line!(error, "not decided", cause = chain(error.as_ref())),
        }
    }
}
