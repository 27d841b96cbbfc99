//! Captured snapshots of the bazaar from four days are recorded, one each minute. The candles of every interval equal what
//! follows from the capture.

use futures_util::{StreamExt, stream};
use serde_json::value::RawValue;

use super::{INTERVALS, Interval, MIDNIGHT, SETTLE, build, page};
use crate::history::decimal::is_nearest_hundredth;
use crate::history::replay::{Product, SNAPSHOTS, Snapshots};
use crate::history::{MINUTE, rfc3339, start_with_instances};
use crate::oracle::Candle;
use crate::support::expect_clean_logs;

/// One of twenty products is recorded: all of them take minutes.
const STEP: usize = 20;

/// The minute of a snapshot. The last ones are after midnight, so that slots of every interval end.
fn minute_of(snapshot: usize) -> i64 {
    MIDNIGHT + (i64::try_from(snapshot).unwrap() - 66) * MINUTE
}

/// The candle of the product over these snapshots, of which it is traded in each, must be this one.
#[track_caller]
fn expect(candle: &Candle, product: &Product<'_>, snapshots: &[usize], what: &str) {
    let number = |text: &RawValue| text.get().parse::<f64>().unwrap();
    let (first, last) = (snapshots[0], *snapshots.last().unwrap());
    for (prices, [open, high, low, close]) in [
        (&product.sell_price, [candle.sell_open, candle.sell_high, candle.sell_low, candle.sell_close]),
        (&product.buy_price, [candle.buy_open, candle.buy_high, candle.buy_low, candle.buy_close]),
    ] {
        let by_price =
            |one: &&usize, other: &&usize| number(prices[**one]).total_cmp(&number(prices[**other]));
        let highest = *snapshots.iter().max_by(by_price).unwrap();
        let lowest = *snapshots.iter().min_by(by_price).unwrap();
        for (shown, captured) in [(open, first), (high, highest), (low, lowest), (close, last)] {
            let captured = prices[captured].get();
            assert!(is_nearest_hundredth(&shown.to_string(), captured), "{what}: {shown} for {captured}");
        }
    }
    let captured = [product.sell_volume[last].get(), product.buy_volume[last].get()];
    assert_eq!([candle.sell_volume, candle.buy_volume].map(|volume| volume.to_string()), captured, "{what}");
    assert_eq!(usize::try_from(candle.samples).unwrap(), snapshots.len(), "{what}");
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_candles_of_the_real_snapshots_follow_from_them() {
    let text = captures::text(SNAPSHOTS).unwrap();
    let mut snapshots: Snapshots<'_> = serde_json::from_str(&text).unwrap();
    let count = snapshots.last_updated.len();
    assert_eq!((count, snapshots.products.len()), (73, 1_913));
    let mut number = 0;
    snapshots.products.retain(|_, _| {
        number += 1;
        number % STEP == 0
    });
    let cloud = start_with_instances(2).await;
    for snapshot in 0..count {
        let time = minute_of(snapshot);
        snapshots.market(snapshot).record(&cloud, time).await;
        if time.rem_euclid(5 * MINUTE) == SETTLE {
            build(&cloud, time).await;
        }
    }
    let now = minute_of(count - 1) + MINUTE;
    build(&cloud, now).await;
    let settled = (now - SETTLE).div_euclid(5 * MINUTE) * 5 * MINUTE;

    let cloud = &cloud;
    let compare = async |interval: &'static Interval, id: &str, product: &Product<'_>| {
        let page = page(cloud, id, interval, "", now).await;
        let traded: Vec<_> = (0..count).filter(|snapshot| product.is_traded(*snapshot)).collect();
        let parts: Vec<_> = traded
            .chunk_by(|one, other| interval.slot(minute_of(*one)) == interval.slot(minute_of(*other)))
            .collect();
        assert_eq!(page.candles.len(), parts.len(), "{id}, {}", interval.name);
        for (candle, part) in page.candles.iter().zip(&parts) {
            let slot = interval.slot(minute_of(part[0]));
            let what = format!("{id}, {} at {}", interval.name, rfc3339(slot));
            assert_eq!(candle.opened_at, rfc3339(slot), "{what}");
            assert_eq!(candle.complete, slot + interval.length <= settled, "{what}");
            expect(candle, product, part, &what);
        }
        parts.len()
    };
    let compare = &compare;
    let comparisons = snapshots.products.iter().flat_map(|(id, product)| {
        INTERVALS.iter().map(move |interval| async move { compare(interval, id, product).await })
    });
    let compared: Vec<usize> = stream::iter(comparisons).buffer_unordered(4).collect().await;
    let compared: usize = compared.iter().sum();
    assert!(compared > 1_500, "{compared} candles were compared");
    expect_clean_logs(cloud);
}
