//! The products of one refresh with their prices, which serve all modes but `full`.

use std::sync::{Arc, OnceLock};

use common::cache::Weight;
use common::envelope::Document;
use common::error::ApiError;
use common::upstream::bazaar::Product;
use schemars::JsonSchema;
use serde::Serialize;

use crate::flips::flips;
use crate::processed::ProcessedItem;
use crate::query::{MarketQuery, unknown_item};

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

/// The products of one refresh.
#[derive(Debug)]
pub struct Market {
    /// In the provider's order.
    products: Vec<Product>,
    list: OnceLock<Arc<Document>>,
}

impl Market {
    /// The market with these products.
    pub(crate) const fn new(products: Vec<Product>) -> Self {
        Self { products, list: OnceLock::new() }
    }

    /// Returns the data for the query.
    ///
    /// # Errors
    /// `NOT_FOUND` if no product has the id in the query.
    pub fn document(&self, query: &MarketQuery) -> Result<Arc<Document>, ApiError> {
        match query {
            MarketQuery::List => self.list(),
            MarketQuery::Item(id) => {
                let product = self.products.iter().find(|product| *product.id == *id.as_str());
                written(&ProcessedItem::of(product.ok_or_else(|| unknown_item(id.as_str()))?))
            }
            MarketQuery::Flips(limit) => written(&flips(&self.products, limit.get())),
        }
    }

    fn list(&self) -> Result<Arc<Document>, ApiError> {
        if let Some(list) = self.list.get() {
            return Ok(Arc::clone(list));
        }
        let products = self.products.iter();
        let active =
            products.filter(|product| product.status.sell_price > 0.0 && product.status.buy_price > 0.0);
        let mut items: Vec<_> = active.map(|product| ListItem { id: &product.id }).collect();
        items.sort_unstable_by_key(|item| item.id);
        let document = written(&List { count: items.len(), items })?;
        Ok(Arc::clone(self.list.get_or_init(|| document)))
    }
}

fn written(data: &impl Serialize) -> Result<Arc<Document>, ApiError> {
    Document::of(data).map(Arc::new).map_err(ApiError::internal)
}

impl Weight for Market {
    /// The products, and the list in plain and escaped form.
    fn bytes(&self) -> usize {
        self.products.len() * size_of::<Product>() + self.list.get().map_or(0, Weight::bytes)
    }
}
