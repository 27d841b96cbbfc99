//! One refresh of the bazaar. It serves all modes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use common::cache::Weight;
use common::error::ApiError;
use common::response::envelope::Document;
use common::time::UnixMilliseconds;
use common::upstream::bazaar::{self, Orders, Product, order_book};
use common::upstream::{Refresh, UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

use crate::book::Book;
use crate::flips::flips;
use crate::items::Selection;
use crate::processed::ProcessedItem;
use crate::query::{ProductId, Query, unknown_item};

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
    last_updated: i64,
    /// In the provider's order.
    products: Vec<Product>,
    /// The data of the modes without parameters. Each is built for the first request that needs it.
    full: OnceLock<Arc<Document>>,
    list: OnceLock<Arc<Document>>,
    prices: OnceLock<Arc<Document>>,
    refresh: Refresh,
}

impl Snapshot {
    /// Returns the snapshot in the response.
    ///
    /// # Errors
    /// If the response is invalid, if more than half of its products are invalid, or if no product has a
    /// price.
    pub fn of(response: UpstreamResponse, orders: Orders) -> Result<Self, UpstreamError> {
        let bazaar::Market { products, last_updated, raw } = bazaar::market(&response, orders)?;
        let products = products.into_usable(&response)?;
        let full = raw.map(|raw| full(&response, last_updated, raw));
        Ok(Self {
            response,
            last_updated,
            products,
            full: full.map(OnceLock::from).unwrap_or_default(),
            list: OnceLock::new(),
            prices: OnceLock::new(),
            refresh: Refresh::at(last_updated),
        })
    }

    /// Returns this snapshot with [`Refresh::replacing`] applied to its refresh. `kept` is the replaced
    /// snapshot and the time of its fetch.
    pub(crate) fn replacing(self, kept: Option<(&Self, UnixMilliseconds)>) -> Self {
        let kept = kept.map(|(kept, fetched_at)| (kept.refresh, fetched_at));
        Self { refresh: self.refresh.replacing(kept), ..self }
    }

    /// Returns the refresh of the provider that the snapshot contains.
    pub(crate) const fn refresh(&self) -> Refresh {
        self.refresh
    }

    /// Returns the data for the query.
    ///
    /// # Errors
    /// `NOT_FOUND` if no product has the id in the query. An internal error if the requested orders are
    /// malformed.
    pub fn document(&self, query: &Query) -> Result<Arc<Document>, ApiError> {
        match query {
            Query::Full => Ok(self.full()?),
            Query::List => self.list(),
            Query::Prices => self.prices(),
            Query::Item(id) => written(&ProcessedItem::of(self.product(id)?)),
            Query::Flips(rules) => written(&flips(&self.products, rules)),
            Query::Items(ids) => {
                written(&Selection::of(&self.response, &self.products, self.last_updated, ids))
            }
            Query::Book(id) => {
                let product = self.product(id)?;
                let orders = order_book(&self.response, product)?;
                written(&Book::of(product, orders, self.last_updated))
            }
        }
    }

    /// Returns the data of `mode=full`: the provider's products, byte for byte.
    fn full(&self) -> Result<Arc<Document>, UpstreamError> {
        if let Some(full) = self.full.get() {
            return Ok(Arc::clone(full));
        }
        let raw = bazaar::market(&self.response, Orders::Read)?.raw.unwrap_or_default();
        Ok(Arc::clone(self.full.get_or_init(|| full(&self.response, self.last_updated, raw))))
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
        let list = written(&List { count: items.len(), items })?;
        Ok(Arc::clone(self.list.get_or_init(|| list)))
    }

    fn prices(&self) -> Result<Arc<Document>, ApiError> {
        if let Some(prices) = self.prices.get() {
            return Ok(Arc::clone(prices));
        }
        let prices = written(&bazaar::prices::prices(&self.response, &self.products, self.last_updated))?;
        Ok(Arc::clone(self.prices.get_or_init(|| prices)))
    }

    fn product(&self, id: &ProductId) -> Result<&Product, ApiError> {
        let product = self.products.iter().find(|product| *product.id == *id.as_str());
        product.ok_or_else(|| unknown_item(id.as_str()))
    }
}

/// The data of `mode=full`, in the shape of [`crate::schema::Bazaar`].
fn full(response: &UpstreamResponse, last_updated: i64, raw: Range<usize>) -> Arc<Document> {
    let none = if raw.is_empty() { "{}" } else { "" };
    let before = format!(r#"{{"lastUpdated":{last_updated},"products":{none}"#);
    Arc::new(Document::around(before, (&response.body, raw), "}"))
}

fn written(data: &impl Serialize) -> Result<Arc<Document>, ApiError> {
    Document::of(data).map(Arc::new).map_err(ApiError::internal)
}

impl Weight for Snapshot {
    fn bytes(&self) -> usize {
        self.response.body.len() + self.products.len() * size_of::<Product>()
    }
}
