//! One refresh of the bazaar, which serves all four modes. There are two ways to read the body: as raw products and as prices.
//! Each is read when a mode first needs it, so that no request waits for the one that it does not need.

use std::sync::{Arc, OnceLock};

use common::cache::Weight;
use common::envelope::Document;
use common::error::ApiError;
use common::upstream::bazaar::{Bazaar, Market, Product};
use common::upstream::{UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

use crate::flips::flips;
use crate::processed::ProcessedItem;
use crate::query::{Query, unknown_item};

/// The data of `mode=list`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarList")]
pub(crate) struct List<'a> {
    /// The number of items.
    count: usize,
    /// The ids of the products with both prices above 0, sorted.
    items: Vec<ListItem<'a>>,
}

/// One active product.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarListItem")]
struct ListItem<'a> {
    /// The product's id.
    id: &'a str,
}

/// One refresh of the bazaar.
#[derive(Debug)]
pub struct Snapshot {
    response: UpstreamResponse,
    full: OnceLock<Arc<Document>>,
    products: OnceLock<Vec<Product>>,
    list: OnceLock<Arc<Document>>,
}

impl Snapshot {
    /// The snapshot in the provider's response, not yet parsed.
    #[must_use]
    pub fn new(response: UpstreamResponse) -> Self {
        let (full, products, list) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { response, full, products, list }
    }

    /// Returns the data for the query, or the error of a query for a product that does not exist.
    ///
    /// # Errors
    /// If the provider's response is invalid.
    pub fn document(&self, query: &Query) -> Result<Result<Arc<Document>, ApiError>, UpstreamError> {
        match query {
            Query::Full => self.full().map(Ok),
            Query::List => self.list().map(Ok),
            Query::Item(id) => {
                let product = self.products()?.iter().find(|product| *product.id == *id.as_str());
                let Some(product) = product else { return Ok(Err(unknown_item(id.as_str()))) };
                self.written(&ProcessedItem::of(product)).map(Ok)
            }
            Query::Flips(limit) => self.written(&flips(self.products()?, limit.get())).map(Ok),
        }
    }

    /// The data of `mode=full`: the provider's products, byte for byte.
    fn full(&self) -> Result<Arc<Document>, UpstreamError> {
        if let Some(full) = self.full.get() {
            return Ok(Arc::clone(full));
        }
        let Bazaar { last_updated, products, .. } = self.response.parse()?;
        let body = &self.response.body;
        let head = format!(r#"{{"lastUpdated":{last_updated},"products":"#);
        let document = Document::passing(head, Arc::clone(body), products.range_in(body), "}");
        Ok(Arc::clone(self.full.get_or_init(|| Arc::new(document))))
    }

    /// The products and their prices, in the provider's order.
    fn products(&self) -> Result<&[Product], UpstreamError> {
        if let Some(products) = self.products.get() {
            return Ok(products);
        }
        let market: Market = self.response.parse()?;
        Ok(self.products.get_or_init(|| market.products))
    }

    /// The data of `mode=list`.
    fn list(&self) -> Result<Arc<Document>, UpstreamError> {
        if let Some(list) = self.list.get() {
            return Ok(Arc::clone(list));
        }
        let products = self.products()?.iter();
        let active =
            products.filter(|product| product.status.sell_price > 0.0 && product.status.buy_price > 0.0);
        let mut items: Vec<_> = active.map(|product| ListItem { id: &product.id }).collect();
        items.sort_unstable_by_key(|item| item.id);
        let document = self.written(&List { count: items.len(), items })?;
        Ok(Arc::clone(self.list.get_or_init(|| document)))
    }

    fn written(&self, data: &impl Serialize) -> Result<Arc<Document>, UpstreamError> {
        Document::of(data).map(Arc::new).map_err(|error| self.response.invalid(error))
    }
}

impl Weight for Snapshot {
    /// The body and its escaped form.
    fn bytes(&self) -> usize {
        self.response.body.len() * 2
    }
}
