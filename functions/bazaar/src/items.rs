//! `mode=items`: many products at once.

use std::collections::HashMap;

use common::routes::BazaarIds;
use common::upstream::UpstreamResponse;
use common::upstream::bazaar::Product;
use common::upstream::bazaar::prices::tops;
use foldhash::fast::RandomState;
use schemars::JsonSchema;
use serde::Serialize;

use crate::processed::ProcessedItem;

/// A product with its spread and the prices of its best orders.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarItemWithOrders")]
#[serde(rename_all = "camelCase")]
struct SelectedItem<'a> {
    #[serde(flatten)]
    item: ProcessedItem<'a>,
    /// The highest price of a buy order, in coins, which an instant sale gets; `null` without buy orders, or
    /// if the orders are invalid.
    top_buy_order: Option<f64>,
    /// The lowest price of a sell offer, in coins, which an instant purchase pays; `null` without sell
    /// offers, or if the orders are invalid.
    top_sell_offer: Option<f64>,
}

/// The data of `mode=items`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarItems")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Selection<'a> {
    /// When the provider refreshed the data, in Unix milliseconds.
    last_updated: i64,
    /// The number of items.
    count: usize,
    /// The products, in the order of their ids in the request.
    items: Vec<SelectedItem<'a>>,
    /// The requested ids that no product has, in the order of the request.
    unknown: Vec<&'a str>,
}

impl<'a> Selection<'a> {
    /// Returns the products with these ids, with their orders in the response, which was refreshed at
    /// `last_updated`.
    pub(crate) fn of(
        response: &UpstreamResponse,
        products: &'a [Product],
        last_updated: i64,
        ids: &'a BazaarIds,
    ) -> Self {
        let ids = ids.distinct();
        // One pass over the products, regardless of the number of ids.
        let mut found: HashMap<&str, Option<&Product>, RandomState> =
            ids.iter().map(|id| (*id, None)).collect();
        for product in products {
            if let Some(place) = found.get_mut(&*product.id) {
                *place = Some(product);
            }
        }
        let mut known = Vec::with_capacity(ids.len());
        let mut unknown = Vec::new();
        for id in ids {
            match found.get(id).copied().flatten() {
                Some(product) => known.push(product),
                None => unknown.push(id),
            }
        }
        let tops = tops(response, known.iter().copied());
        let items = known.into_iter().zip(tops).map(|(product, [top_buy_order, top_sell_offer])| {
            SelectedItem { item: ProcessedItem::of(product), top_buy_order, top_sell_offer }
        });
        let items: Vec<_> = items.collect();
        Self { last_updated, count: items.len(), items, unknown }
    }
}
