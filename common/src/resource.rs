//! The simplest kind of function: one resource of the game's provider, one document, no parameters.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::cache::Cached;
use crate::config::Config;
use crate::envelope::{Answer, Document};
use crate::error::ApiError;
use crate::lambda::{Function, StartError};
use crate::request::Request;
use crate::routes::Route;
use crate::upstream::{Question, Reply, Upstream, UpstreamError};

/// A route that answers with what it makes of one resource of the provider.
pub trait Resource {
    /// The route.
    const ROUTE: &'static Route;
    /// The provider's path.
    const PATH: &'static str;

    /// The data of an answer, made of the provider's.
    ///
    /// # Errors
    /// If the provider's answer makes no sense.
    fn document(reply: &Reply) -> Result<Document, UpstreamError>;
}

/// The function that answers with the resource `R`, from memory while it is fresh.
#[derive(Debug)]
pub struct Mirror<R> {
    upstream: Upstream,
    latest: Cached<(), Arc<Document>>,
    resource: PhantomData<R>,
}

impl<R: Resource> Function for Mirror<R> {
    const ROUTE: &'static Route = R::ROUTE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, latest: Cached::new(R::ROUTE.cache, usize::MAX), resource: PhantomData })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let invocation = request.invocation();
        let fetch = async || {
            let reply = self.upstream.get(invocation, &Question::of(R::PATH)).await?;
            R::document(&reply).map(Arc::new)
        };
        let served = self.latest.get((), invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}
