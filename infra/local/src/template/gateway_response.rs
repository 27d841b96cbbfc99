//! `GatewayResponses`: what the gateway says when it answers itself.

use std::collections::BTreeMap;

use super::{Section, broken, quoted};
use crate::Error;

/// An answer that the gateway makes itself.
#[derive(Debug, Clone)]
pub struct GatewayResponse {
    /// `StatusCode`, if it differs from the type's own.
    pub status: Option<u16>,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// The template for `application/json`.
    pub body: Option<String>,
}

/// The API's gateway responses, by response type.
///
/// # Errors
/// When a status is none, or a header is not a constant: where it comes from the request, the local cloud does not know it.
pub(super) fn read(api: &Section<'_>) -> Result<BTreeMap<String, GatewayResponse>, Error> {
    let responses = api.section("GatewayResponses")?;
    let mut read = BTreeMap::new();
    for kind in responses.entries.keys() {
        read.insert(kind.clone(), read_one(&responses.section(kind)?)?);
    }
    Ok(read)
}

fn read_one(section: &Section<'_>) -> Result<GatewayResponse, Error> {
    let status = match section.number("StatusCode")? {
        None => None,
        Some(status) => Some(
            u16::try_from(status)
                .ok()
                .filter(|status| (100..=599).contains(status))
                .ok_or_else(|| broken(&section.place("StatusCode"), format!("{status} is no HTTP status")))?,
        ),
    };
    let given = section.section("ResponseParameters")?.section("Headers")?;
    let mut headers = BTreeMap::new();
    for (name, value) in given.texts()? {
        let constant = quoted(&value)
            .ok_or_else(|| broken(&given.place(&name), "it must be a constant in single quotes"))?
            .to_owned();
        headers.insert(name, constant);
    }
    let body = section.section("ResponseTemplates")?.text("application/json")?;
    Ok(GatewayResponse { status, headers, body })
}
