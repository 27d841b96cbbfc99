//! The content of a minute: gzip of a text and the ids of the sold auctions.
//!
//! | lines | example |
//! |---|---|
//! | the numbers of items and of sales | `6500 108` |
//! | per item its id, without what it shares with the one before. A character says how much that is: `0` for nothing, `1` for one, and so on | `0ENDER_DRAGON;3`, `=4` |
//! | per item the lowest price, by how much the second lowest is higher, and the number of listings. Prices are in hundredths of a coin | `12500000 100 7`, `990000000  1` |
//! | per sale its age when the list was refreshed, in milliseconds, the price of the stack, the count, `b` for a buy-it-now auction or `a`, and the ids of the item | `41020 500000 51 b ICE_RUNE;1` |
//!
//! Behind the last line, there are 16 bytes per sale. Lines of one kind in a row compress to three quarters of lines with everything.

use std::fmt::Write as _;
use std::str::{FromStr, Split};

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;
use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::minute::{Coins, Minute, Price, Prices, Sale, Sales};

/// The most bytes of a content that is read: ten times those of a usual minute.
const LARGEST: usize = 4 * 1024 * 1024;

/// The character for an id that shares nothing with the one before.
const NOTHING_SHARED: u8 = b'0';

const ID: usize = 16;

/// Returns the compressed content.
pub(super) fn compress(minute: &Minute) -> Vec<u8> {
    let content = content(minute);
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut compressed = vec![0; compressor.gzip_compress_bound(content.len())];
    // The buffer has the size that the library asks for.
    let length = compressor.gzip_compress(&content, &mut compressed).unwrap_or_default();
    compressed.truncate(length);
    compressed
}

fn content(minute: &Minute) -> Vec<u8> {
    let sales = minute.sales.as_ref().map_or(&[][..], |sales| &sales.list);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "{} {}", minute.prices.len(), sales.len());
    let mut before = "";
    for (id, _) in &minute.prices {
        let shared = id.as_str().bytes().zip(before.bytes()).take_while(|(one, other)| one == other).count();
        text.push(char::from(NOTHING_SHARED.saturating_add(u8::try_from(shared).unwrap_or_default())));
        text.push_str(id.as_str().get(shared..).unwrap_or_default());
        text.push('\n');
        before = id.as_str();
    }
    for (_, Price { lowest, second, listings }) in &minute.prices {
        let above = second.map(|second| second.hundredths().saturating_sub(lowest.hundredths()).to_string());
        let _ = writeln!(text, "{} {} {listings}", lowest.hundredths(), above.unwrap_or_default());
    }
    let until = minute.sales.as_ref().map_or(0, |sales| sales.until.get());
    for Sale { items, count, price, time, bin, .. } in sales {
        let ids: Vec<_> = items.iter().map(AuctionItemId::as_str).collect();
        let (age, bin, ids) = (until - time.get(), if *bin { 'b' } else { 'a' }, ids.join(","));
        let _ = writeln!(text, "{age} {price} {count} {bin} {ids}");
    }
    let mut content = text.into_bytes();
    content.extend(sales.iter().flat_map(|sale| sale.auction.bytes()));
    content
}

/// Reads the compressed content of a minute whose list of sales was refreshed at `sales_until`. `None` if it is corrupt.
pub(super) fn read(
    compressed: &[u8],
    sales_until: Option<UnixMilliseconds>,
) -> Option<(Prices, Option<Sales>)> {
    let length = u32::from_le_bytes(*compressed.last_chunk()?) as usize;
    let mut content = vec![0; Some(length).filter(|length| *length <= LARGEST)?];
    Decompressor::new().gzip_decompress(compressed, &mut content).ok()?;
    let header = content.split(|byte| *byte == b'\n').next()?;
    let (items, sales) = str::from_utf8(header).ok()?.split_once(' ')?;
    let (items, sales): (usize, usize) = (items.parse().ok()?, sales.parse().ok()?);
    let (text, auctions) = content.split_at_checked(length.checked_sub(sales.checked_mul(ID)?)?)?;
    let mut lines = str::from_utf8(text).ok()?.split('\n');
    lines.next()?;
    let ids = read_ids(&mut lines, items)?;
    let prices = ids.into_iter().map(|id| Some((id, read_price(lines.next()?)?))).collect::<Option<_>>()?;
    let Some(until) = sales_until else { return Some((prices, None)) };
    let (auctions, _) = auctions.as_chunks::<ID>();
    let sale = |auction: &[u8; ID]| read_sale(lines.next()?, until, AuctionId::of_bytes(*auction));
    let list = auctions.iter().map(sale).collect::<Option<_>>()?;
    Some((prices, Some(Sales { until, list })))
}

fn read_ids(lines: &mut Split<'_, char>, count: usize) -> Option<Vec<AuctionItemId>> {
    let mut ids = Vec::<AuctionItemId>::new();
    for _ in 0..count {
        let line = lines.next()?;
        let shared = line.bytes().next()?.checked_sub(NOTHING_SHARED)?;
        let before = ids.last().map_or("", AuctionItemId::as_str).get(..usize::from(shared))?;
        let id = AuctionItemId::from_str(&format!("{before}{}", line.get(1..)?)).ok()?;
        ids.push(id);
    }
    Some(ids)
}

fn read_price(line: &str) -> Option<Price> {
    let [lowest, above, listings] = fields(line)?;
    let lowest: u64 = lowest.parse().ok()?;
    let second = |above: &str| Some(Coins::of_hundredths(lowest.checked_add(above.parse().ok()?)?));
    let second = if above.is_empty() { None } else { Some(second(above)?) };
    Some(Price { lowest: Coins::of_hundredths(lowest), second, listings: listings.parse().ok()? })
}

fn read_sale(line: &str, until: UnixMilliseconds, auction: AuctionId) -> Option<Sale> {
    let [age, price, count, bin, ids] = fields(line)?;
    Some(Sale {
        auction,
        items: ids.split(',').map(str::parse).collect::<Result<_, _>>().ok()?,
        count: count.parse().ok()?,
        price: price.parse().ok()?,
        time: UnixMilliseconds::new(until.get().checked_sub(age.parse().ok()?)?),
        bin: bin == "b",
    })
}

/// Returns the fields of a line, which are separated by single blanks.
fn fields<const COUNT: usize>(line: &str) -> Option<[&str; COUNT]> {
    line.split(' ').collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const UNTIL: i64 = 1_777_388_563_162;

    fn id() -> impl Strategy<Value = AuctionItemId> {
        "[A-Z0-9_;+-]{1,64}".prop_map(|id| id.parse().unwrap())
    }

    fn minute() -> impl Strategy<Value = Minute> {
        let coins = || (0..1_u64 << 50).prop_map(Coins::of_hundredths);
        let price =
            (coins(), prop::option::of(coins()), 1..9_000_u32).prop_map(|(lowest, second, listings)| Price {
                lowest,
                second: second.map(|second| second.max(lowest)),
                listings,
            });
        let sale = (
            (any::<[u8; ID]>(), prop::collection::vec(id(), 1..3), 1..=u32::MAX),
            (0..=1_u64 << 40, -9_000..90_000_i64, any::<bool>()),
        );
        let sale = sale.prop_map(|((auction, items, count), (price, age, bin))| {
            let (count, time) = (count.try_into().unwrap(), UnixMilliseconds::new(UNTIL - age));
            Sale { auction: AuctionId::of_bytes(auction), items, count, price, time, bin }
        });
        let prices = prop::collection::btree_map(id(), price, 0..9);
        let sales = prop::option::of(prop::collection::vec(sale, 0..4));
        (prices, sales).prop_map(|(prices, list): (BTreeMap<_, _>, _)| Minute {
            last_updated: UnixMilliseconds::new(0),
            prices: prices.into_iter().collect(),
            lowest: Vec::new(),
            sales: list.map(|list| Sales { until: UnixMilliseconds::new(UNTIL), list }),
        })
    }

    proptest! {
        #[test]
        fn every_minute_comes_back(minute in minute(), position in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let until = minute.sales.as_ref().map(|sales| sales.until);
            let mut compressed = compress(&minute);
            prop_assert_eq!(read(&compressed, until), Some((minute.prices, minute.sales)));
            let _ = read(&compressed[..position.index(compressed.len())], until);
            let position = position.index(compressed.len());
            compressed[position] = byte;
            let _ = read(&compressed, until);
        }

        #[test]
        fn any_text_is_a_content_or_corrupt(text in "[0-9]{1,2} [0-9]\n([0-9A-Z ab,]{0,9}\n){0,9}") {
            let mut compressor = Compressor::new(CompressionLvl::fastest());
            let mut compressed = vec![0; compressor.gzip_compress_bound(text.len())];
            let length = compressor.gzip_compress(text.as_bytes(), &mut compressed).unwrap();
            let _ = read(&compressed[..length], Some(UnixMilliseconds::new(UNTIL)));
        }
    }
}
