//! Generates the OpenAPI document (version 3.1) from the code: paths, parameters and TTLs from the table of
//! routes, schemas from the functions' types, descriptions from their doc comments, examples and failing
//! requests from the functions' descriptions. Only the introduction and the errors that all routes share are
//! written here.
//!
//! The document is checked in as `functions/index/openapi.json`, which the index serves. `docs.md` and
//! `llms.txt`, beside it, are generated from it. Tests compare all three with the code, and check examples
//! and real responses against the schemas.

mod abuse;
mod clients;
mod error;
mod events;
mod examples;
mod limits;
mod operations;
mod pages;
mod reference;
mod responses;
mod schemas;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use common::description::{Describe, Description};
use common::error::Code;
use common::response::envelope::API_VERSION;
use common::routes::{self, AUCTIONS_COLUMNS, BAZAAR_COLUMNS, INDEX, OPENAPI, Route, TAGS, VERSION_1};
use serde_json::{Map, Value, json};

pub use crate::error::Error;
use crate::examples::{Example, Examples, failed_requests};
use crate::operations::OPENAPI_VERSION;
use crate::schemas::Schemas;

/// The folder of the index, which serves the document.
const FOLDER: &str = "functions/index";

/// The address of the local cloud.
const LOCAL_ADDRESS: &str = "http://127.0.0.1:3000";

fn descriptions() -> Vec<Description> {
    vec![
        index::Index::description(),
        mayor::Mayor::description(),
        mayor_history::MayorHistory::description(),
        fire_sales::FireSales::description(),
        fire_sales_history::FireSalesHistory::description(),
        bazaar::Bazaar::description(),
        bazaar_history::BazaarHistory::description(),
        bazaar_candles::BazaarCandles::description(),
        bazaar_candles_all::BazaarCandlesAll::description(),
        auctions::Auctions::description(),
        auctions_prices::AuctionsPrices::description(),
        auctions_listings::AuctionsListings::description(),
        auctions_averages::AuctionsAverages::description(),
        auctions_candles::AuctionsCandles::description(),
        auctions_sales::AuctionsSales::description(),
        collections::Collections::description(),
        items::Items::description(),
        names::ItemNames::description(),
        profile::Profiles::description(),
        usage::AccountUsage::description(),
        status::Status::description(),
    ]
}

/// Returns the routes of the document, in order.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    [&INDEX, &OPENAPI].into_iter().chain(VERSION_1)
}

/// Returns the example requests in the order of the routes: one for each kind of response, as a path and a
/// query.
///
/// # Errors
/// If an example cannot be parsed.
pub fn requests() -> Result<Vec<(&'static Route, &'static str)>, Error> {
    let mut requests = Vec::new();
    for Description { route, kinds, .. } in descriptions() {
        for kind in &kinds {
            requests.push((route, Example::of(route, kind)?.request));
        }
    }
    Ok(requests)
}

/// Returns requests, each a path and a query, whose responses are errors of the route itself.
pub fn failing_requests() -> Result<Vec<(&'static str, Code)>, Error> {
    let mut requests = Vec::new();
    for description in descriptions() {
        let failed = failed_requests(&description)?;
        requests.extend(failed.into_iter().map(|failed| (failed.request, failed.code)));
    }
    Ok(requests)
}

/// Generates the document.
///
/// # Errors
/// If the code, the table of routes and the examples do not agree.
pub fn document() -> Result<Value, Error> {
    let descriptions = descriptions();
    let mut schemas = Schemas::new();
    let mut examples = Examples::default();
    let mut paths = Map::new();
    let mut add = |route: &Route, get: Value| {
        let head = route.answers_head.then(|| ("head".to_owned(), operations::head_of(route, &get)));
        let methods: Map<_, _> = head.into_iter().chain([("get".to_owned(), get)]).collect();
        paths.insert(route.path.to_owned(), methods.into());
    };
    add(&OPENAPI, operations::of_the_document(&mut schemas));
    for description in &descriptions {
        add(description.route, operations::of(description, &mut schemas, &mut examples)?);
    }
    if let Some(route) = routes().find(|route| !paths.contains_key(route.path)) {
        return Err(Error::NotDescribed(route.path));
    }
    let mut components = schemas.into_components();
    responses::add_schemas(&mut components)?;
    examples.give_to(&mut components);
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
                    "description": "The base address without a slash at the end: on AWS the output BaseUrl of the stack, which ends \
                        with the stage. The default is the local cloud.",
                },
            },
        }],
        "security": [{ responses::SECURITY_SCHEME: [] }],
        "tags": TAGS.map(|tag| json!({ "name": tag.name, "description": tag.description })),
        "paths": paths,
        "components": {
            "schemas": components,
            "headers": responses::headers(),
            "responses": responses::shared_failures(),
            "securitySchemes": responses::security_schemes(),
        },
    }))
}

/// Generates all checked-in files that are generated, by path from the root of the repository: the document,
/// the reference, the summary, the sample events, and the pages with generated parts. `root` is the folder of
/// the repository.
///
/// # Errors
/// As for [`document`], or if a page cannot be read or has no place for a part.
pub fn files(root: &Path) -> Result<BTreeMap<String, String>, Error> {
    let document = document()?;
    let texts = texts(root, &document)?;
    let abuse = abuse::table(root, &document, &texts)?;
    let events = events::all()?;
    let index = texts.into_iter().map(|(name, text)| (format!("{FOLDER}/{name}"), text));
    let pages =
        pages::all(root, &document, abuse, &events)?.into_iter().map(|(path, page)| (path.to_owned(), page));
    Ok(index.chain(events::files(&events)?).chain(pages).collect())
}

/// Generates the document, the reference and the summary, by name.
fn texts(root: &Path, document: &Value) -> Result<[(&'static str, String); 3], Error> {
    Ok([
        ("openapi.json", serde_json::to_string_pretty(document)? + "\n"),
        ("docs.md", reference::reference(document) + clients::section(root)?.trim_end() + "\n"),
        ("llms.txt", reference::summary(document)),
    ])
}

/// The public files, for the introductions.
const PUBLIC_FILES: &str = "`/lowestbin.json`, `/auction_averages_lbin/1day.json` (also `3day`, `7day`) and `/auction_averages/3day.json` \
    in the shapes that mods read, each also with `.gz`; `/bazaar.json` with the data of `/v1/bazaar?mode=prices`; `/prices.json` \
    with both markets; `/names.json` with the data of `/v1/names`; `/days/bazaar/2026-11-20.csv.gz` and `/days/auctions/2026-11-20.csv.gz` with the candles of a day, and `/days/index.json` \
    with the lists of these days";

/// Returns the columns of the public files of days, as a sentence.
fn columns() -> String {
    format!(
        "The CSV of a day has a header line and the columns `{BAZAAR_COLUMNS}` in the bazaar, and `{AUCTIONS_COLUMNS}` in auctions, where \
         a price without a listing or a sale is empty."
    )
}

fn introduction() -> String {
    let limits = limits::sentences();
    let columns = columns();
    let paths = |routes: Vec<&'static Route>, separator: &str| {
        routes.iter().map(|route| format!("`{}`", route.path)).collect::<Vec<_>>().join(separator)
    };
    let open = paths(VERSION_1.into_iter().filter(|route| !route.requires_key).collect(), " and ");
    let with_head = paths(routes::all().filter(|route| route.answers_head).collect(), ", ");
    format!(
        "The mayor, fire sales, the bazaar, auctions, collections, items and player profiles of the game Hypixel SkyBlock, \
         with a history of mayors, fire sales and bazaar prices, candles, and the lowest prices of items in auctions.\n\n\
         **Responses** are JSON in one of two envelopes, except for the OpenAPI document and CSV: `success: true` with `data` and `meta`, or \
         `success: false` with `error`. New fields can be added at any time; within `{API_VERSION}`, no described field is removed or \
         changes its type. An object with `additionalProperties: true` can have more fields from the game's provider. Times are integers \
         in Unix milliseconds, and RFC 3339 in UTC in histories and candles. Prices are numbers in coins; prices of fire sales are \
         integers in gems. Volumes are integers in items. Texts may contain the game's `§` colour codes.\n\n\
         **Requests** use `GET`. `HEAD` returns the status and the headers of `GET` for {with_head}. Any other method gets a 404, except \
         for the CORS preflight. A parameter must not repeat with different values. Unknown parameters, and a slash at the end of a \
         path, are ignored. Send several ids as one text: `params={{\"ids\": \",\".join(ids)}}` with Python's requests, \
         `params: {{ ids: ids.join(\",\") }}` with axios. Do not send a list: requests repeats `ids`, which is a 400, and axios sends the \
         unknown parameter `ids[]`, so that `/v1/auctions/prices` responds with all items. Send `Accept-Encoding: gzip`: it reduces the \
         complete bazaar from more than 3 MB to less than 1 MB.\n\n\
         **Keys and limits.** Every `/v1` route except {open} requires an API key in the header `X-API-Key`. {limits}\n\n\
         **Caching.** The responses of each `/v1` route are cached for its TTL (time to live). `meta.cached: false` guarantees that the data \
         was fetched for this request. `Last-Modified` is when the data was fetched or known to be the provider's latest, minus the age \
         of the copy that the provider's network sent, which can be hours for collections and items. `Expires` is when the response \
         stops being fresh. The bazaar's next prices can come 20 s after its `lastUpdated`, and those of auctions 60 s after theirs: until \
         then, requests return the same. While the game's provider fails, the last good data is served for up to ten further TTLs, at most \
         an hour.\n\n\
         **Public files.** If the operator has enabled them, files with the same prices require no key. `public_files` of `GET /` is their \
         address: {PUBLIC_FILES}. {columns}\n\n\
         `/lowestbin.json` and `/auction_averages_lbin/` map each id to the coins for one item. `/auction_averages/3day.json` maps each id to \
         `price`, the coins for the average stack, `count`, the size of that stack, and `sales` per day; also to `clean_price` and \
         `clean_sales` if both clean and other copies were sold. `/prices.json` has `updated_at` for each market and `prices`, a list of \
         `{{id, market, lowest}}` and `{{id, market, topBuyOrder, topSellOffer}}`. Averages are means, so outliers move them; \
         `/v1/auctions/averages`, which requires a key, has medians. `/names.json` has the data of `/v1/names`. Prices are replaced every \
         minute, and averages and names every hour. The candles of \
         a day appear within an hour and a half after its end and are kept permanently. Send `If-None-Match`.\n\n\
         This project is not affiliated with, endorsed by or connected to Hypixel Inc., Mojang or Microsoft."
    )
}

#[cfg(test)]
mod tests;
