//! `account usage`.

use accounts::command::Command;
use common::auth::AccountName;
use gateway::{DayUsage, Usage};

use crate::access::Accounts;
use crate::error::Error;
use crate::output::{Format, table, write};

pub(super) async fn run(accounts: &Accounts, name: AccountName, format: Format) -> Result<(), Error> {
    let (usage, _) = accounts.call::<Usage>(Command::Usage { account: name }).await?;
    write(format, || text(&usage), &usage)
}

fn text(usage: &Usage) -> String {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let lines = [
        ["tier".to_owned(), usage.tier.to_string()],
        ["paid until".to_owned(), usage.paid_until.to_string()],
        ["quota".to_owned(), or_none(usage.quota.map(|quota| quota.to_string()))],
        ["remaining".to_owned(), or_none(usage.remaining.map(|remaining| remaining.to_string()))],
        ["resets at".to_owned(), or_none(usage.resets_at.map(|at| at.to_string()))],
        ["used".to_owned(), usage.used.to_string()],
    ];
    let day = |day: &DayUsage| [day.day.clone(), day.requests.to_string()];
    let days = table(Some(["DAY", "REQUESTS"]), usage.days.iter().map(day));
    format!("{}\n\n{days}", table(None, lines))
}
