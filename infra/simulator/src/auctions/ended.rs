//! The ended auctions: the sales of the last minute, refreshed every 60 s.

use super::auction::Auction;
use super::life::Life;
use crate::chance::hash;
use crate::gson;

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 60_000;

/// Refreshes fall on second :43.
const PHASE_MS: i64 = 43_162;

/// The age from which a sale is in a list.
const YOUNGEST_MS: i64 = 1_400;

/// Every list has all sales up to at least this age. Successive lists overlap, so that no sale is missed.
const OLDEST_MS: i64 = 62_000;

/// Returns the `lastUpdated` of the refresh that is visible at `now_ms`, in Unix milliseconds.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    (now_ms - PHASE_MS).div_euclid(REFRESH_MS) * REFRESH_MS + PHASE_MS
}

/// The body of `/v2/skyblock/auctions_ended` at `now_ms`. The rows agree with the rows on the pages.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    let further = hash(seed, "ended auctions", refresh.cast_unsigned()) % 2_000;
    let shown = refresh - OLDEST_MS - further.cast_signed()..refresh - YOUNGEST_MS;
    let mut sold: Vec<Life> = Life::between(seed, shown.start, shown.end)
        .filter(|life| life.is_sold && shown.contains(&life.gone))
        .collect();
    sold.sort_unstable_by_key(|life| (life.gone, life.number));
    gson::object(512 << 10, |root| {
        root.key("success").boolean(true);
        root.key("lastUpdated").integer(refresh);
        root.key("auctions").array(|list| {
            for life in sold {
                list.object(|row| Auction::new(seed, life).write_sale(row));
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, from_str};

    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    #[test]
    fn each_sale_is_in_a_list_and_agrees_with_its_row_on_a_page() {
        let mut sales = HashMap::new();
        for minute in 0..5 {
            let list: Value = from_str(&body(1, NOW_MS + minute * REFRESH_MS)).unwrap();
            let refresh = list["lastUpdated"].as_i64().unwrap();
            let rows = list["auctions"].as_array().unwrap();
            assert!((50..200).contains(&rows.len()), "{} sales", rows.len());
            assert!(rows.iter().filter(|sale| sale["bin"] == true).count() * 10 > rows.len() * 8);
            for sale in rows {
                let age = refresh - sale["timestamp"].as_i64().unwrap();
                assert!((YOUNGEST_MS..=64_000).contains(&age), "{age}");
                sales.insert(sale["auction_id"].as_str().unwrap().to_owned(), sale.clone());
            }
        }
        let first = refreshed_at(NOW_MS) - REFRESH_MS;
        let lists = first..first + 5 * REFRESH_MS;
        let mut by_bids = 0;
        for life in Life::between(1, lists.start, lists.end).filter(|life| lists.contains(&life.gone)) {
            // The row in the last millisecond in which the auction is on a page.
            let Some(updated) = life.updated_at(life.gone - 1) else { continue };
            let text = gson::object(4_096, |row| Auction::new(1, life).write(updated, row));
            let row: Value = from_str(&text).unwrap();
            let Some(sale) = sales.get(row["uuid"].as_str().unwrap()) else {
                assert!(!life.is_sold || life.gone >= lists.end - YOUNGEST_MS, "{row}");
                continue;
            };
            let last_bid = row["bids"].as_array().unwrap().last();
            by_bids += usize::from(last_bid.is_some());
            let price = last_bid.map_or(&row["starting_bid"], |bid| &bid["amount"]);
            assert_eq!(
                [&sale["seller"], &sale["seller_profile"], &sale["bin"], &sale["item_bytes"], &sale["price"]],
                [&row["auctioneer"], &row["profile_id"], &row["bin"], &row["item_bytes"], price]
            );
            assert!(last_bid.is_none_or(|bid| bid["bidder"] == sale["buyer"]), "{sale}");
        }
        assert!(by_bids > 0);
    }
}
