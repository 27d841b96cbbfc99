//! `GET /v1/collections`: all collections with their tiers. The provider's object has the contract's shape already, so
//! its text passes through.

#[cfg(feature = "openapi")]
mod described;

use std::sync::Arc;

use common::envelope::Document;
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::resources::{self, COLLECTIONS_PATH};
use common::upstream::{Reply, UpstreamError};

/// The collections.
#[derive(Debug)]
pub struct Collections;

impl Resource for Collections {
    const ROUTE: &'static Route = &routes::COLLECTIONS;
    const PATH: &'static str = COLLECTIONS_PATH;

    fn document(reply: &Reply) -> Result<Document, UpstreamError> {
        let resources::Collections { collections, .. } = reply.parse()?;
        let range = collections.range_in(&reply.body);
        Ok(Document::passing(r#"{"collections":"#.to_owned(), Arc::clone(&reply.body), range, "}"))
    }
}

#[cfg(feature = "openapi")]
impl Described for Collections {
    fn description() -> Description {
        Description::of::<described::Collections>(Self::ROUTE)
    }
}
