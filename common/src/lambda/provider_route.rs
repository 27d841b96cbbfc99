//! The handler of routes that fetch one path of the provider, without parameters, and transform the response.

use std::marker::PhantomData;
use std::sync::Arc;

use super::handler::Handler;
use super::start::StartError;
use crate::cache::Cache;
use crate::config::Config;
use crate::error::ApiError;
use crate::request::Request;
use crate::request::route::Route;
use crate::response::Response;
use crate::response::envelope::Document;
use crate::upstream::{Upstream, UpstreamError, UpstreamRequest, UpstreamResponse};

/// A route whose data is a transformation of one response of the provider.
pub trait ProviderRoute: 'static {
    /// The route, which reads one path of the provider.
    const ROUTE: &'static Route;

    /// Returns the data of the route, built from the provider's response.
    fn document(response: &UpstreamResponse) -> Result<Document, UpstreamError>;
}

/// The handler of the route `R`. It caches the last document.
#[derive(Debug)]
pub struct ProviderHandler<R> {
    upstream: Upstream,
    path: &'static str,
    latest: Cache<(), Arc<Document>>,
    route: PhantomData<fn() -> R>,
}

impl<R: ProviderRoute> Handler for ProviderHandler<R> {
    const ROUTE: &'static Route = R::ROUTE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let [path] = *R::ROUTE.reads.paths() else { return Err(StartError::NotOnePath(R::ROUTE.path)) };
        let upstream = Upstream::provider(config, None)?;
        Ok(Self { upstream, path, latest: Cache::new(R::ROUTE.cache, usize::MAX), route: PhantomData })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let invocation = request.invocation();
        let fetch = async || {
            let response = self.upstream.get(invocation, &UpstreamRequest::of(self.path)).await?;
            R::document(&response).map(Arc::new)
        };
        Ok(self.latest.get((), invocation, fetch).await?.into())
    }
}
