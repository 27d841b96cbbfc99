//! Prices of the bazaar over time, written every minute for all products and read for one at a time.
//!
//! A row holds one tick of one shard of products, as a map from product id to `[sell_price, buy_price, sell_volume,
//! buy_volume]`. So a tick is some hundred rows and not one for each product, and a query reads the rows of one shard and
//! takes one entry of each. Five tiers hold the same at five intervals; each serves one range, and nothing is resampled.
//!
//! | key | value |
//! |---|---|
//! | `pk` | `bazaar#TIER#SHARD`, such as `bazaar#5m#017` |
//! | `sk` | the slot: the beginning of the tier's interval, in Unix seconds, ten digits. If the tick is a later one in it, `#` and how many minutes later, three digits: `1795273200#017` |
//! | `products` | the map |
//! | `ttl` | when the row expires, in Unix seconds |
//!
//! When all rows of a tick are there, a row under `bazaar#TIER` and the slot says so: `recorded_at` is the tick, `rows` how
//! many rows it has. A slot belongs to the earliest tick in it that was recorded. Ticks never write each other's rows, and
//! whoever reads takes the earliest of a slot. So an event that comes twice changes nothing, events may come in any order
//! or at once, and a tick that is missed leaves no gap in a coarse tier: the next one fills the slot.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, PutRequest, ReturnValue, WriteRequest};
use common::params::ItemId;
use common::time::{Tick, UnixSeconds};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};
use tokio::time::Instant;

use crate::item::{
    self, Corrupt, Item, PARTITION_KEY, SORT_KEY, TIME_TO_LIVE, integer, number, readable, string, text,
};
use crate::{Error, Table};

const PRODUCTS: &str = "products";
const RECORDED_AT: &str = "recorded_at";
const ROWS: &str = "rows";

/// How many rows of a slot a query reads at the most, on average. There is one, and for a moment two, unless somebody else
/// writes into the table.
const MOST_TICKS_OF_A_SLOT: usize = 4;

/// How much longer than its range a tier is kept: the longest interval, so that nothing expires that a query may ask for.
const MARGIN: Duration = Duration::from_hours(3);

/// One of the five resolutions in which prices are kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Tier {
    /// Its name, which is its interval's.
    pub name: &'static str,
    /// The range of `GET /v1/bazaar/history` that it serves.
    pub range: &'static str,
    /// The time from slot to slot.
    pub interval: Duration,
    /// How many slots the range has, the newest included: never more points than the contract allows.
    pub slots: u32,
    /// Into how many shards the products are cut.
    pub shards: u32,
}

/// The tiers, the finest first.
///
/// The shard counts were chosen with the 1,913 ids and the prices of a real snapshot. Every row costs at least one write
/// unit a tick and holds a kilobyte for it, so the finest tier, which is three quarters of all writing, has as many
/// shards as fill their kilobyte. The coarse ones are written rarely, and a query of theirs reads up to 720 rows: there
/// small rows count, the more so as a hash spreads so few products unevenly. Of the counts in question, these spread
/// these ids best: the fullest shard costs 30 read units even if every product has a price, and all writing 7.8 million
/// units a month. `cargo local cost` shows what comes of it today.
pub const TIERS: [Tier; 5] = [
    Tier { name: "1m", range: "1h", interval: Duration::from_mins(1), slots: 60, shards: 97 },
    Tier { name: "5m", range: "24h", interval: Duration::from_mins(5), slots: 288, shards: 190 },
    Tier { name: "30m", range: "7d", interval: Duration::from_mins(30), slots: 336, shards: 237 },
    Tier { name: "1h", range: "30d", interval: Duration::from_hours(1), slots: 720, shards: 869 },
    Tier { name: "3h", range: "90d", interval: Duration::from_hours(3), slots: 720, shards: 869 },
];

impl Tier {
    /// The slot in which the moment lies.
    #[must_use]
    pub const fn slot(&self, moment: UnixSeconds) -> UnixSeconds {
        moment.rounded_down(self.interval)
    }

    /// When the rows of this slot expire.
    fn expires(&self, slot: UnixSeconds) -> UnixSeconds {
        slot.plus(self.interval * self.slots + MARGIN)
    }

    /// Whether the moment lies in the slot, and the slot is one of this tier.
    fn contains(&self, slot: UnixSeconds, moment: UnixSeconds) -> bool {
        self.slot(moment) == slot
    }

    /// The shard that the product is in. CRC-32, so that it is the same for ever and in every language.
    fn shard(&self, id: &ItemId) -> u32 {
        crc32fast::hash(id.as_str().as_bytes()) % self.shards
    }

    /// Where the rows of the shard are.
    fn partition(&self, shard: u32) -> String {
        format!("bazaar#{}#{shard:03}", self.name)
    }

    /// Where it says which slots are complete.
    fn markers(&self) -> String {
        format!("bazaar#{}", self.name)
    }
}

/// The sort key of a slot: in the order of time as text, too.
fn sort_key(slot: UnixSeconds) -> String {
    format!("{:010}", slot.get())
}

/// The sort key of a tick's rows in a slot: between that of the slot and that of the next one, and in the order of ticks.
/// Nearly always the tick is the slot, and rows are read by the hundred: what the key does not hold costs nothing.
fn tick_key(slot: UnixSeconds, tick: Tick) -> String {
    match (tick.time().get() - slot.get()) / 60 {
        0 => sort_key(slot),
        minutes => format!("{}#{minutes:03}", sort_key(slot)),
    }
}

/// A price in coins, exact to 0.01.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Price(f64);

impl Price {
    /// The highest one: the game's purses hold less, and everything below has its cents.
    pub const HIGHEST: f64 = 1e12;

    /// The price nearest to so many coins, or `None` where that is no price: below 0, above the highest, or no number.
    #[must_use]
    pub fn nearest(coins: f64) -> Option<Self> {
        let is_price = (0.0..=Self::HIGHEST).contains(&coins);
        // By way of decimal digits: there is where it must be exact. (Adding 0 makes a zero positive.)
        is_price.then(|| format!("{coins:.2}").parse().ok().map(|coins: f64| Self(coins + 0.0))).flatten()
    }

    /// In coins.
    #[must_use]
    pub const fn coins(self) -> f64 {
        self.0
    }
}

/// What a product costs at a tick. It is written as a list of four: `[sell_price, buy_price, sell_volume, buy_volume]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "(f64, f64, i64, i64)")]
pub struct Quote {
    /// What one item brings when sold at once; 0 when nobody buys.
    pub sell_price: Price,
    /// What one item costs when bought at once; 0 when nobody sells.
    pub buy_price: Price,
    /// How many items the open buy orders want.
    pub sell_volume: i64,
    /// How many items the open sell offers hold.
    pub buy_volume: i64,
}

impl Quote {
    /// The quote with prices nearest to these, or `None` where one is no price or a volume is below 0.
    #[must_use]
    pub fn nearest(sell_price: f64, buy_price: f64, sell_volume: i64, buy_volume: i64) -> Option<Self> {
        let is_volume = sell_volume >= 0 && buy_volume >= 0;
        let (sell_price, buy_price) = (Price::nearest(sell_price)?, Price::nearest(buy_price)?);
        is_volume.then_some(Self { sell_price, buy_price, sell_volume, buy_volume })
    }

    fn attribute(&self) -> AttributeValue {
        AttributeValue::L(vec![
            number(self.sell_price.0),
            number(self.buy_price.0),
            number(self.sell_volume),
            number(self.buy_volume),
        ])
    }

    fn of_attribute(value: &AttributeValue) -> Option<Self> {
        let [sell_price, buy_price, sell_volume, buy_volume] = value.as_l().ok()?.as_slice() else {
            return None;
        };
        let price = |value: &AttributeValue| value.as_n().ok()?.parse().ok();
        let volume = |value: &AttributeValue| value.as_n().ok()?.parse().ok();
        Self::nearest(price(sell_price)?, price(buy_price)?, volume(sell_volume)?, volume(buy_volume)?)
    }
}

impl TryFrom<(f64, f64, i64, i64)> for Quote {
    type Error = String;

    fn try_from((sell, buy, sell_volume, buy_volume): (f64, f64, i64, i64)) -> Result<Self, String> {
        Self::nearest(sell, buy, sell_volume, buy_volume).ok_or_else(|| {
            format!("a quote is two prices from 0 to {:e} and two volumes from 0", Price::HIGHEST)
        })
    }
}

impl Serialize for Quote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut four = serializer.serialize_tuple(4)?;
        four.serialize_element(&self.sell_price)?;
        four.serialize_element(&self.buy_price)?;
        four.serialize_element(&self.sell_volume)?;
        four.serialize_element(&self.buy_volume)?;
        four.end()
    }
}

/// What all products cost at a tick.
pub type Quotes = BTreeMap<ItemId, Quote>;

/// A slot of a tier that a tick is to fill.
#[derive(Debug)]
pub struct Due {
    tier: &'static Tier,
    slot: UnixSeconds,
    owner: Owner,
}

/// Whom a slot belongs to that is to be filled.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Nobody,
    Later(Tick),
    /// The row that should say so makes no sense.
    Unreadable,
}

/// A slot that was filled.
#[derive(Debug, Serialize)]
pub struct Filled {
    /// The tier's name.
    pub tier: &'static str,
    /// The slot.
    pub slot: UnixSeconds,
    /// How many rows its products take.
    pub rows: usize,
    /// How many write units they took.
    pub write_units: f64,
}

/// What a product cost at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The tick that was recorded.
    pub recorded_at: UnixSeconds,
    /// The prices and volumes.
    pub quote: Quote,
}

/// The slots that the tick has to fill: of each tier the one in which it lies, unless that one is complete with this or an
/// earlier tick. Rows that would have expired at the moment `now` are not worth writing.
///
/// # Errors
/// If the table does not answer in time.
pub async fn due(table: &Table, tick: Tick, now: UnixSeconds, deadline: Instant) -> Result<Vec<Due>, Error> {
    let mut slots = Vec::new();
    for tier in &TIERS {
        let slot = tier.slot(tick.time());
        if tier.expires(slot) > now {
            slots.push((tier, slot));
        }
    }
    let keys = slots.iter().map(|(tier, slot)| item::key(tier.markers(), sort_key(*slot))).collect();
    // What was written a moment ago must be seen.
    let markers = table.get_all(keys, true, deadline).await?;
    let owner = |tier: &'static Tier| {
        let is_of_tier = |marker: &&Item| text(marker, PARTITION_KEY).is_ok_and(|key| key == tier.markers());
        let Some(marker) = markers.iter().find(is_of_tier) else { return Owner::Nobody };
        let read = |marker: &Item| complete_slot(tier, marker).map(Some);
        let read = readable(std::slice::from_ref(marker), &tier.markers(), read);
        read.first().map_or(Owner::Unreadable, |complete| Owner::Later(complete.tick))
    };
    let due = slots.into_iter().filter_map(|(tier, slot)| match owner(tier) {
        Owner::Later(owner) if owner <= tick => None,
        owner => Some(Due { tier, slot, owner }),
    });
    Ok(due.collect())
}

/// Fills the slots with what the products cost at the tick. After a failure the same again completes it.
///
/// # Errors
/// If a part could not be written before the deadline.
pub async fn fill(
    table: &Table,
    tick: Tick,
    due: &[Due],
    quotes: &Quotes,
    deadline: Instant,
) -> Result<Vec<Filled>, Error> {
    let mut filled = Vec::with_capacity(due.len());
    for &Due { tier, slot, owner } in due {
        let mut shards = BTreeMap::<u32, HashMap<String, AttributeValue>>::new();
        for (id, quote) in quotes {
            shards.entry(tier.shard(id)).or_default().insert(id.as_str().to_owned(), quote.attribute());
        }
        let rows = shards.len();
        let puts = shards.into_iter().map(|(shard, products)| put(table, tier, shard, slot, tick, products));
        let puts = puts.collect::<Result<_, _>>()?;
        let write_units = table.write_all(puts, deadline).await?;
        if let Owner::Later(later) = owner {
            remove(table, tier, slot, later, deadline).await?;
        }
        match mark(table, &Recorded { tick, tier, slot, rows }, owner, deadline).await? {
            // It came to its end after this one had asked whose the slot is.
            Marked::InPlaceOf(later)
                if later > tick && !matches!(owner, Owner::Later(known) if known == later) =>
            {
                remove(table, tier, slot, later, deadline).await?;
            }
            Marked::InPlaceOf(_) => {}
            Marked::BelongsToAnEarlierTick => remove(table, tier, slot, tick, deadline).await?,
        }
        filled.push(Filled { tier: tier.name, slot, rows, write_units });
    }
    Ok(filled)
}

fn put(
    table: &Table,
    tier: &Tier,
    shard: u32,
    slot: UnixSeconds,
    tick: Tick,
    products: HashMap<String, AttributeValue>,
) -> Result<WriteRequest, Error> {
    let mut row = item::key(tier.partition(shard), tick_key(slot, tick));
    row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
    row.insert(TIME_TO_LIVE.to_owned(), number(tier.expires(slot).get()));
    let put = PutRequest::builder().set_item(Some(row)).build();
    let put = put.map_err(|error| table.failed("BatchWriteItem", error.to_string()))?;
    Ok(WriteRequest::builder().put_request(put).build())
}

/// Takes a tick's rows out of a slot that belongs to another. They would do no harm, but nobody needs them.
async fn remove(
    table: &Table,
    tier: &Tier,
    slot: UnixSeconds,
    tick: Tick,
    deadline: Instant,
) -> Result<(), Error> {
    let delete = |shard| {
        let key = item::key(tier.partition(shard), tick_key(slot, tick));
        let delete = DeleteRequest::builder().set_key(Some(key)).build();
        let delete = delete.map_err(|error| table.failed("BatchWriteItem", error.to_string()))?;
        Ok(WriteRequest::builder().delete_request(delete).build())
    };
    let deletes = (0..tier.shards).map(delete).collect::<Result<_, _>>()?;
    table.write_all(deletes, deadline).await.map(drop)
}

/// What came of the claim to a slot.
enum Marked {
    /// It is the tick's, and was this one's before: another's, its own, or nobody's, for which its own stands.
    InPlaceOf(Tick),
    BelongsToAnEarlierTick,
}

/// Says that the slot is complete with the tick, unless an earlier one has it meanwhile.
async fn mark(table: &Table, recorded: &Recorded, owner: Owner, deadline: Instant) -> Result<Marked, Error> {
    let Recorded { tick, tier, slot, rows } = *recorded;
    let request = table
        .client()
        .put_item()
        .table_name(table.name())
        .set_item(Some(item::key(tier.markers(), sort_key(slot))))
        .item(RECORDED_AT, number(tick.time().get()))
        .item(ROWS, number(rows))
        .item(TIME_TO_LIVE, number(tier.expires(slot).get()))
        .return_values(ReturnValue::AllOld);
    let request = match owner {
        Owner::Unreadable => request,
        Owner::Nobody | Owner::Later(_) => request
            .condition_expression("attribute_not_exists(recorded_at) OR recorded_at >= :tick")
            .expression_attribute_values(":tick", number(tick.time().get())),
    };
    let Some(done) = table.unless_refused("PutItem", deadline, request.send()).await? else {
        return Ok(Marked::BelongsToAnEarlierTick);
    };
    let before = done.attributes.and_then(|marker| complete_slot(tier, &marker).ok());
    Ok(Marked::InPlaceOf(before.map_or(tick, |before| before.tick)))
}

/// What the product cost in the tier's range before the moment `now`, oldest first. A tick without the product gives no
/// point.
///
/// # Errors
/// If the table does not answer in time.
pub async fn points(
    table: &Table,
    tier: &Tier,
    id: &ItemId,
    now: UnixSeconds,
    deadline: Instant,
) -> Result<Vec<Point>, Error> {
    let partition = tier.partition(tier.shard(id));
    let last = tier.slot(now);
    let first = last.minus(tier.interval * (tier.slots - 1));
    let query = table
        .query()
        .key_condition_expression("pk = :partition AND sk BETWEEN :first AND :last")
        .expression_attribute_values(":partition", string(&partition))
        .expression_attribute_values(":first", string(sort_key(first)))
        // Behind the last tick of the slot.
        .expression_attribute_values(":last", string(format!("{}#~", sort_key(last))))
        .projection_expression("sk, products.#id")
        .expression_attribute_names("#id", id.as_str())
        // The newest count most, should there be more rows than there can be.
        .scan_index_forward(false);
    let rows = table.rows(query, tier.slots as usize * MOST_TICKS_OF_A_SLOT, deadline).await?;
    let points = readable(&rows, &partition, |row| point(row, tier, id));
    // Of a slot the earliest tick, which comes last here.
    let slots: BTreeMap<_, _> =
        points.into_iter().map(|point| (tier.slot(point.recorded_at), point)).collect();
    Ok(slots.into_values().collect())
}

/// The product's point in a row, if the row has the product.
fn point(row: &Item, tier: &Tier, id: &ItemId) -> Result<Option<Point>, Corrupt> {
    let (_, tick) = slot_and_tick(row, tier)?;
    let Some(products) = row.get(PRODUCTS) else { return Ok(None) };
    let quote = products.as_m().ok().and_then(|products| products.get(id.as_str()));
    let Some(quote) = quote.and_then(Quote::of_attribute) else {
        return Err(Corrupt::new(PRODUCTS, "a map of lists of two prices and two volumes"));
    };
    Ok(Some(Point { recorded_at: tick.time(), quote }))
}

/// What a row's sort key says.
fn slot_and_tick(row: &Item, tier: &Tier) -> Result<(UnixSeconds, Tick), Corrupt> {
    let key = text(row, SORT_KEY)?;
    let (slot, minutes) = key.split_once('#').unwrap_or((&key, "0"));
    let read = |text: &str| text.parse::<u32>().ok();
    let tick = read(slot).zip(read(minutes)).map(|(slot, minutes)| {
        let slot = UnixSeconds::new(slot.into());
        (slot, Tick::of(slot.plus(Duration::from_mins(1) * minutes)))
    });
    tick.filter(|(slot, tick)| tier.contains(*slot, tick.time()) && key == tick_key(*slot, *tick))
        .ok_or(Corrupt::new(SORT_KEY, "a slot of its tier and a tick in it"))
}

/// A tick that is wholly recorded, and where.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// The tick.
    pub tick: Tick,
    tier: &'static Tier,
    slot: UnixSeconds,
    rows: usize,
}

/// Every tick that is wholly recorded in some tier, oldest first. Rows that have expired at the moment `now` do not count:
/// DynamoDB takes its time to delete them, and does so in no order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded(table: &Table, now: UnixSeconds, deadline: Instant) -> Result<Vec<Recorded>, Error> {
    let mut ticks = BTreeMap::new();
    for tier in &TIERS {
        for recorded in complete_slots(table, tier, deadline).await? {
            if tier.expires(recorded.slot) > now {
                // The finer tier has fewer shards to ask for.
                ticks.entry(recorded.tick).or_insert(recorded);
            }
        }
    }
    Ok(ticks.into_values().collect())
}

/// The complete slots of a tier, in order.
async fn complete_slots(
    table: &Table,
    tier: &'static Tier,
    deadline: Instant,
) -> Result<Vec<Recorded>, Error> {
    let query = table
        .query()
        .key_condition_expression("pk = :partition")
        .expression_attribute_values(":partition", string(tier.markers()));
    let markers = table.rows(query, usize::MAX, deadline).await?;
    Ok(readable(&markers, &tier.markers(), |marker| complete_slot(tier, marker).map(Some)))
}

/// What the row says that says that a slot is complete.
fn complete_slot(tier: &'static Tier, marker: &Item) -> Result<Recorded, Corrupt> {
    let slot = text(marker, SORT_KEY)?.parse().map(UnixSeconds::new);
    let slot = slot.map_err(|_| Corrupt::new(SORT_KEY, "a moment in Unix seconds"))?;
    let tick = Tick::of(UnixSeconds::new(integer(marker, RECORDED_AT)?));
    if !tier.contains(slot, tick.time()) {
        return Err(Corrupt::new(RECORDED_AT, "a tick in its slot"));
    }
    let rows = usize::try_from(integer(marker, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a number of rows"))?;
    Ok(Recorded { tick, tier, slot, rows })
}

/// What there is to do for a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Slots are to be filled with it, as far as is known: [`due`] says which.
    Slots,
    /// Nothing: its slots are complete with it or with earlier ticks.
    Nothing,
    /// Nothing: all that it could fill would have expired.
    TooOld,
}

/// The slots that are known to be complete. Whoever brings many ticks need not ask the table about each of them: a slot
/// that is complete with a tick never comes to belong to a later one.
#[derive(Debug, Default)]
pub struct CompleteSlots(HashMap<(&'static str, UnixSeconds), Tick>);

impl CompleteSlots {
    /// Those that are complete now.
    ///
    /// # Errors
    /// If the table does not answer in time.
    pub async fn of(table: &Table, deadline: Instant) -> Result<Self, Error> {
        let mut ticks = HashMap::new();
        for tier in &TIERS {
            for Recorded { tick, tier, slot, .. } in complete_slots(table, tier, deadline).await? {
                ticks.insert((tier.name, slot), tick);
            }
        }
        Ok(Self(ticks))
    }

    /// What there is to do for the tick at the moment `now`.
    #[must_use]
    pub fn need(&self, tick: Tick, now: UnixSeconds) -> Need {
        let mut need = Need::TooOld;
        for tier in &TIERS {
            let slot = tier.slot(tick.time());
            if tier.expires(slot) > now {
                match self.0.get(&(tier.name, slot)) {
                    Some(complete) if *complete <= tick => need = Need::Nothing,
                    _ => return Need::Slots,
                }
            }
        }
        need
    }

    /// Takes note that the tick has filled all that was due.
    pub fn filled(&mut self, tick: Tick) {
        for tier in &TIERS {
            let owner = self.0.entry((tier.name, tier.slot(tick.time()))).or_insert(tick);
            *owner = tick.min(*owner);
        }
    }
}

/// What the products cost at a recorded tick, or `None` if rows of it are missing or make no sense.
///
/// # Errors
/// If the table does not answer in time.
pub async fn quotes(table: &Table, recorded: Recorded, deadline: Instant) -> Result<Option<Quotes>, Error> {
    let Recorded { tick, tier, slot, rows: wanted } = recorded;
    let keys = (0..tier.shards).map(|shard| item::key(tier.partition(shard), tick_key(slot, tick))).collect();
    // A row that is not seen yet would be missing for ever from what is made of this.
    let rows = table.get_all(keys, true, deadline).await?;
    let shards = readable(&rows, tier.name, |row| {
        let corrupt = || Corrupt::new(PRODUCTS, "a map of lists of two prices and two volumes");
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok()).ok_or_else(corrupt)?;
        let quotes = products.iter().map(|(id, quote)| Some((id.parse().ok()?, Quote::of_attribute(quote)?)));
        quotes.collect::<Option<Vec<(ItemId, Quote)>>>().ok_or_else(corrupt).map(Some)
    });
    Ok((shards.len() == wanted).then(|| shards.into_iter().flatten().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are where these numbers say. To change one is to lose what is recorded: give the tier another name with it, and
    /// let `cargo admin history` carry the rows over.
    #[test]
    fn rows_stay_where_they_are() {
        let layout = TIERS.each_ref().map(|tier| (tier.name, tier.shards));
        assert_eq!(layout, [("1m", 97), ("5m", 190), ("30m", 237), ("1h", 869), ("3h", 869)]);
        let id = "INK_SACK:3".parse().unwrap();
        let partitions = TIERS.each_ref().map(|tier| tier.partition(tier.shard(&id)));
        assert_eq!(
            partitions,
            ["bazaar#1m#085", "bazaar#5m#127", "bazaar#30m#030", "bazaar#1h#504", "bazaar#3h#504"]
        );
    }
}
