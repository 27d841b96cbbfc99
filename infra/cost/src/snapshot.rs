//! The bazaar body that is recorded.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::Error;
use crate::targets::MIN_PRODUCTS;

const PRODUCTS: &str = "products";
const STATUS: &str = "quick_status";
/// The prices in the quick status.
const PRICES: [&str; 2] = ["sellPrice", "buyPrice"];
/// The suffix of a copied product's id.
const COPY: &str = "_COPY";

/// A body with enough products.
#[derive(Debug)]
pub(super) struct Snapshot {
    content: Map<String, Value>,
    products: Map<String, Value>,
    copies: usize,
}

impl Snapshot {
    pub(super) async fn read(path: &Path) -> Result<Self, Error> {
        let body = tokio::fs::read_to_string(path).await;
        Self::new(&body.map_err(|cause| Error::ReadSnapshot { path: path.to_owned(), cause })?)
    }

    /// The simulator's body. It has slightly too few products, so some of them are copied.
    ///
    /// # Errors
    /// When it is not a bazaar body.
    pub(super) fn of_simulator(body: &str) -> Result<Self, Error> {
        let mut snapshot = Self::parse(body)?;
        snapshot.copies = MIN_PRODUCTS.saturating_sub(snapshot.products.len());
        // Spread over the whole list, because neighbouring ids are similar.
        let apart = snapshot.products.len() / snapshot.copies.max(1);
        let originals = snapshot.products.iter().step_by(apart.max(1)).take(snapshot.copies);
        let copies: Vec<_> =
            originals.map(|(id, product)| (format!("{id}{COPY}"), product.clone())).collect();
        snapshot.products.extend(copies);
        snapshot.checked()
    }

    /// # Errors
    /// When it is not a bazaar body, or has too few products.
    pub(super) fn new(body: &str) -> Result<Self, Error> {
        Self::parse(body)?.checked()
    }

    fn parse(body: &str) -> Result<Self, Error> {
        let mut content: Map<String, Value> =
            serde_json::from_str(body).map_err(|error| Error::InvalidSnapshot(error.to_string()))?;
        match content.remove(PRODUCTS) {
            Some(Value::Object(products)) => Ok(Self { content, products, copies: 0 }),
            _ => Err(Error::InvalidSnapshot("it has no products".to_owned())),
        }
    }

    fn checked(self) -> Result<Self, Error> {
        let products = self.products.len();
        if products < MIN_PRODUCTS { Err(Error::TooFewProducts(products)) } else { Ok(self) }
    }

    /// The number of products, with or without a price.
    pub(super) fn products(&self) -> usize {
        self.products.len()
    }

    /// The number of copied products.
    pub(super) const fn copies(&self) -> usize {
        self.copies
    }

    pub(super) fn body(&self) -> String {
        let mut content = self.content.clone();
        content.insert(PRODUCTS.to_owned(), Value::Object(self.products.clone()));
        Value::Object(content).to_string()
    }

    /// The snapshot with a price for each product: those without one take turns borrowing another product's.
    ///
    /// # Errors
    /// When no product has a price.
    pub(super) fn all_priced(&self) -> Result<Self, Error> {
        let statuses = self.products.values().filter_map(|product| product.get(STATUS));
        let priced: Vec<_> = statuses.filter(|status| has_price(status)).cloned().collect();
        if priced.is_empty() {
            return Err(Error::InvalidSnapshot("no product has a price".to_owned()));
        }
        let mut others = priced.into_iter().cycle();
        let mut products = self.products.clone();
        for (_, product) in &mut products {
            if let Some(status) = product.get_mut(STATUS).filter(|status| !has_price(status)) {
                *status = others.next().unwrap_or_default();
            }
        }
        Ok(Self { content: self.content.clone(), products, copies: self.copies })
    }

    /// The snapshot with all prices multiplied by this factor.
    pub(super) fn moved(&self, factor: f64) -> Self {
        let mut products = self.products.clone();
        for status in products.iter_mut().filter_map(|(_, product)| product.get_mut(STATUS)) {
            for name in PRICES {
                if let Some(price) = status.get_mut(name) {
                    *price = (price.as_f64().unwrap_or_default() * factor).into();
                }
            }
        }
        Self { content: self.content.clone(), products, copies: self.copies }
    }
}

fn has_price(status: &Value) -> bool {
    let price = |name| status.get(name).and_then(Value::as_f64).unwrap_or_default();
    PRICES.into_iter().any(|name| price(name) > 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(products: usize) -> String {
        let product = |number: usize| {
            let price = if number.is_multiple_of(3) { number + 1 } else { 0 };
            let status = json!({"sellPrice": price, "buyPrice": 0.0, "sellVolume": 1, "buyVolume": 2});
            (format!("PRODUCT_{number}"), json!({"quick_status": status}))
        };
        let products: Map<_, _> = (0..products).map(product).collect();
        json!({"success": true, "products": products}).to_string()
    }

    #[test]
    fn an_invalid_or_small_body_is_refused_with_a_reason() {
        let said = |body: &str| Snapshot::new(body).unwrap_err().to_string();
        assert!(said("[").starts_with("the snapshot is not a body of the provider's bazaar: "));
        assert!(said("{}").ends_with("it has no products"));
        let few = "the snapshot has 1899 products; at least 1900 are needed for a realistic measurement";
        assert_eq!(said(&body(1_899)), few);
        assert_eq!(Snapshot::new(&body(1_900)).unwrap().products(), 1_900);
    }

    #[test]
    fn the_simulators_body_is_filled_up_with_copies() {
        let snapshot = Snapshot::of_simulator(&body(1_877)).unwrap();
        assert_eq!((snapshot.products(), snapshot.copies()), (1_900, 23));
        let content: Value = serde_json::from_str(&snapshot.body()).unwrap();
        let products = content["products"].as_object().unwrap();
        let copies: Vec<_> = products.keys().filter_map(|id| id.strip_suffix(COPY)).collect();
        assert_eq!(copies.len(), 23);
        assert!(copies.iter().all(|id| products[*id] == products[&format!("{id}{COPY}")]));
        assert_eq!(content["success"], true);

        let large = Snapshot::of_simulator(&body(1_901)).unwrap();
        assert_eq!((large.products(), large.copies()), (1_901, 0));
        assert!(Snapshot::of_simulator("{\"products\": {}}").is_err());
    }

    #[test]
    fn only_products_without_a_price_borrow_one() {
        let snapshot = Snapshot::new(&body(1_900)).unwrap();
        let all: Value = serde_json::from_str(&snapshot.all_priced().unwrap().body()).unwrap();
        let products = all["products"].as_object().unwrap();
        assert_eq!(products.len(), 1_900);
        assert!(products.values().all(|product| has_price(&product["quick_status"])));
        assert_eq!(products["PRODUCT_3"]["quick_status"]["sellPrice"], 4);
    }

    #[test]
    fn every_price_moves_by_the_factor() {
        let snapshot = Snapshot::new(&body(1_900)).unwrap().moved(1.5);
        let moved: Value = serde_json::from_str(&snapshot.body()).unwrap();
        let status = &moved["products"]["PRODUCT_3"]["quick_status"];
        assert_eq!((&status["sellPrice"], &status["sellVolume"]), (&json!(6.0), &json!(1)));
        assert_eq!(moved["products"]["PRODUCT_4"]["quick_status"]["sellPrice"], 0.0);
        assert_eq!(snapshot.products(), 1_900);
    }
}
