//! The products of the bazaar, and the responses in each mode.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::expected::{Data, Expected, spelled};
use super::field::Field;
use super::resource::{Names, ParsedResource};
use crate::oracle::{Quote, percent};

/// A price, which need not be whole.
const fn price(name: &'static str) -> Field {
    let good = &["0.1", "6.0E7", "1e12", "2.887645678129047E-11", "100"];
    let bad = &["-0.1", "-1", "1.1E12", "1e400", r#""5.5""#, "true", "{}", "[]", "[5.5]"];
    Field { name, usual: "5.5", default: None, good, bad }
}

pub(crate) const BAZAAR: ParsedResource = ParsedResource {
    path: "/v2/skyblock/bazaar",
    route: Some("/v1/bazaar?mode=list"),
    rows: ["/products", "/items"],
    names: Names::Keys { fields_in: "quick_status" },
    fields: &[
        price("sellPrice"),
        price("buyPrice"),
        Field::count("sellVolume"),
        Field::count("buyVolume"),
        Field::count("sellMovingWeek"),
        Field::count("buyMovingWeek"),
    ],
    further_parts: &["/sell_summary", "/buy_summary"],
    body: r#"{"success":true,"lastUpdated":1777388578000,"products":{ROWS}}"#,
    // An empty bazaar fails, because it has no price.
    is_served: |good, bad| good > 0 && bad <= good,
    requests: |_, text| BazaarFacts::of(text).requests(),
    captures: &["bazaar/v2-20260428T1503Z.json", "bazaar/v1-20210419T1337Z.json"],
    ..ParsedResource::USUAL
};

/// Parameters of the mode `flips`, with the resulting limit, lowest price and lowest volume.
const FLIPS: [(&str, usize, [u32; 2]); 8] = [
    ("", 20, [50_000, 10_000]),
    ("&limit=1", 1, [50_000, 10_000]),
    ("&limit=7", 7, [50_000, 10_000]),
    ("&limit=100", 100, [50_000, 10_000]),
    ("&min_price=0", 20, [0, 10_000]),
    ("&min_volume=0&limit=100", 100, [50_000, 0]),
    ("&min_price=123456&min_volume=500", 20, [123_456, 500]),
    ("&min_price=0&min_volume=0&limit=100", 100, [0, 0]),
];

/// The data that must follow from a body of the bazaar.
pub(crate) struct BazaarFacts {
    /// The data of `mode=full`.
    pub(crate) full: String,
    last_updated: Value,
    /// The products with usable prices, as `mode=item` returns them.
    pub(crate) products: BTreeMap<String, Value>,
    /// The products with usable prices and orders, as `mode=book` returns them.
    books: BTreeMap<String, Value>,
    /// Whether the body can be served.
    pub(crate) is_usable: bool,
}

impl BazaarFacts {
    /// Computes the data that must follow from this body.
    pub(crate) fn of(text: &str) -> Self {
        let [last_updated, products] = ["lastUpdated", "products"].map(|field| spelled(text, field));
        let full = format!(r#"{{"lastUpdated":{last_updated},"products":{products}}}"#);
        let body: Value = serde_json::from_str(text).unwrap();
        let rows = body["products"].as_object().unwrap();
        let mut products = BTreeMap::new();
        let mut books = BTreeMap::new();
        for (id, row) in rows {
            let Some(mut product) = BAZAAR.served(row) else { continue };
            let [sell, buy] = ["sellPrice", "buyPrice"].map(|side| product[side].as_f64().unwrap());
            for (field, price) in [
                ("sellPrice", sell),
                ("buyPrice", buy),
                ("spread", buy - sell),
                ("spreadPercent", percent(sell, buy)),
            ] {
                product.insert(field.to_owned(), price.into());
            }
            product.insert("id".to_owned(), id.as_str().into());
            products.insert(id.clone(), product.into());
            books.extend(book(&body, id, row).map(|book| (id.clone(), book)));
        }
        let last_updated = body["lastUpdated"].clone();
        let is_usable = (BAZAAR.is_served)(products.len(), rows.len() - products.len());
        Self { full, last_updated, products, books, is_usable }
    }

    pub(crate) fn list(&self) -> Value {
        let is_active = |product: &&Value| {
            product["sellPrice"].as_f64().unwrap() > 0.0 && product["buyPrice"].as_f64().unwrap() > 0.0
        };
        // The map is sorted by id.
        let items: Vec<_> =
            self.products.values().filter(is_active).map(|product| json!({"id": product["id"]})).collect();
        json!({"count": items.len(), "items": items})
    }

    pub(crate) fn items(&self, ids: &[String]) -> Value {
        let (known, unknown): (Vec<_>, Vec<_>) = ids.iter().partition(|id| self.products.contains_key(*id));
        let row = |id: &String| {
            let mut row = self.products[id].as_object().unwrap().clone();
            row.extend(self.tops(id));
            row
        };
        let items: Vec<_> = known.into_iter().map(row).collect();
        json!({"lastUpdated": self.last_updated, "count": items.len(), "items": items, "unknown": unknown})
    }

    /// The prices of the best orders of a product, null without orders.
    fn tops(&self, id: &str) -> [(String, Value); 2] {
        ["topBuyOrder", "topSellOffer"].map(|top| {
            let price = self.books.get(id).map_or(Value::Null, |book| book[top].clone());
            (top.to_owned(), price)
        })
    }

    pub(crate) fn book(&self, id: &str) -> Option<Value> {
        self.books.get(id).cloned()
    }

    /// The data of `mode=prices`.
    pub(crate) fn prices(&self) -> Value {
        let fields =
            ["id", "sellPrice", "buyPrice", "sellVolume", "buyVolume", "sellMovingWeek", "buyMovingWeek"];
        let row = |(id, product): (&String, &Value)| {
            let picked = fields.map(|field| (field.to_owned(), product[field].clone()));
            picked.into_iter().chain(self.tops(id)).collect::<Value>()
        };
        // The map is sorted by id.
        let items: Vec<_> = self.products.iter().map(row).collect();
        json!({"lastUpdated": self.last_updated, "count": items.len(), "items": items})
    }

    pub(crate) fn flips(&self, limit: usize, [min_price, min_volume]: [u32; 2]) -> Value {
        let number = |product: &Value, field: &str| product[field].as_f64().unwrap();
        let mut flips: Vec<&Value> = self.products.values().collect();
        flips.retain(|product| {
            number(product, "sellPrice") >= f64::from(min_price)
                && number(product, "sellVolume") >= f64::from(min_volume)
                && number(product, "buyVolume") >= f64::from(min_volume)
        });
        // A stable sort keeps equal products in the order of their ids.
        flips.sort_by(|one, other| number(other, "spreadPercent").total_cmp(&number(one, "spreadPercent")));
        flips.truncate(limit);
        json!({"count": flips.len(), "items": flips})
    }

    /// Requests in every mode, with the item and the book of every product.
    fn requests(&self) -> Vec<Expected> {
        let parsed =
            |mode: String, data| Expected::new(format!("/v1/bazaar?mode={mode}"), Data::Parsed(data));
        let full = ["/v1/bazaar", "/v1/bazaar?mode=full"];
        let mut all: Vec<_> = full.map(|path| Expected::new(path, Data::Verbatim(self.full.clone()))).into();
        all.push(parsed("list".to_owned(), self.list()));
        all.push(parsed("prices".to_owned(), self.prices()));
        for (parameters, limit, rules) in FLIPS {
            all.push(parsed(format!("flips{parameters}"), self.flips(limit, rules)));
        }
        let many: Vec<_> = self.products.keys().rev().step_by(2).take(97).map(String::as_str).collect();
        for (ids, asked) in [
            ("INK_SACK:3,X", vec!["INK_SACK:3", "X"]),
            ("X,INK_SACK:3", vec!["X", "INK_SACK:3"]),
            ("NOPE,X,x,X,NOPE,INK_SACK%3A3,X,%20X", vec!["NOPE", "X", "x", "INK_SACK:3", " X"]),
            ("NOPE", vec!["NOPE"]),
            (&many.join(","), many),
        ] {
            let asked: Vec<_> = asked.into_iter().map(str::to_owned).collect();
            all.push(parsed(format!("items&ids={ids}"), self.items(&asked)));
        }
        for (id, product) in &self.products {
            all.push(parsed(format!("item&id={id}"), product.clone()));
            all.extend(self.book(id).map(|book| parsed(format!("book&id={id}"), book)));
        }
        all
    }

    /// The quote that must be recorded. `None` if the product is not recorded.
    pub(crate) fn quote(&self, id: &str) -> Option<Quote> {
        let product = self.products.get(id)?;
        let price =
            |field: &str| -> f64 { format!("{:.2}", product[field].as_f64().unwrap()).parse().unwrap() };
        let volume = |field: &str| product[field].as_i64().unwrap();
        let quote = Quote {
            sell_price: price("sellPrice"),
            buy_price: price("buyPrice"),
            sell_volume: volume("sellVolume"),
            buy_volume: volume("buyVolume"),
        };
        (quote.sell_price > 0.0 || quote.buy_price > 0.0).then_some(quote)
    }
}

/// The open orders of a product. `None` if a side is invalid. The provider calls the buy orders
/// `sell_summary`, because an instant sale fills them.
fn book(body: &Value, id: &str, row: &Value) -> Option<Value> {
    let orders = |summary: &str| -> Option<Vec<Value>> {
        let order = |order: &Value| {
            Some(
                json!({"price": order["pricePerUnit"].as_f64()?, "amount": order["amount"], "orders": order["orders"]}),
            )
        };
        row[summary].as_array()?.iter().map(order).collect()
    };
    let buy_orders = orders("sell_summary")?;
    let sell_offers = orders("buy_summary")?;
    let best = |orders: &[Value]| orders.first().map_or(Value::Null, |order| order["price"].clone());
    Some(json!({
        "id": id,
        "lastUpdated": body["lastUpdated"],
        "topBuyOrder": best(&buy_orders),
        "topSellOffer": best(&sell_offers),
        "buyOrders": buy_orders,
        "sellOffers": sell_offers,
        "sellPrice": row["quick_status"]["sellPrice"].as_f64(),
        "buyPrice": row["quick_status"]["buyPrice"].as_f64(),
    }))
}
