//! The response to the gateway: a policy, and fields for the access log.

use common::auth::{AccountName, Decision, Tier, UsageIdentifier};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyResponse {
    principal_id: String,
    policy_document: PolicyDocument,
    /// The fields for the functions and the access log.
    context: PolicyContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_identifier_key: Option<UsageIdentifier>,
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
struct PolicyContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<AccountName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
}

impl PolicyResponse {
    /// Returns the response for the decision in the stack. `None` if the key is refused: then the invocation
    /// must fail.
    pub(crate) fn of(decision: &Decision, stack: &str, resource: String) -> Option<Self> {
        match decision {
            Decision::Refuse(_) => None,
            Decision::Deny(_) => Some(Self::new("Deny", resource, "nobody".to_owned())),
            Decision::Allow { account, tier, counted_in, .. } => Some(Self {
                context: PolicyContext { account: Some(account.clone()), tier: Some(*tier) },
                usage_identifier_key: Some(UsageIdentifier::new(stack, account, *counted_in)),
                ..Self::new("Allow", resource, account.to_string())
            }),
        }
    }

    fn new(effect: &'static str, resource: String, principal_id: String) -> Self {
        let statement = Statement { action: "execute-api:Invoke", effect, resource };
        Self {
            principal_id,
            policy_document: PolicyDocument { version: "2012-10-17", statement: [statement] },
            context: PolicyContext::default(),
            usage_identifier_key: None,
        }
    }
}
