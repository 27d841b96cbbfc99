//! `GET /v1/fire-sales`: the fire sales that run or are announced.

use common::envelope::Document;
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::fire_sales::{self, FireSale};
use common::upstream::{Reply, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// The fire sales that run or are announced; usually none.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "FireSales"))]
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

#[cfg(feature = "openapi")]
impl Described for FireSales {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}
