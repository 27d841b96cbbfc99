//! The names of all items that have a price in either market. `record-candles` writes them once an hour as
//! one compressed row: `pk` is `names`, `sk` is `all`, and `content` is the data of `GET /v1/names`.

mod build;
mod list;
mod rules;

pub use self::build::build;
pub use self::list::{Kind, Market, Name, Names};
pub use self::rules::{names_of, plain};
use crate::auctions::packed::{CONTENT, content, pack};
use crate::error::Error;
use crate::item::{self, Attributes, binary};
use crate::session::Session;

const NAMES: &str = "names";
const ALL: &str = "all";

/// Stores the names in place of older ones.
///
/// # Errors
/// If the row is not written before the deadline.
pub async fn store(table: Session<'_>, names: &Names) -> Result<(), Error> {
    let compressed = pack(names).map_err(Error::unwritable)?;
    let put = table.put_item().set_item(Some(item::key(NAMES, ALL))).item(CONTENT, binary(&compressed));
    table.write("PutItem", put.send()).await.map(drop)
}

/// Returns the stored names; `None` before they are first stored. Requires only the permission
/// `dynamodb:Query`.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt. The next names replace a corrupt row.
pub async fn stored(table: Session<'_>) -> Result<Option<Names>, Error> {
    let rows = table.rows(table.query_between(NAMES, ALL, ALL), 1).await?;
    let read = |row: &Attributes| content(row, "the names of items");
    rows.first().map(read).transpose().map_err(|corrupt| Error::Corrupt {
        table: table.table_name().to_owned(),
        key: NAMES.to_owned(),
        cause: corrupt.to_string(),
    })
}
