//! The averages of one window. A cached snapshot serves requests with and without `ids`.

use std::sync::Arc;
use std::time::Duration;

use common::cache::Weight;
use common::request::auction_item_id::AuctionItemId;
use common::response::envelope::Document;
use common::routes::AuctionIds;
use common::time::UnixSeconds;
use schemars::JsonSchema;
use serde::Serialize;
use tables::auctions::{Average, Averages, Coins, Sold, select};

/// Average prices of items in auctions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsAverages")]
pub(crate) struct AveragePrices<'a> {
    /// The requested window.
    window: &'static str,
    /// The end of the window: the end of the last complete hour.
    until: UnixSeconds,
    /// The number of items.
    count: usize,
    /// The items that were listed or sold: with `ids` in the order of the request, otherwise sorted by id.
    items: Vec<ItemAverages<'a>>,
    /// Only with `ids`: the requested ids that were neither listed nor sold, in the order of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip_serializing_if = "Option::is_none", with = "Vec<String>")]
    unknown: Option<Vec<&'a str>>,
}

/// The average prices of an item in the window, in coins, exact to 0.01. All prices are per item, even if
/// stacks were sold.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsItemAverages")]
struct ItemAverages<'a> {
    /// The item's id.
    id: &'a str,
    /// The average of the lowest buy-it-now prices at the end of each hour. Ignores hours in which the item
    /// was not listed; null if it was never listed.
    lowest: Option<f64>,
    /// The sum of the prices of all sales divided by `sold`; null without a sale.
    sale: Option<f64>,
    /// The median price of the sales; null without a sale. Unlike `sale`, it hardly changes with a few sales
    /// of improved copies.
    sale_median: Option<f64>,
    /// The number of sales, both buy-it-now and by bids.
    sales: u32,
    /// The number of items that were sold.
    sold: u64,
    /// The number of minutes in the window with known sales; the same for all items.
    minutes: u32,
    /// Only with `ids`: the sales of clean copies.
    #[serde(flatten)]
    copies: Option<CleanCopies>,
}

/// The sales of clean copies, which have no enchantments, reforge, stars, gems, skin or other upgrades.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "names of the contract")]
struct CleanCopies {
    /// Only with `ids`: `sale` of clean copies; null without such a sale.
    sale_clean: Option<f64>,
    /// Only with `ids`: `sale_median` of clean copies; null without such a sale.
    sale_median_clean: Option<f64>,
    /// Only with `ids`: the number of sales of clean copies.
    sales_clean: u32,
}

impl<'a> ItemAverages<'a> {
    fn new(id: &'a AuctionItemId, Average { lowest, sold, .. }: &Average, minutes: u32) -> Self {
        Self {
            id: id.as_str(),
            lowest: lowest.map(Coins::coins),
            sale: price(sold.as_ref(), Sold::average),
            sale_median: price(sold.as_ref(), Sold::median),
            sales: sold.as_ref().map_or(0, |sold| sold.sales),
            sold: sold.as_ref().map_or(0, |sold| sold.sold),
            minutes,
            copies: None,
        }
    }

    fn with_clean(self, Average { clean, .. }: &Average) -> Self {
        let copies = CleanCopies {
            sale_clean: price(clean.as_ref(), Sold::average),
            sale_median_clean: price(clean.as_ref(), Sold::median),
            sales_clean: clean.as_ref().map_or(0, |clean| clean.sales),
        };
        Self { copies: Some(copies), ..self }
    }
}

/// Returns a price of the sales in coins; `None` without sales.
fn price(sold: Option<&Sold>, price: fn(&Sold) -> Coins) -> Option<f64> {
    sold.map(|sold| price(sold).coins())
}

/// The averages of a window.
#[derive(Debug)]
pub(crate) struct Snapshot {
    window: &'static str,
    averages: Averages,
    /// The data of the response with all items, which most clients request.
    all: Arc<Document>,
}

impl Snapshot {
    /// Returns the snapshot of the window at the time `now`. If no hour has ever been recorded, the snapshot
    /// is empty.
    pub(crate) fn new(
        window: &'static str,
        averages: Option<Averages>,
        now: UnixSeconds,
    ) -> Result<Self, tables::Error> {
        let until = now.rounded_down(Duration::from_hours(1));
        let averages = averages.unwrap_or(Averages { until, minutes: 0, items: Vec::new() });
        let items: Vec<_> = averages
            .items
            .iter()
            .map(|(id, average)| ItemAverages::new(id, average, averages.minutes))
            .collect();
        let data = AveragePrices { window, until: averages.until, count: items.len(), items, unknown: None };
        let all = Document::of(&data).map_err(tables::Error::unwritable)?;
        Ok(Self { window, averages, all: Arc::new(all) })
    }

    /// Returns the data of the response: all items, or only the items with these ids.
    pub(crate) fn document(&self, ids: Option<&AuctionIds>) -> Result<Arc<Document>, serde_json::Error> {
        let Some(ids) = ids else { return Ok(Arc::clone(&self.all)) };
        let Averages { until, minutes, items } = &self.averages;
        let (found, unknown) = select(ids, items);
        let items: Vec<_> = found
            .into_iter()
            .map(|(_, id, average)| ItemAverages::new(id, average, *minutes).with_clean(average))
            .collect();
        Document::of(&AveragePrices {
            window: self.window,
            until: *until,
            count: items.len(),
            items,
            unknown: Some(unknown),
        })
        .map(Arc::new)
    }
}

impl Weight for Snapshot {
    fn bytes(&self) -> usize {
        size_of_val(self.averages.items.as_slice()) + self.all.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use common::time::UnixMilliseconds;
    use tables::auctions::Sale;

    use super::*;

    /// The largest response that a stage cache stores, in bytes.
    const STAGE_CACHE: usize = 1_048_576;

    /// The size, in bytes, of the response with this many items. Ten of every thirteen items were sold.
    fn bytes(items: u32) -> usize {
        let price = Coins::of_hundredths(987_654_321);
        let sale = Sale {
            sold_at: UnixMilliseconds::new(0),
            price: 9_876_543,
            amount: NonZeroU32::MIN,
            bin: true,
            clean: true,
            level: None,
        };
        let sold = Sold::of(&[sale; 123]).unwrap();
        let item = |number: u32| {
            let sold = (number % 13 < 10).then(|| sold.clone());
            // The average length of a real id.
            let id = format!("{number:018}").parse().unwrap();
            (id, Average { lowest: Some(price), clean: sold.clone(), sold })
        };
        let until = UnixSeconds::new(1_777_388_400);
        let averages = Averages { until, minutes: 10_080, items: (0..items).map(item).collect() };
        Snapshot::new("7d", Some(averages), until).unwrap().document(None).unwrap().envelope_bytes(true)
    }

    #[test]
    fn the_response_with_all_items_fits_into_the_stage_cache() {
        assert!((750_000..900_000).contains(&bytes(6_500)), "{}", bytes(6_500));
        // The limit that functions/README.md states.
        assert!(
            bytes(8_000) < STAGE_CACHE && STAGE_CACHE < bytes(8_500),
            "{} and {}",
            bytes(8_000),
            bytes(8_500)
        );
    }
}
