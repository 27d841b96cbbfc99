//! The rows of accounts and keys in an exported file. An import removes nothing: an existing account stays
//! unchanged, and an existing key only changes from issued to revoked.

use std::time::Duration;

use accounts::command::Command;
use accounts::{AccountRow, ExportedRows, Imported, Row};
use common::time::UnixSeconds;
use tokio::time::{Instant, sleep_until};

use super::line;
use crate::access::Accounts;
use crate::console;
use crate::error::Error;
use crate::row_file::line::BadLine;
use crate::row_file::writer::Writer;
use crate::row_file::{Kind, Tally};

/// API Gateway allows ten changes per second in an AWS account, and an account takes up to three.
pub(super) const PER_ACCOUNT: Duration = Duration::from_millis(334);

/// The state of an export or import.
pub(super) struct AccessRows<'a> {
    access: &'a Accounts,
    pub(super) accounts: Tally,
    pub(super) keys: Tally,
    /// When the next account may be imported.
    next: Instant,
    /// How many accounts were exported.
    pub(super) exported: u64,
}

impl<'a> AccessRows<'a> {
    pub(super) fn of(access: &'a Accounts) -> Self {
        Self { access, accounts: Tally::default(), keys: Tally::default(), next: Instant::now(), exported: 0 }
    }
}

impl Kind for AccessRows<'_> {
    type Record = Row;

    fn parse(line: &str, now: UnixSeconds) -> Result<Row, BadLine> {
        line::parse(line, now)
    }

    async fn store(&mut self, row: Row) -> Result<Option<String>, Error> {
        let tally = match &row {
            Row::Account(_) => {
                sleep_until(self.next).await;
                self.next = Instant::now() + PER_ACCOUNT;
                &mut self.accounts
            }
            Row::Key(_) => &mut self.keys,
        };
        let (imported, _) = self.access.call(Command::ImportRow { row }).await?;
        if let Imported::Different { reason } = imported {
            tally.left_out += 1;
            return Ok(Some(reason));
        }
        tally.count(1, imported == Imported::Imported);
        Ok(None)
    }

    fn summary(&self) -> String {
        let [accounts, keys] = [&self.accounts, &self.keys].map(|tally| tally.text("different"));
        format!("accounts: {accounts}; keys: {keys}; ")
    }

    /// Exports accounts by name, then keys by account and age. Reports and skips corrupt rows.
    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let Pages { mut rows, corrupt } = pages(self.access).await?;
        for reason in corrupt {
            console::print(format_args!("skipped: {reason}"));
            writer.skip(1);
        }
        rows.sort_by_cached_key(|row| match row {
            Row::Account(AccountRow { account, .. }) => (false, account.clone(), 0, None),
            Row::Key(key) => (true, key.account.clone(), key.created_at.get(), Some(key.sha256.id())),
        });
        for row in rows {
            self.exported += u64::from(matches!(row, Row::Account(_)));
            writer.write(Some(row)).await?;
        }
        Ok(())
    }
}

/// All accounts and keys.
pub(super) struct Pages {
    pub(super) rows: Vec<Row>,
    pub(super) corrupt: Vec<String>,
}

/// Reads all pages of accounts and keys.
pub(super) async fn pages(access: &Accounts) -> Result<Pages, Error> {
    let mut pages = Pages { rows: Vec::new(), corrupt: Vec::new() };
    let mut after = None;
    loop {
        let (page, _) = access.call::<ExportedRows>(Command::ExportRows { after }).await?;
        pages.rows.extend(page.rows);
        pages.corrupt.extend(page.corrupt);
        after = page.next;
        if after.is_none() {
            return Ok(pages);
        }
    }
}
