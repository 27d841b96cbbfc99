//! The simplest kind of route: one upstream resource, one document, no parameters.

use std::sync::Arc;

use crate::cache::Cached;
use crate::config::Config;
use crate::envelope::{Answer, Document};
use crate::error::ApiError;
use crate::lambda::StartError;
use crate::request::Request;
use crate::routes::Route;
use crate::upstream::{Reply, Upstream, UpstreamError};

/// A resource of the game's provider, and the document that was made of it last.
#[derive(Debug)]
pub struct Resource {
    upstream: Upstream,
    path: &'static str,
    shape: fn(&Reply) -> Result<Document, UpstreamError>,
    latest: Cached<(), Arc<Document>>,
}

impl Resource {
    /// The resource at `path`, of which `shape` makes the data of `route`.
    ///
    /// # Errors
    /// If the upstream cannot be asked at all.
    pub fn new(
        config: &Config,
        route: &Route,
        path: &'static str,
        shape: fn(&Reply) -> Result<Document, UpstreamError>,
    ) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, path, shape, latest: Cached::new(route.cache, usize::MAX) })
    }

    /// Opens a connection to the upstream.
    pub async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    /// The document, from memory while it is fresh.
    ///
    /// # Errors
    /// If the upstream gives no usable answer and there is no earlier one to serve.
    pub async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let invocation = request.invocation();
        let fetch = async || {
            let reply = self.upstream.get(invocation, self.path, &[]).await?;
            (self.shape)(&reply).map(Arc::new)
        };
        let served = self.latest.get((), invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}
