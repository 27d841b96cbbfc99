//! `GET /v1/fire-sales`: the fire sales that are running or announced.

use common::description::{Describe, Description};
use common::lambda::provider_route::ProviderRoute;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::fire_sales::{self, FireSale};
use common::upstream::{UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

/// The fire sales that are running or announced.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FireSales")]
struct CurrentSales<'a> {
    /// Running and announced sales, in the provider's order; usually empty.
    sales: Vec<FireSale<'a>>,
}

#[derive(Debug)]
pub struct FireSales;

impl ProviderRoute for FireSales {
    const ROUTE: &'static Route = &routes::FIRE_SALES;

    fn document(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
        let sales = fire_sales::parse(response)?.into_any_usable(response)?;
        Document::of(&CurrentSales { sales }).map_err(|error| response.invalid(error))
    }
}

impl Describe for FireSales {
    fn description() -> Description {
        Description::of::<CurrentSales>(Self::ROUTE, include_str!("../example.json"))
    }
}
