//! `mode=items`: many products at once.

use std::collections::HashMap;

use common::routes::BazaarIds;
use common::upstream::bazaar::Product;
use foldhash::fast::RandomState;
use schemars::JsonSchema;
use serde::Serialize;

use crate::processed::ProcessedItem;

/// The data of `mode=items`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarItems")]
pub(crate) struct Selection<'a> {
    /// The number of items.
    count: usize,
    /// The products, in the order of their ids in the request.
    items: Vec<ProcessedItem<'a>>,
    /// The requested ids that no product has, in the order of the request.
    unknown: Vec<&'a str>,
}

impl<'a> Selection<'a> {
    /// Returns the products with these ids.
    pub(crate) fn of(products: &'a [Product], ids: &'a BazaarIds) -> Self {
        let ids = ids.distinct();
        // One pass over the products, regardless of the number of ids.
        let mut found: HashMap<&str, Option<&Product>, RandomState> =
            ids.iter().map(|id| (*id, None)).collect();
        for product in products {
            if let Some(place) = found.get_mut(&*product.id) {
                *place = Some(product);
            }
        }
        let mut items = Vec::with_capacity(ids.len());
        let mut unknown = Vec::new();
        for id in ids {
            match found.get(id).copied().flatten() {
                Some(product) => items.push(ProcessedItem::of(product)),
                None => unknown.push(id),
            }
        }
        Self { count: items.len(), items, unknown }
    }
}
