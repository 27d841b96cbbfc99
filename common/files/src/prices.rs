//! `/prices.json`: the prices of both markets in one list. Each recorder replaces the prices of its market.
//!
//! `/prices.json` also decides which run may write the files of a minute, `bazaar.json` and `lowestbin.json`.
//! A run looks up the version of its file, then advances the time of its market in `/prices.json`, and then
//! replaces its file. If a later run replaces the file in the meantime, the version differs, and the earlier
//! run leaves the file alone.

use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::store::Files;

const NAME: &str = "prices.json";

/// The maximum number of attempts. An attempt fails if another run writes the file at the same time.
const ATTEMPTS: usize = 5;

/// The maximum lead of the provider's time over the clock, in seconds. A stored time with a larger lead is
/// wrong, and must not block updates.
const LARGEST_LEAD: i64 = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Market {
    Auctions,
    Bazaar,
}

/// The prices of an item in a market. Prices are in coins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "market", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Price {
    Auctions {
        /// The lowest buy-it-now price of one item.
        lowest: f64,
    },
    Bazaar {
        /// The price of the best buy order, which an instant sale gets; null without buy orders.
        top_buy_order: Option<f64>,
        /// The price of the best sell offer, which an instant purchase pays; null without sell offers.
        top_sell_offer: Option<f64>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceRow {
    pub id: String,
    #[serde(flatten)]
    pub price: Price,
}

impl PriceRow {
    const fn market(&self) -> Market {
        match self.price {
            Price::Auctions { .. } => Market::Auctions,
            Price::Bazaar { .. } => Market::Bazaar,
        }
    }
}

/// When the provider refreshed the stored prices of each market; null if no prices are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Times {
    auctions: Option<UnixSeconds>,
    bazaar: Option<UnixSeconds>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct PriceList {
    updated_at: Times,
    prices: Vec<PriceRow>,
}

impl Times {
    const fn of(&mut self, market: Market) -> &mut Option<UnixSeconds> {
        match market {
            Market::Auctions => &mut self.auctions,
            Market::Bazaar => &mut self.bazaar,
        }
    }
}

/// Replaces the prices of the market with `rows`, the prices at `updated_at`. Returns `false` if the stored
/// prices are of a later time, or if another run writes the file during every attempt. The caller must then
/// not write the files of the minute. Stored prices of the same time are also replaced: auctions may have
/// been sold since then, and an earlier run may have failed before it wrote the files of the minute. `now` is
/// the current time.
pub async fn advance(
    files: &Files,
    market: Market,
    updated_at: UnixSeconds,
    now: UnixSeconds,
    rows: &[PriceRow],
) -> Result<bool, Error> {
    for _ in 0..ATTEMPTS {
        let (seen, content) = files.read(NAME).await?;
        let parse = |content: Vec<u8>| serde_json::from_slice(&content);
        let document = content.map(parse).transpose().unwrap_or_else(|error| {
            tracing::warn!(cause = %error, "{NAME} is corrupt and is written again");
            None
        });
        let PriceList { updated_at: mut times, prices: before } = document.unwrap_or_default();
        let updated_before = times.of(market).replace(updated_at);
        if updated_before
            .is_some_and(|before| before > updated_at && before.get() <= now.get() + LARGEST_LEAD)
        {
            return Ok(false);
        }
        let mut prices: Vec<_> = before.iter().filter(|row| row.market() != market).cloned().collect();
        prices.extend_from_slice(rows);
        prices.sort_by(|one, other| (&one.id, one.market()).cmp(&(&other.id, other.market())));
        if updated_before == Some(updated_at) && prices == before {
            return Ok(true);
        }
        let document = serde_json::to_vec(&PriceList { updated_at: times, prices })?;
        if files.replace(seen, &document).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::store::tests::files;

    /// The current time in the tests: 2026-04-28T10:00:00Z.
    const NOW: UnixSeconds = UnixSeconds::new(1_777_370_400);

    fn rows(lowest: f64) -> [PriceRow; 1] {
        [PriceRow { id: "HYPERION".to_owned(), price: Price::Auctions { lowest } }]
    }

    async fn advance_to(files: &Files, seconds: i64, lowest: f64) -> bool {
        let time = UnixSeconds::new(NOW.get() + seconds);
        advance(files, Market::Auctions, time, NOW, &rows(lowest)).await.unwrap()
    }

    fn shown(folder: &TempDir) -> Vec<PriceRow> {
        let text = std::fs::read(folder.path().join(NAME)).unwrap();
        serde_json::from_slice::<PriceList>(&text).unwrap().prices
    }

    #[tokio::test]
    async fn the_prices_of_a_market_only_go_forward() {
        let folder = TempDir::new().unwrap();
        let files = files(&folder);
        assert!(advance_to(&files, -60, 1.0).await);
        assert!(advance_to(&files, -60, 1.0).await, "the files of the minute may be missing");
        assert_eq!(shown(&folder)[0], rows(1.0)[0]);
        assert!(advance_to(&files, -60, 2.0).await, "the cheapest auction was sold");
        assert_eq!(shown(&folder)[0], rows(2.0)[0]);
        assert!(!advance_to(&files, -61, 2.0).await);
        assert!(advance_to(&files, 0, 3.0).await);
        // A time in the future is written, but does not block the present.
        assert!(advance_to(&files, 121, 4.0).await);
        assert!(advance_to(&files, 0, 5.0).await);
        let text = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        let expected = r#"{"updated_at":{"auctions":"2026-04-28T10:00:00Z","bazaar":null},"prices":[{"id":"HYPERION","market":"auctions","lowest":5.0}]}"#;
        assert_eq!(text, expected);
        // A corrupt file is written again.
        std::fs::write(folder.path().join(NAME), "[").unwrap();
        assert!(advance_to(&files, -600, 6.0).await);
    }

    #[tokio::test]
    async fn each_market_keeps_the_prices_of_the_other() {
        let folder = TempDir::new().unwrap();
        let files = files(&folder);
        let price = Price::Bazaar { top_buy_order: Some(1.5), top_sell_offer: None };
        let bazaar = [PriceRow { id: "COAL".to_owned(), price }];
        assert!(advance_to(&files, 0, 6.0).await);
        assert!(advance(&files, Market::Bazaar, NOW, NOW, &bazaar).await.unwrap());
        assert!(advance_to(&files, 1, 7.0).await);
        assert_eq!(shown(&folder), [bazaar, rows(7.0)].concat());
    }
}
