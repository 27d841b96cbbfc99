//! `GET /v1/collections`: all collections with their tiers. The provider's object already has the shape of
//! the response, so its text passes through.

mod schema;

use common::description::{Describe, Description};
use common::json::ObjectText;
use common::lambda::provider_route::ProviderRoute;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::{Success, UpstreamError, UpstreamResponse};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct ProviderCollections<'a> {
    #[serde(rename = "success")]
    _success: Success,
    #[serde(borrow)]
    collections: ObjectText<'a>,
}

/// All collections, in the shape of [`schema::Collections`].
#[derive(Serialize)]
struct PassedCollections<'a> {
    collections: ObjectText<'a>,
}

#[derive(Debug)]
pub struct Collections;

impl ProviderRoute for Collections {
    const ROUTE: &'static Route = &routes::COLLECTIONS;

    fn document(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
        let ProviderCollections { collections, .. } = response.parse()?;
        Document::passing(&PassedCollections { collections }, &response.body)
            .map_err(|error| response.invalid(error))
    }
}

impl Describe for Collections {
    fn description() -> Description {
        Description::of::<schema::Collections>(Self::ROUTE, include_str!("../example.json"))
    }
}
