//! An auction: its item, its players, and its rows in the provider's lists.

use super::life::Life;
use crate::chance::{self, generator};
use crate::goods::Goods;
use crate::gson::Writer;
use crate::item_bytes::{self, Nbt};
use crate::names;

/// The number of players that trade.
const TRADERS: u64 = 40_000;

/// The highest price that players can ask for, in coins.
const HIGHEST_PRICE: f64 = 1.995e9;

/// A running buy-it-now auction.
#[derive(Debug)]
pub struct Offer {
    pub item_bytes: String,
    /// The price of the stack, in coins.
    pub price: u64,
}

/// An auction. All fields follow from the seed and the auction's number.
pub(super) struct Auction {
    seed: u64,
    life: Life,
    uuid: String,
    auctioneer: String,
    profile_id: String,
    coop: Vec<String>,
    goods: Goods,
    starting_bid: i64,
    item_uuid: Option<String>,
    item_bytes: String,
}

/// A bid, or the purchase of a buy-it-now auction.
struct Bid {
    bidder: String,
    profile_id: String,
    amount: i64,
    timestamp: i64,
}

impl Auction {
    pub(super) fn new(seed: u64, life: Life) -> Self {
        let rng = &mut generator(seed, "auction", life.number.cast_unsigned());
        let auctioneer = names::identity(seed, rng.u64(..TRADERS));
        let is_own_profile = rng.u32(..8) == 0;
        let mut coop = vec![auctioneer.clone()];
        if rng.u32(..4) == 0 {
            let friends = rng.usize(1..8);
            coop.extend((0..friends).map(|_| names::identity(seed, rng.u64(..))));
        }
        rng.shuffle(&mut coop);
        let uuid = chance::uuid(rng);
        let profile_id = if is_own_profile { auctioneer.clone() } else { chance::uuid(rng) };
        let mut goods = Goods::new(rng);
        let item_uuid = goods.is_unique.then(|| chance::uuid(rng));
        if let Some(item_uuid) = &item_uuid {
            let created = life.start - rng.i64(0..40_000_000_000);
            // Some old items have the time as text.
            let created = match rng.u32(..40) {
                0 => Nbt::Text(String::from("9/29/22 4:05 PM")),
                _ => Nbt::Long(created),
            };
            goods = goods.with("uuid", Nbt::Text(chance::dashed(item_uuid))).with("timestamp", created);
        }
        let item_bytes = item_bytes::encode(goods.encode(rng));
        let first = if life.is_bin { goods.price } else { goods.price * 0.6 };
        let starting_bid = first.clamp(1.0, HIGHEST_PRICE) as i64;
        // The provider's row lacks the UUID of some items that have one.
        let item_uuid = if rng.u32(..20) > 0 { item_uuid } else { None };
        Self { seed, life, uuid, auctioneer, profile_id, coop, goods, starting_bid, item_uuid, item_bytes }
    }

    /// Writes the row on a page. `updated` is the time of the newest bid, or else of the start.
    pub(super) fn write(&self, updated: i64, row: &mut Writer) {
        let Self { life, goods, .. } = self;
        row.key("uuid").string(&self.uuid);
        row.key("auctioneer").string(&self.auctioneer);
        row.key("profile_id").string(&self.profile_id);
        row.key("coop").strings(&self.coop);
        row.key("start").integer(life.start);
        row.key("end").integer(life.end);
        row.key("item_name").string(&goods.name);
        row.key("item_lore").string(&goods.lore);
        row.key("extra").string(&format!("{} {}", goods.name, goods.material.2));
        row.key("categories").strings([goods.category]);
        row.key("category").string(goods.category);
        row.key("tier").string(goods.tier().0);
        row.key("starting_bid").integer(self.starting_bid);
        row.key("item_bytes").string(&self.item_bytes);
        row.key("claimed").boolean(false);
        row.key("claimed_bidders").array(|_| {});
        let all_bids = (0..life.bids).map(|number| self.bid(number));
        let bids: Vec<Bid> = all_bids.take_while(|bid| bid.timestamp <= updated).collect();
        row.key("highest_bid_amount").integer(bids.last().map_or(0, |bid| bid.amount));
        row.key("last_updated").integer(updated);
        row.key("bin").boolean(life.is_bin);
        row.key("bids").array(|list| {
            for bid in bids {
                list.object(|row| {
                    row.key("auction_id").string(&self.uuid);
                    row.key("bidder").string(&bid.bidder);
                    row.key("profile_id").string(&bid.profile_id);
                    row.key("amount").integer(bid.amount);
                    row.key("timestamp").integer(bid.timestamp);
                });
            }
        });
        if let Some(item_uuid) = &self.item_uuid {
            row.key("item_uuid").string(item_uuid);
        }
    }

    /// Writes the row of a sold auction in a list of ended auctions.
    pub(super) fn write_sale(&self, row: &mut Writer) {
        let purchase = self.bid((self.life.bids - 1).max(0));
        row.key("auction_id").string(&self.uuid);
        row.key("seller").string(&self.auctioneer);
        row.key("seller_profile").string(&self.profile_id);
        row.key("buyer").string(&purchase.bidder);
        row.key("buyer_profile").string(&purchase.profile_id);
        row.key("timestamp").integer(self.life.gone);
        row.key("price").integer(purchase.amount);
        row.key("bin").boolean(self.life.is_bin);
        row.key("item_bytes").string(&self.item_bytes);
    }

    pub(super) fn into_offer(self) -> Offer {
        Offer { item_bytes: self.item_bytes, price: self.starting_bid.unsigned_abs() }
    }

    /// The bid with this number; the first one is the starting bid.
    fn bid(&self, number: i64) -> Bid {
        let rng = &mut generator(self.seed, "bid", (self.life.number * 16 + number).cast_unsigned());
        Bid {
            bidder: names::identity(self.seed, rng.u64(..TRADERS)),
            profile_id: chance::uuid(rng),
            amount: self.starting_bid + self.starting_bid / 20 * number + number,
            timestamp: self.life.bid_at(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Read;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::GzDecoder;
    use serde_json::Value;

    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    #[test]
    fn players_sell_every_kind_of_item() {
        let mut attributes = HashSet::new();
        let mut ids = HashSet::new();
        let mut keys = HashSet::new();
        let mut stacks = 0;
        let mut wide = 0;
        let mut nbt = Vec::new();
        let listed = Life::between(1, NOW_MS, NOW_MS).filter(|life| life.updated_at(NOW_MS).is_some());
        for life in listed.step_by(4) {
            let Auction { goods, item_bytes, .. } = Auction::new(1, life);
            nbt.clear();
            GzDecoder::new(&STANDARD.decode(item_bytes).unwrap()[..]).read_to_end(&mut nbt).unwrap();
            let item = &fastnbt::from_bytes::<Value>(&nbt).unwrap()["i"][0];
            let lines = item["tag"]["display"]["Lore"].as_array().unwrap().iter();
            assert!(lines.map(|line| line.as_str().unwrap()).eq(goods.lore.split('\n')));
            let extra = item["tag"]["ExtraAttributes"].as_object().unwrap();
            let deciding =
                ["id", "runes", "attributes", "potion", "potion_level", "model", "party_hat_color"];
            keys.insert(deciding.map(|name| extra.get(name).map(Value::to_string)));
            ids.insert(extra["id"].as_str().unwrap().to_owned());
            attributes.extend(extra.keys().cloned());
            stacks += usize::from(item["Count"].as_i64() > Some(1));
            wide += usize::from(goods.lore.chars().any(|character| character > '\u{ffff}'));
        }
        let kinds = "PET RUNE UNIQUE_RUNE POTION ENCHANTED_BOOK ATTRIBUTE_SHARD ABICASE LOG:2 HYPERION TERMINATOR \
                     ASPECT_OF_THE_VOID NECRON_HANDLE";
        for id in kinds.split(' ') {
            assert!(ids.contains(id), "{id}");
        }
        // As in the real game, these are traded in the bazaar only.
        for id in ["BOOSTER_COOKIE", "RECOMBOBULATOR_3000", "HOT_POTATO_BOOK"] {
            assert!(!ids.contains(id), "{id}");
        }
        let names = "petInfo potion_name enchantments party_hat_emoji new_years_cake modifier rarity_upgrades \
                     hot_potato_count upgrade_level baseStatBoostPercentage uuid timestamp";
        for name in names.split(' ') {
            assert!(attributes.contains(name), "{name}");
        }
        assert!((1_500..5_000).contains(&keys.len()), "{} keys", keys.len());
        assert!((150..600).contains(&stacks), "{stacks} stacks");
        assert!(wide > 0);
    }
}
