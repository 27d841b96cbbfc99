//! `GET /v1/fire-sales`: the fire sales that run or are announced.

use common::envelope::Document;
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

/// The fire sales.
#[derive(Debug)]
pub struct FireSales;

impl Resource for FireSales {
    const ROUTE: &'static Route = &routes::FIRE_SALES;
    const PATH: &'static str = fire_sales::PATH;

    fn document(reply: &Reply) -> Result<Document, UpstreamError> {
        let fire_sales::FireSales { sales, .. } = reply.parse()?;
        Document::of(&Data { sales }).map_err(|error| reply.nonsense(error))
    }
}
