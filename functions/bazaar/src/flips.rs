//! `mode=flips`: the products with the highest spreads.

use common::upstream::bazaar::spread::spread_percent;
use common::upstream::bazaar::{Product, QuickStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::processed::ProcessedItem;

/// The limits of a request. The table of routes has the defaults. Products below the default minimums earn
/// too little or hardly sell.
#[derive(Debug)]
pub struct Rules {
    /// The maximum number of flips.
    pub(crate) limit: usize,
    /// The lowest `sellPrice`, in coins.
    pub(crate) min_price: u64,
    /// The lowest `sellVolume` and the lowest `buyVolume`, in items.
    pub(crate) min_volume: u64,
}

/// The data of `mode=flips`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarFlips")]
pub(crate) struct Flips<'a> {
    /// The number of items.
    count: usize,
    /// The items with a `sellPrice` of at least `min_price`, and a `sellVolume` and a `buyVolume` of at least
    /// `min_volume`. Sorted by `spreadPercent`, highest first, then by id.
    items: Vec<ProcessedItem<'a>>,
}

/// Returns the best flips among the products.
pub(crate) fn flips<'a>(products: &'a [Product], rules: &Rules) -> Flips<'a> {
    let mut good: Vec<(f64, &Product)> = products
        .iter()
        .filter(|product| rules.allow(&product.status))
        .map(|product| (spread_percent(product.status.sell_price, product.status.buy_price), product))
        .collect();
    good.sort_unstable_by(|(a_percent, a), (b_percent, b)| {
        b_percent.total_cmp(a_percent).then_with(|| a.id.cmp(&b.id))
    });
    let items: Vec<_> =
        good.iter().take(rules.limit).map(|(_, product)| ProcessedItem::of(product)).collect();
    Flips { count: items.len(), items }
}

impl Rules {
    #[expect(clippy::cast_precision_loss, reason = "`min_price` is at most 10^12")]
    fn allow(&self, status: &QuickStatus) -> bool {
        let has_volume = |volume: i64| u64::try_from(volume).is_ok_and(|volume| volume >= self.min_volume);
        status.sell_price >= self.min_price as f64
            && has_volume(status.sell_volume)
            && has_volume(status.buy_volume)
    }
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
        fn flips_are_the_best_that_pass_the_thresholds(
            products in vec(any_product(), 0..40),
            limit in 1_usize..=100,
            min_price in prop::sample::select(vec![0_u32, 1, 49_999, 50_000, 60_000, 60_001]),
            min_volume in prop::sample::select(vec![0_u32, 9_999, 10_000, 10_003]),
        ) {
            let flips = flips(&products, &Rules { limit, min_price: min_price.into(), min_volume: min_volume.into() });
            let passes = |status: &QuickStatus| {
                status.sell_price >= f64::from(min_price) && status.sell_volume.min(status.buy_volume) >= i64::from(min_volume)
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
