//! `GET /v1/collections`: all collections with their tiers. The provider's object has the contract's shape already, so
//! its text passes through.

use std::sync::Arc;

use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::request::Request;
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::resources::{self, COLLECTIONS_PATH};
use common::upstream::{Reply, UpstreamError};

fn shape(reply: &Reply) -> Result<Document, UpstreamError> {
    let resources::Collections { collections, .. } = reply.parse()?;
    let range = collections.range_in(&reply.body);
    Ok(Document::passing(r#"{"collections":"#.to_owned(), Arc::clone(&reply.body), range, "}"))
}

/// The function.
#[derive(Debug)]
pub struct Collections {
    collections: Resource,
}

impl Function for Collections {
    const ROUTE: &'static Route = &routes::COLLECTIONS;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { collections: Resource::new(config, Self::ROUTE, COLLECTIONS_PATH, shape)? })
    }

    async fn warm_up(&self) {
        self.collections.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        self.collections.answer(request).await
    }
}
