//! The account and region that everything pretends to be in, and names of resources in it.

/// The account of AWS's own examples.
pub(crate) const ACCOUNT_ID: &str = "123456789012";
pub(crate) const REGION: &str = "eu-central-1";

pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{name}")
}

pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT_ID}:table/{name}")
}
