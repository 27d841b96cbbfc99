//! One refresh of the bazaar, from which all four modes answer. The body is read in two ways, each when a mode first
//! needs it: as raw products, and as prices. Doing both at once would cost every request the half that it does not need.

use std::sync::{Arc, OnceLock};

use common::cache::Weight;
use common::envelope::Document;
use common::upstream::bazaar::{Bazaar, Market, Product};
use common::upstream::{Reply, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::Question;

/// The data of `mode=list`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "BazaarList"))]
pub(crate) struct List<'a> {
    /// How many items follow.
    count: usize,
    /// The ids of the products with both prices above 0, sorted.
    items: Vec<ListItem<'a>>,
}

/// One active product.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "BazaarListItem"))]
struct ListItem<'a> {
    /// The product's id.
    id: &'a str,
}

/// One refresh of the bazaar.
#[derive(Debug)]
pub struct Snapshot {
    reply: Reply,
    full: OnceLock<Arc<Document>>,
    products: OnceLock<Vec<Product>>,
    list: OnceLock<Arc<Document>>,
}

impl Snapshot {
    /// The snapshot in the provider's answer, which nobody has read yet.
    #[must_use]
    pub fn new(reply: Reply) -> Self {
        let (full, products, list) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { reply, full, products, list }
    }

    /// Reads what the answer to `question` will need.
    pub(crate) fn prepare(&self, question: &Question) -> Result<(), UpstreamError> {
        match question {
            Question::Full => self.full().map(drop),
            Question::List | Question::Item(_) | Question::Flips(_) => self.products().map(drop),
        }
    }

    /// The data of `mode=full`: the provider's products, byte for byte.
    ///
    /// # Errors
    /// If the body makes no sense.
    pub fn full(&self) -> Result<Arc<Document>, UpstreamError> {
        if let Some(full) = self.full.get() {
            return Ok(Arc::clone(full));
        }
        let Bazaar { last_updated, products, .. } = self.reply.parse()?;
        let body = &self.reply.body;
        let head = format!(r#"{{"lastUpdated":{last_updated},"products":"#);
        let document = Document::passing(head, Arc::clone(body), products.range_in(body), "}");
        Ok(Arc::clone(self.full.get_or_init(|| Arc::new(document))))
    }

    /// The products and their prices, in the provider's order.
    ///
    /// # Errors
    /// If the body makes no sense.
    pub fn products(&self) -> Result<&[Product], UpstreamError> {
        if let Some(products) = self.products.get() {
            return Ok(products);
        }
        let market: Market = self.reply.parse()?;
        Ok(self.products.get_or_init(|| market.products))
    }

    /// The data of `mode=list`.
    ///
    /// # Errors
    /// If the body makes no sense.
    pub fn list(&self) -> Result<Arc<Document>, UpstreamError> {
        if let Some(list) = self.list.get() {
            return Ok(Arc::clone(list));
        }
        let products = self.products()?.iter();
        let active =
            products.filter(|product| product.status.sell_price > 0.0 && product.status.buy_price > 0.0);
        let mut items: Vec<_> = active.map(|product| ListItem { id: &product.id }).collect();
        items.sort_unstable_by_key(|item| item.id);
        let document = Document::of(&List { count: items.len(), items });
        let document = document.map_err(|error| self.reply.nonsense(error))?;
        Ok(Arc::clone(self.list.get_or_init(|| Arc::new(document))))
    }
}

impl Weight for Snapshot {
    /// The body, and its escaped form.
    fn bytes(&self) -> usize {
        self.reply.body.len() * 2
    }
}
