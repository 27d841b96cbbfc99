//! `GET /v1/auctions`: one page of the running auctions.

use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::Page;
use common::request::Request;
use common::routes::{self, Route};
use common::upstream::auctions::{self, Auction, AuctionsPage};
use common::upstream::{Reply, Upstream, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// About twenty pages of the sixty that there are.
const CACHE_BYTES: usize = 24 * 1024 * 1024;

/// A page of the running auctions. Every page is a snapshot of its own: `totalPages` may differ from one to the next.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "AuctionsPage"))]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    /// The page, counted from 0.
    page: i64,
    /// How many pages there are.
    total_pages: i64,
    /// How many auctions there are on all pages.
    total_auctions: i64,
    /// When the provider made this page, in Unix milliseconds.
    last_updated: i64,
    /// The auctions of this page, the latest changed first.
    auctions: Vec<Auction<'a>>,
}

/// The data of an answer, made of the provider's to the question for the page `asked`.
///
/// # Errors
/// If the provider's answer makes no sense.
pub fn shape(asked: Page, reply: &Reply) -> Result<Document, UpstreamError> {
    let AuctionsPage { page, total_pages, total_auctions, last_updated, auctions, .. } =
        auctions::parse(asked, reply)?;
    let data = Data { page, total_pages, total_auctions, last_updated, auctions };
    Document::of(&data).map_err(|error| reply.nonsense(error))
}

/// The function.
#[derive(Debug)]
pub struct Auctions {
    upstream: Upstream,
    /// The pages by number; `None` for one beyond the last.
    pages: Cached<Page, Option<Arc<Document>>>,
}

impl Function for Auctions {
    const ROUTE: &'static Route = &routes::AUCTIONS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, pages: Cached::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let page: Page = request.parameter("page")?;
        let invocation = request.invocation();
        let fetch = async || match auctions::fetch(&self.upstream, invocation, page).await? {
            Some(reply) => Ok(Some(Arc::new(shape(page, &reply)?))),
            None => Ok(None),
        };
        let served = self.pages.get(page, invocation.now(), fetch).await?;
        let document = served.value.as_ref().ok_or_else(|| beyond_the_last(page))?;
        Ok(served.answer(Arc::clone(document)))
    }
}

fn beyond_the_last(page: Page) -> ApiError {
    let page = page.get();
    ApiError::not_found(format!(
        "There is no auctions page {page}. Page 0 says in 'totalPages' how many there are."
    ))
}

#[cfg(feature = "openapi")]
impl Described for Auctions {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE).parameter::<Page>("page")
    }
}
