//! The products of one refresh with their prices, which serve all modes but `full`, and the body that they are from, in which
//! `book` finds the orders of a product.

use std::sync::{Arc, OnceLock};

use common::cache::Weight;
use common::envelope::Document;
use common::error::ApiError;
use common::upstream::bazaar::{self, Product, order_book};
use common::upstream::{UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

use crate::book::Book;
use crate::flips::flips;
use crate::items::{ProductIds, Selection};
use crate::processed::ProcessedItem;
use crate::query::{MarketQuery, ProductId, unknown_item};

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
    response: UpstreamResponse,
    /// In the provider's order.
    products: Vec<Product>,
    /// When the provider refreshed it, in Unix milliseconds; `None` if it does not say so.
    last_updated: Option<i64>,
    list: OnceLock<Arc<Document>>,
}

impl Market {
    /// Returns the market in the response.
    ///
    /// # Errors
    /// If the response is invalid, or more than half of its products are.
    pub(crate) fn of(response: &UpstreamResponse) -> Result<Self, UpstreamError> {
        let bazaar::Market { products, last_updated } = bazaar::market(response)?;
        let products = products.into_usable(response)?;
        Ok(Self { response: response.clone(), products, last_updated, list: OnceLock::new() })
    }

    /// Returns when the provider refreshed it, in Unix milliseconds, if it says so. Without that, [`Market::book`] cannot serve a
    /// product: its data includes it.
    pub(crate) const fn last_updated(&self) -> Option<i64> {
        self.last_updated
    }

    /// Returns the product with this id.
    ///
    /// # Errors
    /// `NOT_FOUND` if no product has it.
    pub(crate) fn product(&self, id: &ProductId) -> Result<&Product, ApiError> {
        let product = self.products.iter().find(|product| *product.id == *id.as_str());
        product.ok_or_else(|| unknown_item(id.as_str()))
    }

    /// Returns the data for the query.
    ///
    /// # Errors
    /// `NOT_FOUND` if no product has the id in the query.
    pub fn document(&self, query: &MarketQuery) -> Result<Arc<Document>, ApiError> {
        match query {
            MarketQuery::List => self.list(),
            MarketQuery::Item(id) => written(&ProcessedItem::of(self.product(id)?)),
            MarketQuery::Flips(limit) => written(&flips(&self.products, limit.get())),
        }
    }

    /// Returns the data of `mode=items`.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn items(&self, ids: &ProductIds) -> Result<Arc<Document>, UpstreamError> {
        self.document_of(&Selection::of(&self.products, ids))
    }

    /// Returns the data of `mode=book`.
    ///
    /// # Errors
    /// If the provider does not say when it refreshed the market, or does not give the orders of the product, or gives orders
    /// most of which make no sense.
    pub fn book(&self, id: &ProductId) -> Result<Arc<Document>, UpstreamError> {
        let last_updated = self.last_updated.ok_or_else(|| self.response.invalid("it has no lastUpdated"))?;
        let product = self.product(id).map_err(|error| self.response.invalid(error.message()))?;
        let orders = order_book(&self.response, product)?;
        self.document_of(&Book::of(product, orders, last_updated))
    }

    fn document_of(&self, data: &impl Serialize) -> Result<Arc<Document>, UpstreamError> {
        Document::of(data).map(Arc::new).map_err(|error| self.response.invalid(error))
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
    /// The body, the products, and the list in plain and escaped form.
    fn bytes(&self) -> usize {
        let products = self.products.len() * size_of::<Product>();
        self.response.body.len() + products + self.list.get().map_or(0, Weight::bytes)
    }
}
