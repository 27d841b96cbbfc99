//! Fire sales: limited cosmetics that are announced, and then sold for some days. Often there are no sales.

use crate::chance::generator;
use crate::gson;
use crate::words;

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 60_000;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;

struct Sale {
    item_id: String,
    start: i64,
    end: i64,
    amount: i64,
    price: i64,
}

/// Returns the time of the refresh that is visible at `now_ms`, in Unix milliseconds. The provider does not
/// report it.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    now_ms.div_euclid(REFRESH_MS) * REFRESH_MS
}

/// The body of `/v2/skyblock/firesales` at `now_ms`: active and announced sales.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    let this_week = refresh.div_euclid(WEEK_MS);
    gson::object(1 << 10, |root| {
        root.key("success").boolean(true);
        root.key("sales").array(|list| {
            // A sale is announced at most three days ahead and ends at most ten days after its week began.
            for sale in (this_week - 2..=this_week + 1).flat_map(|week| announced(seed, week, refresh)) {
                list.object(|row| {
                    row.key("item_id").string(&sale.item_id);
                    row.key("start").integer(sale.start);
                    row.key("end").integer(sale.end);
                    row.key("amount").integer(sale.amount);
                    row.key("price").integer(sale.price);
                });
            }
        });
    })
}

/// The sales of `week` (counted from the Unix epoch) that are announced and not over at `now_ms`.
fn announced(seed: u64, week: i64, now_ms: i64) -> Vec<Sale> {
    let rng = &mut generator(seed, "fire sales", week.cast_unsigned());
    if rng.u32(..100) >= 55 {
        return Vec::new();
    }
    let start = week * WEEK_MS + rng.i64(0..5) * DAY_MS + 16 * HOUR_MS;
    let end = start + rng.i64(2..=5) * DAY_MS;
    let announced_at = start - rng.i64(6..=72) * HOUR_MS;
    if now_ms < announced_at || now_ms >= end {
        return Vec::new();
    }
    let wanted = rng.usize(1..=3);
    let items = rng.choose_multiple(words::skins(), wanted);
    let sales = items.into_iter().map(|item_id| Sale {
        item_id,
        start,
        end,
        amount: rng.i64(1..=40) * 500,
        price: rng.i64(4..=20) * 50,
    });
    sales.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn sales(seed: u64, now_ms: i64) -> Vec<Value> {
        let parsed: Value = serde_json::from_str(&body(seed, now_ms)).unwrap();
        assert_eq!(parsed["success"], true);
        parsed["sales"].as_array().unwrap().clone()
    }

    #[test]
    fn sales_are_announced_then_active_then_gone() {
        let mut none = 0;
        let mut active = 0;
        let mut upcoming = 0;
        for hour in 0..24 * 7 * 20 {
            let now_ms = 1_790_000_000_000 + hour * HOUR_MS;
            let announced = sales(1, now_ms);
            none += usize::from(announced.is_empty());
            for sale in announced {
                assert_eq!(sale.as_object().unwrap().len(), 5);
                assert!(sale["end"].as_i64().unwrap() > now_ms);
                let has_begun = sale["start"].as_i64().unwrap() <= now_ms;
                if has_begun { active += 1 } else { upcoming += 1 }
            }
        }
        assert!(none > 500 && active > 500 && upcoming > 100, "{none} {active} {upcoming}");
    }
}
