//! What responses to a snapshot say, as `functions/README.md`, Data, describes it. It shares no code with the functions.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::snapshot::Source;

/// The data of a response.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Parsed(Value),
    /// Passed on byte for byte.
    Verbatim(String),
}

/// What follows from one snapshot.
pub(super) enum Facts {
    /// Routes with one response to a snapshot; `None` if most rows cannot be used.
    Single(Option<Data>),
    Bazaar(Market),
}

/// A snapshot of the bazaar.
pub(super) struct Market {
    /// The data of `mode=full`.
    pub(super) full: String,
    /// The products with usable prices, as `mode=item` returns them.
    pub(super) products: BTreeMap<String, Value>,
    /// The products with usable prices and orders, as `mode=book` returns them.
    books: BTreeMap<String, Value>,
    /// Whether it can be served: at least half of the rows are usable.
    pub(super) is_usable: bool,
}

impl Facts {
    pub(super) fn of(source: &Source, text: &str) -> Self {
        let verbatim = |field: &str| {
            let body: BTreeMap<&str, &RawValue> = serde_json::from_str(text).unwrap();
            body[field].get().to_owned()
        };
        if *source == Source::Collections {
            return Self::Single(Some(Data::Verbatim(format!(
                r#"{{"collections":{}}}"#,
                verbatim("collections")
            ))));
        }
        let body: Value = serde_json::from_str(text).unwrap();
        if *source == Source::Bazaar {
            let full = format!(
                r#"{{"lastUpdated":{},"products":{}}}"#,
                verbatim("lastUpdated"),
                verbatim("products")
            );
            return Self::Bazaar(Market::of(full, &body));
        }
        let data = match source {
            Source::Election => Some(mayor(&body)),
            Source::FireSales => usable(&body["sales"], sale).map(|sales| json!({"sales": sales})),
            Source::Items => usable(&body["items"], item).map(|items| json!({"items": items})),
            Source::Auctions(_) => usable(&body["auctions"], auction).map(|auctions| {
                let mut data = picked(&body, &["page", "totalPages", "totalAuctions", "lastUpdated"]);
                data.insert("auctions".to_owned(), auctions);
                data.into()
            }),
            // The id and the name are added for each request.
            Source::Profiles(_) => match &body["profiles"] {
                Value::Null => Some(json!([])),
                profiles => usable(profiles, profile),
            },
            Source::Bazaar | Source::Collections | Source::Names => unreachable!(),
        };
        Self::Single(data.map(Data::Parsed))
    }
}

impl Facts {
    /// Whether every route can be served.
    pub(super) fn is_usable(&self) -> bool {
        match self {
            Self::Single(data) => data.is_some(),
            Self::Bazaar(market) => market.is_usable,
        }
    }
}

/// The usable rows, or `None` if more than half are unusable.
fn usable(rows: &Value, shape: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let rows = rows.as_array().unwrap();
    let shaped: Vec<Value> = rows.iter().filter_map(shape).collect();
    (shaped.len() * 2 >= rows.len()).then(|| shaped.into())
}

/// The fields of the object.
fn picked(row: &Value, fields: &[&str]) -> Map<String, Value> {
    fields.iter().map(|field| ((*field).to_owned(), row[*field].clone())).collect()
}

/// The row with these fields, if all the texts are texts and all the numbers are whole.
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

/// The fields of a mayor that history has, too.
pub(super) fn past_mayor(mayor: &Value) -> Value {
    let perks = mayor["perks"].as_array().unwrap().iter();
    let perks: Vec<_> = perks.map(|perk| picked(perk, &["name", "description"])).collect();
    json!({"name": mayor["name"], "key": mayor["key"], "perks": perks})
}

pub(super) fn sale(row: &Value) -> Option<Value> {
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

impl Market {
    fn of(full: String, body: &Value) -> Self {
        let rows = body["products"].as_object().unwrap();
        let (mut products, mut books) = (BTreeMap::new(), BTreeMap::new());
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
                    books.extend(book(body, id, row).map(|book| (id.clone(), book)));
                }
                _ => unusable += 1,
            }
        }
        Self { full, products, books, is_usable: unusable * 2 <= rows.len() }
    }

    pub(super) fn list(&self) -> Value {
        let is_active = |product: &&Value| {
            product["sellPrice"].as_f64().unwrap() > 0.0 && product["buyPrice"].as_f64().unwrap() > 0.0
        };
        // A map of texts is sorted.
        let items: Vec<_> =
            self.products.values().filter(is_active).map(|product| json!({"id": product["id"]})).collect();
        json!({"count": items.len(), "items": items})
    }

    pub(super) fn items(&self, ids: &[String]) -> Value {
        let (known, unknown): (Vec<_>, Vec<_>) = ids.iter().partition(|id| self.products.contains_key(*id));
        let items: Vec<_> = known.into_iter().map(|id| &self.products[id]).collect();
        json!({"count": items.len(), "items": items, "unknown": unknown})
    }

    pub(super) fn book(&self, id: &str) -> Option<Value> {
        self.books.get(id).cloned()
    }

    pub(super) fn flips(&self, limit: usize) -> Value {
        let number = |product: &Value, field: &str| product[field].as_f64().unwrap();
        let mut flips: Vec<&Value> = self.products.values().collect();
        flips.retain(|product| {
            number(product, "sellPrice") >= 50_000.0
                && number(product, "sellVolume") >= 10_000.0
                && number(product, "buyVolume") >= 10_000.0
        });
        // Stable, so that equal ones stay in the order of their ids.
        flips.sort_by(|one, other| number(other, "spreadPercent").total_cmp(&number(one, "spreadPercent")));
        flips.truncate(limit);
        json!({"count": flips.len(), "items": flips})
    }

    /// The product as history has it; `None` if it is not recorded.
    pub(super) fn quote(&self, id: &str) -> Option<Quote> {
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

/// The open orders of a product; `None` if a side makes no sense. The provider calls the buy orders `sell_summary`, because an
/// instant sale meets them.
fn book(body: &Value, id: &str, row: &Value) -> Option<Value> {
    let orders = |summary: &str| -> Option<Vec<Value>> {
        let order = |order: &Value| {
            Some(
                json!({"price": order["pricePerUnit"].as_f64()?, "amount": order["amount"], "orders": order["orders"]}),
            )
        };
        row[summary].as_array()?.iter().map(order).collect()
    };
    let (buy_orders, sell_offers) = (orders("sell_summary")?, orders("buy_summary")?);
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

/// A recorded product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quote {
    pub(super) sell_price: f64,
    pub(super) buy_price: f64,
    pub(super) sell_volume: i64,
    pub(super) buy_volume: i64,
}

impl Quote {
    /// The quote in a point of a chart, whose other fields must follow from it.
    pub(super) fn of_point(point: &Value) -> Result<Self, String> {
        let number = |field: &str| point[field].as_f64().ok_or(format!("{field} in {point}"));
        let whole = |field: &str| point[field].as_i64().ok_or(format!("{field} in {point}"));
        let (sell_price, buy_price) = (number("sell_price")?, number("buy_price")?);
        let is_right = number("spread")?.to_bits() == (buy_price - sell_price).to_bits()
            && number("spread_percent")?.to_bits() == percent(sell_price, buy_price).to_bits();
        if !is_right || point.as_object().is_none_or(|point| point.len() != 7) {
            return Err(format!("the point {point} is inconsistent"));
        }
        Ok(Self {
            sell_price,
            buy_price,
            sell_volume: whole("sell_volume")?,
            buy_volume: whole("buy_volume")?,
        })
    }
}

fn percent(sell: f64, buy: f64) -> f64 {
    if sell == 0.0 { 0.0 } else { (buy - sell) / sell * 100.0 }
}
