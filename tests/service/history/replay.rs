//! Captured snapshots of the bazaar from four days are recorded, and every value of every product comes back.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::chart::{Point, points};
use super::decimal::is_nearest_hundredth;
use super::market::{Market, quote};
use super::{MINUTE, RANGES, START, rfc3339, start_with_instances};
use crate::candles::build_all;
use crate::support::expect_clean_logs;

const SNAPSHOTS: &str = "history/bazaar-quickstatus-20260424-20260428-73snapshots.json";

/// The products of the snapshots. Each field has a number for each snapshot, spelled as in the capture.
#[derive(Deserialize)]
struct Snapshots<'a> {
    #[serde(rename = "lastUpdated")]
    last_updated: Vec<i64>,
    #[serde(borrow)]
    products: BTreeMap<&'a str, Product<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Product<'a> {
    #[serde(borrow)]
    sell_price: Vec<&'a RawValue>,
    #[serde(borrow)]
    buy_price: Vec<&'a RawValue>,
    #[serde(borrow)]
    sell_volume: Vec<&'a RawValue>,
    #[serde(borrow)]
    buy_volume: Vec<&'a RawValue>,
}

impl Product<'_> {
    /// Whether it has an order in the snapshot. (A product that is missing from a snapshot has nulls.)
    fn is_traded(&self, snapshot: usize) -> bool {
        [self.sell_price[snapshot], self.buy_price[snapshot]]
            .iter()
            .any(|price| price.get().parse::<f64>().is_ok_and(|price| price > 0.0))
    }

    fn is_there(&self, snapshot: usize) -> bool {
        self.sell_price[snapshot].get() != "null"
    }

    /// Panics unless the point has the values of the snapshot.
    #[track_caller]
    fn expect(&self, id: &str, snapshot: usize, point: &Point) {
        for (kept, captured) in
            [(&point.sell_price, self.sell_price[snapshot]), (&point.buy_price, self.buy_price[snapshot])]
        {
            assert!(
                is_nearest_hundredth(kept.get(), captured.get()),
                "{id}, {snapshot}: {kept} for {captured}"
            );
        }
        let volumes = [point.sell_volume, point.buy_volume].map(|volume| volume.to_string());
        let captured = [self.sell_volume[snapshot].get(), self.buy_volume[snapshot].get()];
        assert_eq!(volumes, captured, "{id}, {snapshot}");
    }
}

impl Snapshots<'_> {
    fn market(&self, snapshot: usize) -> Market {
        let mut market = Market::default();
        for (id, product) in self.products.iter().filter(|(_, product)| product.is_there(snapshot)) {
            let Product { sell_price, buy_price, sell_volume, buy_volume } = product;
            let quote =
                quote(sell_price[snapshot], buy_price[snapshot], sell_volume[snapshot], buy_volume[snapshot]);
            market = market.with(id, quote);
        }
        market
    }
}

/// Every sixth snapshot is recorded: all of them take a minute, and find no more.
const STEP: usize = 6;

/// The tick of a snapshot. They are five minutes apart, so that the range of 24 hours shows them all and every other range
/// some.
fn tick_of(snapshot: usize) -> i64 {
    START + i64::try_from(snapshot).unwrap() * 5 * MINUTE
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn every_value_of_the_real_snapshots_comes_back() {
    let text = captures::text(SNAPSHOTS).unwrap();
    let snapshots: Snapshots<'_> = serde_json::from_str(&text).unwrap();
    let count = snapshots.last_updated.len();
    assert_eq!((count, snapshots.products.len()), (73, 1_913));
    let cloud = start_with_instances(4).await;
    for snapshot in (0..count).step_by(STEP) {
        let recorded = snapshots.market(snapshot).record(&cloud, tick_of(snapshot)).await;
        let traded = snapshots.products.values().filter(|product| product.is_traded(snapshot)).count();
        assert_eq!(recorded["products"], traded, "snapshot {snapshot}");
    }

    let now = tick_of(count - 1);
    build_all(&cloud, now).await;
    let mut values = 0;
    // The step between the products whose charts are compared.
    for ((range, _, interval, slots), products) in RANGES.into_iter().zip([16, 1, 16, 16, 16]) {
        let shown: Vec<_> =
            (0..count).step_by(STEP).filter(|snapshot| now - tick_of(*snapshot) < interval * slots).collect();
        let cloud = &cloud;
        let charts = snapshots
            .products
            .iter()
            .step_by(products)
            .map(|(id, product)| async move { (*id, product, points(cloud, id, range, now).await) });
        let mut charts = stream::iter(charts).buffer_unordered(6);
        while let Some((id, product, points)) = charts.next().await {
            // The last one of each interval.
            let traded = shown.iter().filter(|snapshot| product.is_traded(**snapshot));
            let last: BTreeMap<_, _> =
                traded.map(|snapshot| (tick_of(*snapshot).div_euclid(interval), *snapshot)).collect();
            let times: Vec<_> = points.iter().map(|point| point.recorded_at.as_str()).collect();
            let ticks: Vec<_> = last.values().map(|snapshot| rfc3339(tick_of(*snapshot))).collect();
            assert_eq!(times, ticks, "{id} in {range}");
            for (snapshot, point) in last.into_values().zip(&points) {
                product.expect(id, snapshot, point);
                values += 4;
            }
        }
    }
    assert!(values > 75_000, "{values} values were compared");
    expect_clean_logs(&cloud);
}
