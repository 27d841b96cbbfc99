//! The API description (OpenAPI 3.1), made of what the code itself says: paths, parameters and times of the table of routes,
//! shapes of the functions' own types, descriptions of their doc comments. What code cannot say is written here: examples
//! (`examples/`), the errors that a route can give (`failures.rs`), and the introduction.
//!
//! The result is checked in as `functions/index/openapi.json`, which the index serves. Tests compare the two, hold the
//! examples against the schemas, and hold real answers of every route against both.

mod answers;
mod examples;
mod failures;
mod limits;
mod operations;
mod schemas;

use common::envelope::API_VERSION;
use common::openapi::{Described, Description};
use common::routes::{INDEX, OPENAPI, Route, VERSION_1};
use serde_json::{Map, Value, json};
use tables::Listing;

use crate::examples::Examples;
use crate::schemas::Schemas;

/// Where the description is checked in, from the root of the repository.
pub const CHECKED_IN: &str = "functions/index/openapi.json";

/// The version of OpenAPI that the description is written in.
const OPENAPI_VERSION: &str = "3.1.1";

/// Where the local cloud answers.
const LOCAL_ADDRESS: &str = "http://127.0.0.1:3000";

/// Why there is no description: the code says one thing, and the examples or the table of routes another.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A route has no function that describes it, or the other way round.
    #[error("{0} is in the table of routes and described by no function")]
    NotDescribed(&'static str),
    /// A parameter is declared and of no type, or the other way round.
    #[error("the table of routes and the function do not agree about the parameters of {0}")]
    Parameters(&'static str),
    /// An example is missing.
    #[error("there is no example {0}.json")]
    NoExample(String),
    /// An example cannot be read.
    #[error("the example {name}.json cannot be read: {cause}")]
    Example {
        /// Its name.
        name: String,
        /// Why.
        cause: serde_json::Error,
    },
    /// No example request sets a parameter.
    #[error("no example of {path} sets the parameter {parameter}")]
    NoValue {
        /// The route.
        path: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// The document cannot be written.
    #[error("the description cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

/// What every function says of itself.
fn descriptions() -> Vec<Description> {
    vec![
        index::Index::description(),
        mayor::Mayor::description(),
        Listing::<mayor_history::MayorHistory>::description(),
        fire_sales::FireSales::description(),
        Listing::<fire_sales_history::FireSalesHistory>::description(),
        bazaar::Bazaar::description(),
        bazaar_history::BazaarHistory::description(),
        auctions::Auctions::description(),
        collections::Collections::description(),
        items::Items::description(),
        profile::Profiles::description(),
    ]
}

/// The routes that are described, in order. (What no route matches is a 404 and is in no description.)
pub fn routes() -> impl Iterator<Item = &'static Route> {
    [&INDEX, &OPENAPI].into_iter().chain(VERSION_1)
}

/// The document.
///
/// # Errors
/// Where code, table of routes and examples do not agree.
pub fn document() -> Result<Value, Error> {
    let described = descriptions();
    let mut schemas = Schemas::new();
    let mut examples = Examples::default();
    let mut paths = Map::new();
    for route in routes() {
        let operation = if route.path == OPENAPI.path {
            operations::of_the_description()
        } else {
            let description = described.iter().find(|description| description.route.path == route.path);
            let description = description.ok_or(Error::NotDescribed(route.path))?;
            operations::of(description, &mut schemas, &mut examples)?
        };
        paths.insert(route.path.to_owned(), json!({ "get": operation }));
    }
    let mut schemas = schemas.into_components();
    answers::add_schemas(&mut schemas);
    examples.give_to(&mut schemas);
    Ok(json!({
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Game Data Query Service",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A read-only JSON API over the economy of the game Hypixel SkyBlock",
            "description": introduction(),
        },
        "servers": [{
            "url": "{base_url}",
            "description": "A deployment of the service",
            "variables": {
                "base_url": {
                    "default": LOCAL_ADDRESS,
                    "description": "Where the service answers, without a slash at the end: on AWS the stack's output \
                        BaseUrl, which ends with the stage. The default is the local cloud.",
                },
            },
        }],
        "security": [{ answers::SECURITY_SCHEME: [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": answers::headers(),
            "responses": answers::shared_failures(),
            "securitySchemes": answers::security_schemes(),
        },
    }))
}

/// The document as it is checked in.
///
/// # Errors
/// As with [`document`].
pub fn text() -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(&document()?)? + "\n")
}

fn introduction() -> String {
    let limits = limits::sentences();
    format!(
        "The mayor, fire sales, the bazaar, auctions, collections, items and player profiles of the game Hypixel SkyBlock, \
         with a history of mayors, fire sales and bazaar prices.\n\n\
         **Answers** are JSON in one of two envelopes (but for this document): `success: true` with `data` and `meta`, or \
         `success: false` with `error`. Fields may be added to an answer without notice; none of those described here is \
         removed or changes its type within `{API_VERSION}`. Where a schema says `additionalProperties: true`, the game's provider adds fields of \
         its own. Times are integers in Unix milliseconds, in histories RFC 3339 in UTC; prices are numbers in coins, \
         those of fire sales integers in gems; volumes are integers in items. Texts may hold the game's `§` colour codes.\n\n\
         **Requests** are `GET`; another method is a 404, except the CORS preflight. Of a parameter given twice the last one \
         counts; unknown parameters are ignored, and so is a slash at the end of a path. Send `Accept-Encoding: gzip`: the \
         largest answers take three megabytes without it and less than one with it.\n\n\
         **Keys and limits.** Every route under `/v1` wants an API key in the header `X-API-Key`. {limits}\n\n\
         **Caching.** Every route has a time for which an answer is served again. `meta.cached: false` says that it was \
         fetched for this request, `Last-Modified` when its data was fetched, and `Expires` when it stops being fresh. When \
         the game's provider fails, the last good answer is served for ten more of these times, an hour at the most.\n\n\
         This project is not affiliated with, endorsed by or connected to Hypixel Inc., Mojang or Microsoft."
    )
}

#[cfg(test)]
mod tests;
