//! `GET /v1/auctions`: one page of the running auctions.

use std::sync::Arc;

use common::cache::{Cache, Failure, Lookup, Weight};
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::invocation::Invocation;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::PageNumber;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::auctions::{self, Auction, AuctionsPage};
use common::upstream::{Refresh, Rhythm, Upstream, UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

const FIRST: PageNumber = PageNumber::new(0);

/// Room for about 20 of the provider's roughly 60 pages.
const CACHE_BYTES: usize = 24 * 1024 * 1024;

/// A page of the running auctions. The provider refreshes each page separately, so `totalPages` may differ
/// between pages.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsPage")]
#[serde(rename_all = "camelCase")]
struct RunningAuctions<'a> {
    /// The page number, counted from 0.
    page: i64,
    /// The number of pages.
    total_pages: i64,
    /// The number of auctions on all pages.
    total_auctions: i64,
    /// When the provider refreshed this page, in Unix milliseconds.
    last_updated: i64,
    /// The auctions of this page, the last updated one first.
    auctions: Vec<Auction<'a>>,
}

/// Returns the data of a response for the page `requested`, from the provider's response.
pub fn shape(requested: PageNumber, response: &UpstreamResponse) -> Result<CachedPage, UpstreamError> {
    let AuctionsPage { page, total_pages, total_auctions, last_updated, auctions, .. } =
        auctions::parse(requested, response)?;
    let auctions = auctions.into_usable(response)?;
    let data = RunningAuctions { page, total_pages, total_auctions, last_updated, auctions };
    let document = Document::of(&data).map_err(|error| response.invalid(error))?;
    Ok(CachedPage { document: Arc::new(document), total_pages, refresh: Refresh::at(last_updated) })
}

/// The data of a page, the number of pages, and the provider's refresh.
#[derive(Debug, Clone)]
pub struct CachedPage {
    document: Arc<Document>,
    total_pages: i64,
    refresh: Refresh,
}

impl CachedPage {
    /// Whether a page with this number is among the `total_pages`.
    fn counts(&self, page: PageNumber) -> bool {
        i64::from(page.get()) < self.total_pages
    }
}

impl Weight for CachedPage {
    fn bytes(&self) -> usize {
        self.document.bytes()
    }
}

#[derive(Debug)]
pub struct Auctions {
    upstream: Upstream,
    rhythm: Rhythm,
    /// The pages by number; `None` for a page beyond the last.
    pages: Cache<PageNumber, Option<CachedPage>>,
}

impl Auctions {
    /// Whether the page is known to exist: page 0 or the page itself is cached and counts it, or page 0
    /// counts it after a fetch. So the provider is not asked for pages beyond the last. If page 0 cannot be
    /// fetched, the page may exist.
    ///
    /// # Errors
    /// If page 0 does not count the page.
    async fn is_known(&self, page: PageNumber, invocation: &Invocation) -> Result<bool, ApiError> {
        let kept = |cached| self.pages.kept(cached, invocation.now()).and_then(|kept| kept.value);
        if page == FIRST || [page, FIRST].iter().filter_map(kept).any(|kept| kept.counts(page)) {
            return Ok(true);
        }
        match self.page(FIRST, true, invocation).await {
            Ok(Lookup { value: Some(first), refresh_failure: None, .. }) if first.counts(page) => Ok(true),
            Ok(Lookup { value: Some(_), refresh_failure: None, .. }) => Err(unknown_page(page)),
            _ => Ok(false),
        }
    }

    /// Returns the page; `None` if it is beyond the last.
    async fn page(
        &self,
        page: PageNumber,
        is_known: bool,
        invocation: &Invocation,
    ) -> Result<Lookup<Option<CachedPage>>, Failure<UpstreamError>> {
        let now = invocation.now();
        let fetch = async || {
            // During a refresh, the provider responds with 404 to some existing pages.
            let response = auctions::fetch(&self.upstream, invocation, page, is_known).await?;
            let shaped = response.map(|response| shape(page, &response)).transpose()?;
            let kept = self.pages.kept(&page, now);
            let kept = kept.and_then(|kept| Some((kept.value?.refresh, kept.fetched_at)));
            Ok::<_, UpstreamError>(
                shaped.map(|shaped| CachedPage { refresh: shaped.refresh.replacing(kept), ..shaped }),
            )
        };
        let is_latest = |kept: &Option<CachedPage>| {
            kept.as_ref().is_some_and(|kept| self.rhythm.is_latest(kept.refresh, now))
        };
        self.pages.get_revalidated(page, invocation, is_latest, fetch).await
    }
}

impl Handler for Auctions {
    const ROUTE: &'static Route = &routes::AUCTIONS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::provider(config, None)?;
        let rhythm = Rhythm::of(auctions::REFRESH, config)?;
        Ok(Self { upstream, rhythm, pages: Cache::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let page: PageNumber = request.parameter("page")?;
        let invocation = request.invocation();
        let is_known = self.is_known(page, invocation).await?;
        let lookup = self.page(page, is_known, invocation).await?;
        match &lookup.value {
            Some(cached) => Ok(Response::of_lookup(&lookup, Arc::clone(&cached.document))),
            None => Err(unknown_page(page)),
        }
    }
}

/// The error of a page beyond the last.
fn unknown_page(page: PageNumber) -> ApiError {
    ApiError::not_found(format!(
        "There is no auctions page {}. 'totalPages' of page 0 is the number of pages.",
        page.get()
    ))
}

impl Describe for Auctions {
    fn description() -> Description {
        Description::of::<RunningAuctions>(Self::ROUTE, include_str!("../example.json"))
            .invalid("page", "/v1/auctions?page=-1")
            .fails("page", "/v1/auctions?page=9999", unknown_page(PageNumber::new(9999)))
    }
}
