//! `GET /v1/fire-sales`: the fire sales that run or are announced.

use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::request::Request;
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::fire_sales::{self, FireSale};
use common::upstream::{Reply, UpstreamError};
use serde::Serialize;

/// The data of an answer.
#[derive(Debug, Serialize)]
struct Data<'a> {
    /// The sales, in the provider's order.
    sales: Vec<FireSale<'a>>,
}

fn shape(reply: &Reply) -> Result<Document, UpstreamError> {
    let fire_sales::FireSales { sales, .. } = reply.parse()?;
    Document::of(&Data { sales }).map_err(|error| reply.nonsense(error))
}

/// The function.
#[derive(Debug)]
pub struct FireSales {
    sales: Resource,
}

impl Function for FireSales {
    const ROUTE: &'static Route = &routes::FIRE_SALES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { sales: Resource::new(config, Self::ROUTE, fire_sales::PATH, shape)? })
    }

    async fn warm_up(&self) {
        self.sales.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        self.sales.answer(request).await
    }
}
