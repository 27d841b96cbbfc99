//! The simulated account, region and stack, and the names of their resources.

/// The account of AWS's own examples.
pub(crate) const ACCOUNT_ID: &str = "123456789012";
pub(crate) const REGION: &str = "eu-central-1";
pub(crate) const STACK: &str = "local";

pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{name}")
}

pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT_ID}:table/{name}")
}
