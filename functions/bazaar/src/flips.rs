//! `mode=flips`: the products with the highest spreads.

use common::upstream::bazaar::spread::spread_percent;
use common::upstream::bazaar::{Product, QuickStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::processed::ProcessedItem;

/// The lowest sell price of a flip, in coins: below it, a flip is not worth the effort (`functions/README.md`, Bazaar).
const LEAST_SELL_PRICE: f64 = 50_000.0;

/// The lowest volume of a flip on each side, in items: below it, a flip does not sell (`functions/README.md`, Bazaar).
const LEAST_VOLUME: i64 = 10_000;

/// The data of `mode=flips`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarFlips")]
pub(crate) struct Flips<'a> {
    /// The number of items.
    count: usize,
    /// The items with a `sellPrice` of at least 50,000 coins and a `sellVolume` and `buyVolume` of at least 10,000, the highest
    /// `spreadPercent` first, equal ones by id.
    items: Vec<ProcessedItem<'a>>,
}

/// Returns the `limit` best flips among the products.
pub(crate) fn flips(products: &[Product], limit: usize) -> Flips<'_> {
    let mut good: Vec<(f64, &Product)> = products
        .iter()
        .filter(|product| is_flip(&product.status))
        .map(|product| (spread_percent(product.status.sell_price, product.status.buy_price), product))
        .collect();
    good.sort_unstable_by(|(a_percent, a), (b_percent, b)| {
        b_percent.total_cmp(a_percent).then_with(|| a.id.cmp(&b.id))
    });
    let items: Vec<_> = good.iter().take(limit).map(|(_, product)| ProcessedItem::of(product)).collect();
    Flips { count: items.len(), items }
}

fn is_flip(status: &QuickStatus) -> bool {
    status.sell_price >= LEAST_SELL_PRICE
        && status.sell_volume >= LEAST_VOLUME
        && status.buy_volume >= LEAST_VOLUME
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        /// Prices and volumes around the thresholds, with few values so that ties are common.
        fn any_product()(
            id in "[A-C]{1,2}",
            sell_price in prop::sample::select(vec![0.0, 49_999.9, 50_000.0, 60_000.0, 5e8]),
            buy_price in prop::sample::select(vec![0.0, 50_000.0, 75_000.0, 90_000.0, 5e8]),
            sell_volume in 9_998_i64..10_003,
            buy_volume in 9_998_i64..10_003,
        ) -> Product {
            let status = QuickStatus { sell_price, buy_price, sell_volume, buy_volume, sell_moving_week: 1, buy_moving_week: 2 };
            Product { id: id.into(), status, position: 0 }
        }
    }

    proptest! {
        #[test]
        fn flips_are_the_best_that_pass_the_thresholds(products in vec(any_product(), 0..40), limit in 1_usize..=100) {
            let flips = flips(&products, limit);
            let passes = |status: &QuickStatus| {
                status.sell_price >= 50_000.0 && status.sell_volume.min(status.buy_volume) >= 10_000
            };
            let good = products.iter().filter(|product| passes(&product.status)).count();
            prop_assert_eq!(flips.count, good.min(limit));
            prop_assert_eq!(flips.count, flips.items.len());
            for item in &flips.items {
                prop_assert!(products.iter().any(|product| ProcessedItem::of(product) == *item && passes(&product.status)));
            }
            for pair in flips.items.windows(2) {
                let before = &pair[0];
                let after = &pair[1];
                prop_assert!(before.spread_percent >= after.spread_percent);
                prop_assert!(before.spread_percent > after.spread_percent || before.id <= after.id);
            }
            if let Some(last) = flips.items.last() {
                let better = |product: &&Product| {
                    passes(&product.status) && ProcessedItem::of(product).spread_percent > last.spread_percent
                };
                prop_assert!(products.iter().filter(better).count() < flips.count);
            }
        }
    }
}
