//! The bazaar: about 1,900 products, refreshed every 20 s. Prices follow slow waves with a little noise, so
//! they change with each refresh, and any past refresh can be computed on its own.

use fastrand::Rng;

use crate::chance::{self, generator, hash, text_hash, wave};
use crate::famous::{self, Famous};
use crate::gson::{self, Writer};
use crate::trade::Trade;
use crate::words::PRODUCTS;

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 20_000;

/// The provider refreshes about half a second after second :18, :38 and :58.
const PHASE_MS: i64 = 18_560;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A flip, a product for `mode=flips` of the service, has at least this sell price, in coins.
const FLIP_PRICE: f64 = 50_000.0;
/// The minimum volume of a flip on both sides, in items.
const FLIP_VOLUME: i64 = 10_000;

/// Returns the `lastUpdated` of the refresh that is visible at `now_ms`, in Unix milliseconds.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    let jitter = |number: i64| (hash(0, "bazaar refresh", number.cast_unsigned()) % 300).cast_signed();
    let number = (now_ms - PHASE_MS).div_euclid(REFRESH_MS);
    let newest = number * REFRESH_MS + PHASE_MS + jitter(number);
    if newest <= now_ms { newest } else { (number - 1) * REFRESH_MS + PHASE_MS + jitter(number - 1) }
}

/// The body of `/v2/skyblock/bazaar` at `now_ms`.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    // A stable order that is not alphabetical, as from a hash map.
    let mut products: Vec<_> = listed(seed, refresh).collect();
    products.sort_unstable();
    gson::object(4 << 20, |root| {
        root.key("success").boolean(true);
        root.key("lastUpdated").integer(refresh);
        root.key("products").object(|object| {
            for (number, id) in products {
                Product::at(seed, id, number, refresh).write(id, object.key(id));
            }
        });
    })
}

/// The prices and volumes in the quick status of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quote {
    pub id: &'static str,
    /// `sellPrice`, in coins; 0 without buy orders.
    pub sell_price: f64,
    /// `buyPrice`, in coins; 0 without sell offers.
    pub buy_price: f64,
    /// `sellVolume`, in items.
    pub sell_volume: i64,
    /// `buyVolume`, in items.
    pub buy_volume: i64,
    /// The highest price of a buy order, in coins; `None` without buy orders.
    pub top_buy_order: Option<f64>,
    /// The lowest price of a sell offer, in coins; `None` without sell offers.
    pub top_sell_offer: Option<f64>,
    /// `sellMovingWeek`, in items.
    pub sell_moving_week: i64,
    /// `buyMovingWeek`, in items.
    pub buy_moving_week: i64,
}

/// The quotes of all products in the [`body`] at `now_ms`, in no particular order. Computing them takes a
/// tenth of the time of computing the body.
pub fn quotes(seed: u64, now_ms: i64) -> impl Iterator<Item = Quote> {
    let refresh = refreshed_at(now_ms);
    listed(seed, refresh).map(move |(number, id)| {
        let Product { sell, buy, .. } = Product::at(seed, id, number, refresh);
        Quote {
            id,
            sell_price: sell.price,
            buy_price: buy.price,
            sell_volume: sell.volume,
            buy_volume: buy.volume,
            top_buy_order: sell.best(),
            top_sell_offer: buy.best(),
            sell_moving_week: sell.moving_week,
            buy_moving_week: buy.moving_week,
        }
    })
}

/// The number of items of each product that instant sales and instant purchases trade between two times, in
/// the order of the two moving weeks. The products are those of the [`body`] at `to_ms`.
pub fn traded(seed: u64, from_ms: i64, to_ms: i64) -> impl Iterator<Item = (&'static str, [f64; 2])> {
    let refresh = refreshed_at(to_ms);
    listed(seed, refresh).map(move |(number, id)| {
        let Product { trades, .. } = Product::at(seed, id, number, refresh);
        (id, trades.map(|trade| trade.between(from_ms, to_ms)))
    })
}

/// The products of the refresh at `refresh`, each with its own random number.
fn listed(seed: u64, refresh: i64) -> impl Iterator<Item = (u64, &'static str)> {
    let day = refresh.div_euclid(DAY_MS).cast_unsigned();
    PRODUCTS.iter().map(move |id| (hash(seed, "order", text_hash(id)), id.as_str())).filter(
        move |(number, id)| {
            // One product in sixty comes and goes from day to day, at any place in the map.
            !(number.is_multiple_of(60) && hash(seed, "on sale", number ^ day).is_multiple_of(3))
                || famous(id).is_some()
        },
    )
}

/// The item of the real game with this id. Such a product always has orders, and is a flip.
fn famous(id: &str) -> Option<&'static Famous> {
    famous::PRODUCTS.iter().find(|product| product.id == id)
}

/// One level of an order book, price in tenths of a coin.
struct Level {
    amount: i64,
    tenths: i64,
    orders: i64,
}

impl Level {
    /// The price, in coins.
    const fn price(&self) -> f64 {
        self.tenths as f64 / 10.0
    }
}

/// One side of a product: its order book, and its values in the quick status.
struct Side {
    levels: Vec<Level>,
    price: f64,
    volume: i64,
    moving_week: i64,
    orders: i64,
}

struct Product {
    sell: Side,
    buy: Side,
    /// What instant sales and instant purchases trade.
    trades: [Trade; 2],
}

impl Product {
    /// A product as the refresh at `refresh` shows it. `number` is the product's own random number.
    fn at(seed: u64, id: &str, number: u64, refresh: i64) -> Self {
        let nature = &mut generator(seed, "product", number);
        let tick = &mut generator(number, "bazaar tick", refresh.cast_unsigned());
        let famous = famous(id);
        let sides = if famous.is_some() { 99 } else { nature.u32(..100) };
        let is_flip = famous.is_some() || sides >= 24 && nature.u32(..36) == 0;

        let base_price = if let Some(famous) = famous {
            famous.price
        } else if is_flip {
            chance::magnitude(nature, 90_000.0, 4e6)
        } else if id.starts_with("ENCHANTMENT_") {
            chance::magnitude(nature, 5e3, 1.5e8)
        } else if id.starts_with("SHARD_") {
            chance::magnitude(nature, 5e3, 2e7)
        } else if id.starts_with("ENCHANTED_") {
            chance::magnitude(nature, 80.0, 3e5)
        } else {
            chance::magnitude(nature, 1.5, 5e5)
        };
        let drift = 0.15 * wave(refresh, 9 * DAY_MS, nature.f64())
            + 0.06 * wave(refresh, 26 * HOUR_MS, nature.f64())
            + 0.02 * wave(refresh, 47 * 60_000, nature.f64())
            + 0.004 * (tick.f64() - 0.5);
        let middle = base_price * (1.0 + drift);
        let spread = chance::magnitude(nature, 0.004, 0.35);
        let offered = chance::magnitude(nature, 2e6, 8e9) / base_price;
        let mut volume = || {
            let swell = 1.0 + 0.3 * wave(refresh, 31 * HOUR_MS, nature.f64());
            let usual = if is_flip { chance::magnitude(nature, 25_000.0, 900_000.0) } else { offered };
            let usual = usual * chance::magnitude(nature, 0.6, 1.6);
            let volume = ((usual * swell) as i64).clamp(1, 400_000_000);
            // Other products must not reach a flip's price and volume.
            let most = if !is_flip && middle > FLIP_PRICE * 0.9 { FLIP_VOLUME - 500 } else { i64::MAX };
            (usual, volume.min(most))
        };
        let [(usual_sales, sell_volume), (usual_purchases, buy_volume)] = std::array::from_fn(|_| volume());
        let best_order = ((middle * (1.0 - spread / 2.0) * 10.0) as i64).max(1);
        let best_offer = ((middle * (1.0 + spread / 2.0) * 10.0) as i64).max(best_order + 1);

        // 18 in 100 products have two empty sides, a few more have one.
        let mut sell =
            if sides < 20 { Side::empty() } else { Side::filled(tick, best_order, -1, sell_volume) };
        let mut buy = if sides < 18 || (20..22).contains(&sides) {
            Side::empty()
        } else {
            Side::filled(tick, best_offer, 1, buy_volume)
        };
        let trades = [(usual_sales, 1), (usual_purchases, 2)].map(|(usual, side)| Trade {
            number: number ^ side,
            usual_week: (usual * chance::magnitude(nature, 0.2, 40.0)).min(9e8),
        });
        [sell.moving_week, buy.moving_week] = trades.each_ref().map(|trade| trade.moving_week(refresh));

        // The provider's order book and quick status are from different times, so one product in twenty
        // sometimes has only one of the two. It is always the same products, so that tests of other products
        // do not depend on the time.
        let is_patchy = nature.u32(..20) == 0 && famous.is_none();
        match tick.u32(..60) {
            _ if !is_patchy => {}
            0 if !is_flip => (sell.price, sell.volume, sell.orders) = (0.0, 0, 0),
            1 => buy.levels.clear(),
            _ => {}
        }
        Self { sell, buy, trades }
    }

    fn write(&self, id: &str, product: &mut Writer) {
        product.object(|product| {
            product.key("product_id").string(id);
            // The provider's names are from an instant trader's view: buy orders are in sell_summary.
            product.key("sell_summary").array(|list| write_levels(&self.sell.levels, list));
            product.key("buy_summary").array(|list| write_levels(&self.buy.levels, list));
            product.key("quick_status").object(|status| {
                status.key("productId").string(id);
                status.key("sellPrice").double(self.sell.price);
                status.key("sellVolume").integer(self.sell.volume);
                status.key("sellMovingWeek").integer(self.sell.moving_week);
                status.key("sellOrders").integer(self.sell.orders);
                status.key("buyPrice").double(self.buy.price);
                status.key("buyVolume").integer(self.buy.volume);
                status.key("buyMovingWeek").integer(self.buy.moving_week);
                status.key("buyOrders").integer(self.buy.orders);
            });
        });
    }
}

impl Side {
    fn empty() -> Self {
        Self { levels: Vec::new(), price: 0.0, volume: 0, moving_week: 0, orders: 0 }
    }

    /// The best price, in coins; `None` without orders. The best level is the first one.
    fn best(&self) -> Option<f64> {
        self.levels.first().map(Level::price)
    }

    /// A side whose best price is `best` tenths of a coin. Worse prices lie in `direction`.
    fn filled(tick: &mut Rng, best: i64, direction: i64, volume: i64) -> Self {
        let wanted = if tick.u32(..5) < 2 { 30 } else { tick.usize(1..30) };
        let mut levels = Vec::with_capacity(wanted);
        let mut tenths = best;
        let mut listed = 0;
        while levels.len() < wanted && tenths > 0 && tenths <= 5_000_000_000 && listed < volume {
            let amount =
                ((volume as f64 * chance::magnitude(tick, 0.0005, 0.15)) as i64).clamp(1, volume - listed);
            levels.push(Level { amount, tenths, orders: tick.i64(1..=12).min(amount) });
            listed += amount;
            // Most levels are 0.1 to 0.3 coins apart; some leave a larger gap.
            let step = if tick.u32(..3) > 0 {
                tick.i64(1..4)
            } else {
                1 + (tenths as f64 * 0.02 * tick.f64()) as i64
            };
            tenths += direction * step;
        }
        let orders = levels.iter().map(|level| level.orders).sum::<i64>();
        let unlisted = if volume > listed { tick.i64(1..200) } else { 0 };
        let price = best_two_percent(&levels, volume);
        Self { levels, price, volume, moving_week: 0, orders: orders + unlisted }
    }
}

/// The average price of the best 2 % of the volume, weighted, unrounded.
fn best_two_percent(levels: &[Level], volume: i64) -> f64 {
    let mut wanted = (volume / 50).max(1);
    let mut coins = 0.0;
    let mut amount = 0.0;
    for level in levels {
        let taken = level.amount.min(wanted);
        coins += (level.tenths * taken) as f64 / 10.0;
        amount += taken as f64;
        wanted -= taken;
        if wanted == 0 {
            break;
        }
    }
    if amount > 0.0 { coins / amount } else { 0.0 }
}

fn write_levels(levels: &[Level], list: &mut Writer) {
    for level in levels {
        list.object(|row| {
            row.key("amount").integer(level.amount);
            row.key("pricePerUnit").double(level.price());
            row.key("orders").integer(level.orders);
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOW_MS: i64 = 1_795_000_000_000;

    fn products(seed: u64, now_ms: i64) -> serde_json::Map<String, Value> {
        let parsed: Value = serde_json::from_str(&body(seed, now_ms)).unwrap();
        parsed["products"].as_object().unwrap().clone()
    }

    #[test]
    fn quotes_are_those_of_the_body_at_the_same_time() {
        for (seed, now_ms) in [(1, NOW_MS), (1, NOW_MS + 60_000), (7, NOW_MS - 700 * DAY_MS)] {
            let products = products(seed, now_ms);
            let quotes: Vec<_> = quotes(seed, now_ms).collect();
            assert_eq!(quotes.len(), products.len());
            for quote in quotes {
                let status = &products[quote.id]["quick_status"];
                // Java's spelling of a double is exact.
                assert_eq!(status["sellPrice"], quote.sell_price, "{quote:?}");
                assert_eq!(status["buyPrice"], quote.buy_price, "{quote:?}");
                assert_eq!(status["sellVolume"], quote.sell_volume, "{quote:?}");
                assert_eq!(status["buyVolume"], quote.buy_volume, "{quote:?}");
                assert_eq!(status["sellMovingWeek"], quote.sell_moving_week, "{quote:?}");
                assert_eq!(status["buyMovingWeek"], quote.buy_moving_week, "{quote:?}");
                for (summary, best) in
                    [("sell_summary", quote.top_buy_order), ("buy_summary", quote.top_sell_offer)]
                {
                    assert_eq!(products[quote.id][summary][0]["pricePerUnit"].as_f64(), best, "{quote:?}");
                }
            }
        }
    }

    #[test]
    fn what_tests_of_the_service_ask_for_has_prices_and_orders_at_any_time() {
        let ids = ["COAL", "ENCHANTED_DIAMOND", "ENCHANTMENT_GROWTH_5", "INK_SACK:3"];
        for refresh in (0..5_000).map(|number| refreshed_at(NOW_MS + number * 1_234_567)) {
            let products: Vec<_> = listed(1, refresh).filter(|(_, id)| ids.contains(id)).collect();
            assert_eq!(products.len(), ids.len(), "{refresh}");
            for (number, id) in products {
                let Product { sell, buy, .. } = Product::at(1, id, number, refresh);
                assert!(
                    [sell, buy].iter().all(|side| side.price > 0.0 && !side.levels.is_empty()),
                    "{id} at {refresh}"
                );
            }
        }
    }

    #[test]
    fn products_that_players_know_have_their_usual_prices_and_orders_at_any_time_in_every_game() {
        let ids = ["BOOSTER_COOKIE", "RECOMBOBULATOR_3000", "HOT_POTATO_BOOK"];
        let usual = [11.6e6, 10.5e6, 75e3];
        for seed in 0..20 {
            for refresh in (0..200).map(|number| refreshed_at(NOW_MS + number * 31_234_567)) {
                for (id, usual) in ids.into_iter().zip(usual) {
                    let (number, id) = listed(seed, refresh).find(|(_, listed)| *listed == id).unwrap();
                    let Product { sell, buy, .. } = Product::at(seed, id, number, refresh);
                    for side in [sell, buy] {
                        assert!((0.5..1.6).contains(&(side.price / usual)), "{id} {}", side.price);
                        assert!(!side.levels.is_empty(), "{id} at {refresh}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_bazaar_has_its_real_size_and_awkward_products() {
        for (seed, now_ms) in [(1, NOW_MS), (2, NOW_MS + 5 * DAY_MS), (99, 1_600_000_000_000)] {
            let text = body(seed, now_ms);
            assert!((2_500_000..3_600_000).contains(&text.len()), "{} bytes", text.len());
            let products = products(seed, now_ms);
            assert!((1_850..1_930).contains(&products.len()), "{} products", products.len());
            for id in ["INK_SACK:3", "LOG:2", "X", "Y", "Z", "RAW_FISH:1"] {
                assert!(PRODUCTS.iter().any(|product| product == id), "{id}");
            }
            let empty = products.values().filter(|product| {
                product["quick_status"]["sellPrice"] == 0.0 || product["quick_status"]["buyPrice"] == 0.0
            });
            let share = empty.count() * 100 / products.len();
            assert!((15..30).contains(&share), "{share} % have an empty side");
            let is_flip = |product: &&Value| {
                let status = &product["quick_status"];
                status["sellPrice"].as_f64().unwrap() >= FLIP_PRICE
                    && status["sellVolume"].as_i64().unwrap() >= FLIP_VOLUME
                    && status["buyVolume"].as_i64().unwrap() >= FLIP_VOLUME
            };
            let flips = products.values().filter(is_flip).count();
            assert!((20..=60).contains(&flips), "{flips} flips");
        }
    }
}
