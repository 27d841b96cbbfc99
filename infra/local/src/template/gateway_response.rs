//! `GatewayResponses`: the gateway's own responses.

use std::collections::BTreeMap;

use super::section::{Section, constant};
use crate::error::Error;

#[derive(Debug, Clone)]
pub struct GatewayResponse {
    /// `StatusCode`; `None` for the default of the response type.
    pub status: Option<u16>,
    pub headers: BTreeMap<String, String>,
    /// The body for `application/json`.
    pub body: Option<String>,
}

/// The API's gateway responses, by response type.
///
/// # Errors
/// When a status is invalid, and when a header or a body depends on the request.
pub(super) fn read(api: &Section<'_>) -> Result<BTreeMap<String, GatewayResponse>, Error> {
    let responses = api.section("GatewayResponses")?;
    let mut read = BTreeMap::new();
    for response_type in responses.entries.keys() {
        read.insert(response_type.clone(), read_one(&responses.section(response_type)?)?);
    }
    Ok(read)
}

fn read_one(section: &Section<'_>) -> Result<GatewayResponse, Error> {
    let status = section.number("StatusCode")?;
    if status.is_some_and(|status: u16| !(100..600).contains(&status)) {
        return Err(section.invalid("StatusCode", "it must be an HTTP status"));
    }
    let declared = section.section("ResponseParameters")?.section("Headers")?;
    let mut headers = BTreeMap::new();
    for (name, value) in declared.texts()? {
        let value = constant(&value)
            .ok_or_else(|| declared.invalid(&name, "it must be a constant in single quotes"))?
            .to_owned();
        headers.insert(name, value);
    }
    let templates = section.section("ResponseTemplates")?;
    let body = templates.text("application/json")?;
    if body.as_ref().is_some_and(|body| body.contains("$context.")) {
        return Err(
            templates.invalid("application/json", "the local cloud does not evaluate $context variables")
        );
    }
    Ok(GatewayResponse { status, headers, body })
}
