//! Computes the data that must follow from a provider's body, by `functions/README.md`, Data.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use simulator::Resource;

use super::quote::{Quote, percent};
use super::source::Source;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Parsed(Value),
    /// Data that is passed on byte for byte.
    Verbatim(String),
}

/// The data that must follow from one body.
pub(crate) enum Facts {
    /// The data, for a body from which only one response follows. `None` if no route can serve the body, for example because too many rows
    /// are unusable.
    Single(Option<Data>),
    Bazaar(BazaarFacts),
}

/// The data that must follow from a body of the bazaar.
pub(crate) struct BazaarFacts {
    /// The data of `mode=full`.
    pub(crate) full: String,
    last_updated: Value,
    /// The products with usable prices, as `mode=item` returns them.
    pub(crate) products: BTreeMap<String, Value>,
    /// The products with usable prices and orders, as `mode=book` returns them.
    books: BTreeMap<String, Value>,
    /// Whether the body can be served: at least half of its rows are usable.
    pub(crate) is_usable: bool,
}

impl Facts {
    /// Computes the data that must follow from this body of the resource.
    pub(crate) fn of(source: &Source, text: &str) -> Self {
        if let Source::Passed(Resource { content, .. }) = source {
            let content_text = spelled(text, content);
            return Self::Single(Some(Data::Verbatim(format!(r#"{{"{content}":{content_text}}}"#))));
        }
        if *source == Source::Bazaar {
            return Self::Bazaar(BazaarFacts::of(text));
        }
        let body: Value = serde_json::from_str(text).unwrap();
        let data = match source {
            Source::Election => Some(mayor(&body)),
            Source::FireSales => any_usable(&body["sales"], sale).map(|sales| json!({"sales": sales})),
            Source::Items => usable(&body["items"], item).map(|items| json!({"items": items})),
            Source::Auctions(_) => usable(&body["auctions"], auction).map(|auctions| {
                let mut data = picked(&body, &["page", "totalPages", "totalAuctions", "lastUpdated"]);
                data.insert("auctions".to_owned(), auctions);
                data.into()
            }),
            // Responses also have the id and the name of the player.
            Source::Profiles(_) => match &body["profiles"] {
                Value::Null => Some(json!([])),
                profiles => any_usable(profiles, profile),
            },
            // No route serves ended auctions.
            Source::EndedAuctions => None,
            Source::Bazaar | Source::Passed(_) | Source::Names => unreachable!(),
        };
        Self::Single(data.map(Data::Parsed))
    }

    /// The data of the one response that follows from this body. Panics if none or several follow.
    #[track_caller]
    pub(crate) fn data(source: &Source, text: &str) -> Value {
        match Self::of(source, text) {
            Self::Single(Some(Data::Parsed(data))) => data,
            Self::Single(Some(Data::Verbatim(text))) => serde_json::from_str(&text).unwrap(),
            Self::Single(None) | Self::Bazaar(_) => panic!("{source:?} has no response"),
        }
    }

    /// Whether a route can serve the body.
    pub(crate) fn is_usable(&self) -> bool {
        match self {
            Self::Single(data) => data.is_some(),
            Self::Bazaar(bazaar) => bazaar.is_usable,
        }
    }
}

/// The field of an object, exactly as in the text.
#[track_caller]
pub(crate) fn spelled(text: &str, field: &str) -> String {
    let body: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
    body[field].get().to_owned()
}

/// The usable rows, or `None` if more than half are unusable.
fn usable(rows: &Value, shape: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let all = rows.as_array().unwrap();
    let shaped: Vec<Value> = all.iter().filter_map(shape).collect();
    (shaped.len() * 2 >= all.len()).then(|| shaped.into())
}

/// The usable rows, or `None` if too many are unusable. Of fewer than ten rows, one usable row is enough.
fn any_usable(rows: &Value, shape: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let shaped: Vec<Value> = rows.as_array().unwrap().iter().filter_map(&shape).collect();
    let is_short = rows.as_array().unwrap().len() < 10;
    if is_short && !shaped.is_empty() { Some(shaped.into()) } else { usable(rows, shape) }
}

/// The object with only these fields.
fn picked(row: &Value, fields: &[&str]) -> Map<String, Value> {
    fields.iter().map(|field| ((*field).to_owned(), row[*field].clone())).collect()
}

/// The row with only these fields. `None` unless all texts are strings and all numbers are whole.
fn checked(row: &Value, texts: &[&str], numbers: &[&str]) -> Option<Map<String, Value>> {
    let is_usable =
        texts.iter().all(|field| row[*field].is_string()) && numbers.iter().all(|field| row[*field].is_i64());
    is_usable.then(|| picked(row, &[texts, numbers].concat()))
}

fn mayor(body: &Value) -> Value {
    let mayor = &body["mayor"];
    let or_empty = |election: &Value| if election.is_null() { json!({}) } else { election.clone() };
    json!({
        "mayor": past_mayor(mayor),
        "current": or_empty(&body["current"]),
        "election": or_empty(&mayor["election"]),
    })
}

/// The fields of a mayor that are also in the history.
pub(crate) fn past_mayor(mayor: &Value) -> Value {
    let rows = mayor["perks"].as_array().unwrap().iter();
    let perks: Vec<_> = rows.map(|perk| picked(perk, &["name", "description"])).collect();
    json!({"name": mayor["name"], "key": mayor["key"], "perks": perks})
}

pub(crate) fn sale(row: &Value) -> Option<Value> {
    checked(row, &["item_id"], &["start", "end", "amount", "price"]).map(Value::from)
}

fn item(row: &Value) -> Option<Value> {
    let mut item = checked(row, &["id", "name", "material"], &[])?;
    let tier = row.get("tier").cloned().unwrap_or_else(|| "COMMON".into());
    item.insert("tier".to_owned(), tier);
    Some(item.into())
}

fn auction(row: &Value) -> Option<Value> {
    let mut auction = checked(
        row,
        &["uuid", "auctioneer", "item_name", "item_lore"],
        &["starting_bid", "highest_bid_amount", "start", "end"],
    )?;
    auction.insert("bin".to_owned(), row["bin"].as_bool()?.into());
    Some(auction.into())
}

fn profile(row: &Value) -> Option<Value> {
    let mut profile = checked(row, &["profile_id", "cute_name"], &[])?;
    profile.insert("selected".to_owned(), (row["selected"] == true).into());
    profile.insert("members".to_owned(), row["members"].as_object()?.clone().into());
    Some(profile.into())
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
        let mut unusable = 0;
        for (id, row) in rows {
            let status = &row["quick_status"];
            let numbers = ["sellVolume", "buyVolume", "sellMovingWeek", "buyMovingWeek"];
            let prices = status["sellPrice"].as_f64().zip(status["buyPrice"].as_f64());
            match (checked(status, &[], &numbers), prices) {
                (Some(mut product), Some((sell, buy))) => {
                    product.insert("id".to_owned(), id.as_str().into());
                    product.insert("sellPrice".to_owned(), sell.into());
                    product.insert("buyPrice".to_owned(), buy.into());
                    product.insert("spread".to_owned(), (buy - sell).into());
                    product.insert("spreadPercent".to_owned(), percent(sell, buy).into());
                    products.insert(id.clone(), product.into());
                    books.extend(book(&body, id, row).map(|book| (id.clone(), book)));
                }
                _ => unusable += 1,
            }
        }
        let last_updated = body["lastUpdated"].clone();
        Self { full, last_updated, products, books, is_usable: unusable * 2 <= rows.len() }
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
        let items: Vec<_> = known.into_iter().map(|id| &self.products[id]).collect();
        json!({"count": items.len(), "items": items, "unknown": unknown})
    }

    pub(crate) fn book(&self, id: &str) -> Option<Value> {
        self.books.get(id).cloned()
    }

    /// The data of `mode=prices`.
    pub(crate) fn prices(&self) -> Value {
        let fields =
            ["id", "sellPrice", "buyPrice", "sellVolume", "buyVolume", "sellMovingWeek", "buyMovingWeek"];
        let row = |(id, product): (&String, &Value)| {
            let mut row = picked(product, &fields);
            for top in ["topBuyOrder", "topSellOffer"] {
                row.insert(top.to_owned(), self.books.get(id).map_or(Value::Null, |book| book[top].clone()));
            }
            Value::from(row)
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

/// The open orders of a product. `None` if a side is invalid. The provider calls the buy orders `sell_summary`, because an
/// instant sale fills them.
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
