//! `GET /v1/bazaar`: the bazaar in four modes, all from one snapshot.

#[cfg(feature = "openapi")]
mod described;
mod flips;
mod mode;
mod processed;
mod snapshot;

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::{Echo, Limit};
use common::request::Request;
use common::routes::{self, Route};
use common::upstream::bazaar::PATH;
use common::upstream::{self, Upstream};

pub use flips::flips;
use mode::Mode;
pub use processed::ProcessedItem;
pub use snapshot::Snapshot;

/// How many flips an answer has: 1 to 100, 20 by default (`interface.md`, part 4).
pub type FlipsLimit = Limit<1, 100, 20>;

/// A request, as far as it concerns this route. An id is any text: one that matches no product is not found.
#[derive(Debug)]
enum Question {
    Full,
    List,
    Item(ProductId),
    Flips(FlipsLimit),
}

impl Question {
    fn of(request: &Request) -> Result<Self, ApiError> {
        Ok(match request.parameter("mode")? {
            Mode::Full => Self::Full,
            Mode::List => Self::List,
            Mode::Item => Self::Item(request.required("id", " with mode=item")?),
            Mode::Flips => Self::Flips(request.parameter("limit")?),
        })
    }
}

/// The id that a caller asks for.
#[derive(Debug)]
struct ProductId(String);

impl FromStr for ProductId {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// The function.
#[derive(Debug)]
pub struct Bazaar {
    upstream: Upstream,
    latest: Cached<(), Arc<Snapshot>>,
}

impl Function for Bazaar {
    const ROUTE: &'static Route = &routes::BAZAAR;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, latest: Cached::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let question = Question::of(request)?;
        let invocation = request.invocation();
        let fetch = async || {
            let snapshot = Snapshot::new(self.upstream.get(invocation, &upstream::Question::of(PATH)).await?);
            // A body that cannot answer is a failed refresh, not a snapshot.
            snapshot.prepare(&question)?;
            Ok(Arc::new(snapshot))
        };
        let served = self.latest.get((), invocation.now(), fetch).await?;
        let document = answer(&served.value, &question)?;
        Ok(served.answer(document))
    }
}

fn answer(snapshot: &Snapshot, question: &Question) -> Result<Arc<Document>, ApiError> {
    match question {
        Question::Full => Ok(snapshot.full()?),
        Question::List => Ok(snapshot.list()?),
        Question::Item(ProductId(id)) => {
            let product = snapshot.products()?.iter().find(|product| *product.id == **id);
            let product = product.ok_or_else(|| unknown_item(id))?;
            Ok(Arc::new(Document::of(&ProcessedItem::of(product)).map_err(ApiError::internal)?))
        }
        Question::Flips(limit) => {
            let flips = flips(snapshot.products()?, limit.get());
            Ok(Arc::new(Document::of(&flips).map_err(ApiError::internal)?))
        }
    }
}

fn unknown_item(id: &str) -> ApiError {
    let id = Echo::of(id);
    ApiError::not_found(format!(
        "No bazaar item has the id '{id}'. See mode=list for the ids of all active items."
    ))
}

#[cfg(feature = "openapi")]
impl Described for Bazaar {
    fn description() -> Description {
        Description::new(Self::ROUTE)
            .kind::<described::Bazaar>("full")
            .kind::<snapshot::List>("list")
            .kind::<ProcessedItem>("item")
            .kind::<flips::Flips>("flips")
            .parameter::<Mode>("mode")
            .parameter::<ProductId>("id")
            .parameter::<FlipsLimit>("limit")
    }
}
