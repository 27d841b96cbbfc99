//! The texts of an hour: one row per hour with data of all items.

use std::collections::BTreeMap;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use serde::Serialize;

use super::packed::{CONTENT, Ids, pack};
use crate::error::Error;
use crate::item::{self, Corrupt, TIME_TO_LIVE, binary, number};
use crate::series::keys::{Slot, slot_key};
use crate::session::Session;

pub(super) const DAY: Duration = Duration::from_hours(24);

/// The name of the expected `content` in error messages.
pub(super) const HOUR_TEXT: &str = "the text of the row's hour";

/// How long the texts are kept. Averages need the texts of the last week, back to the beginning of its first
/// day.
const KEPT: Duration = Duration::from_hours(9 * 24);

/// Writes a text unless the stored text has a higher rank. `rank`: the name and the value of the attribute
/// that ranks texts.
pub(super) async fn put<T: Serialize>(
    table: Session<'_>,
    partition: &str,
    hour: Slot,
    text: &T,
    rank: (&str, i64),
) -> Result<(), Error> {
    let compressed = pack(text).map_err(Error::unwritable)?;
    let (attribute, rank) = rank;
    let put = table
        .put_item()
        .set_item(Some(item::key(partition, slot_key(hour.start))))
        .item(CONTENT, binary(&compressed))
        .item(attribute, number(rank))
        .item(TIME_TO_LIVE, number(hour.end().plus(KEPT).get()))
        .condition_expression("NOT (#rank > :rank)")
        .expression_attribute_names("#rank", attribute)
        .expression_attribute_values(":rank", number(rank));
    table.write("PutItem", put.send()).await.map(drop)
}

/// Pairs each id with its value. Fails unless there are as many values as ids.
pub(super) fn by_id<T>(
    ids: &Ids,
    values: impl Iterator<Item = T>,
) -> Result<BTreeMap<AuctionItemId, T>, Corrupt> {
    let known = ids.ids().ok_or(Corrupt::new(CONTENT, "a list of ids"))?;
    let number = known.len();
    let by_id: BTreeMap<_, _> = known.into_iter().zip(values).collect();
    if by_id.len() == number { Ok(by_id) } else { Err(Corrupt::new(CONTENT, "a value per id")) }
}
