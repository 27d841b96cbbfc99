//! Rows of the provider's lists. An invalid row is left out and counted, so that the valid rows can still be
//! served.
//!
//! A list is first parsed as a whole. It is parsed row by row only if that fails, because each row is then
//! read twice.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use foldhash::fast::RandomState;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::UpstreamError;
use super::response::UpstreamResponse;
use crate::excerpt::Excerpt;
use crate::json::Object;

/// The maximum number of ids of skipped rows in a log line.
const NAMED: usize = 5;

/// A list with at least this many rows is long.
const LONG: usize = 10;

/// A set of keys. The hash function is faster than the standard library's, because every response of the
/// provider takes thousands of hashes.
pub(super) type KeySet<K> = HashSet<K, RandomState>;

pub trait Row {
    /// The field whose value names a row in the log.
    const NAME: &'static str;

    /// The type of the key that identifies a row. If several rows have the same key, the first one counts.
    type Key: Eq + Hash;

    fn key(&self) -> Self::Key;

    /// Returns the name of the row in the log.
    fn name(&self) -> String;

    /// Checks the values of the row. Parsing has already checked their types.
    fn check(&self) -> Result<(), &'static str>;
}

#[derive(Debug)]
pub struct Rows<T> {
    /// The valid rows, in the provider's order.
    pub usable: Vec<T>,
    pub skipped: Skipped,
}

/// The invalid rows of a list.
#[derive(Debug, Default)]
pub struct Skipped {
    /// The names of the rows, or `#` and the position in the list, counted from 0, for a row without a name.
    pub names: Vec<String>,
    /// The defect of the first of these rows.
    pub reason: Option<String>,
}

impl Skipped {
    pub fn add(&mut self, name: impl Into<String>, reason: impl fmt::Display) {
        self.names.push(name.into());
        if self.reason.is_none() {
            self.reason = Some(reason.to_string());
        }
    }

    /// Adds the invalid rows in `others`.
    pub(super) fn extend(&mut self, others: Self) {
        self.names.extend(others.names);
        self.reason = self.reason.take().or(others.reason);
    }

    /// Writes a warning about the rows of `response`, if there are any.
    pub(super) fn warn(&self, response: &UpstreamResponse, message: &str) {
        let Some(reason) = &self.reason else { return };
        let skipped = self.names.len();
        let ids = self.first_names_as(|name| response.masked(name));
        let reason = response.excerpt(reason);
        tracing::warn!(path = response.path, skipped, ids, reason, "{message}");
    }

    /// Returns the names of the first five rows, for the log.
    #[must_use]
    pub fn first_names(&self) -> String {
        self.first_names_as(str::to_owned)
    }

    /// Returns the names of the first five rows, each changed by `masked`.
    fn first_names_as(&self, masked: impl Fn(&str) -> String) -> String {
        let names = self.names.iter().take(NAMED).map(|name| Excerpt::of(&masked(name)).to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}

impl<T> Rows<T> {
    /// Returns the usable rows of `response`, and writes a warning about the invalid rows.
    ///
    /// # Errors
    /// If more than half of the rows are invalid.
    pub fn into_usable(self, response: &UpstreamResponse) -> Result<Vec<T>, UpstreamError> {
        let are_plausible = self.are_plausible();
        self.usable_if(are_plausible, response)
    }

    /// Like [`Rows::into_usable`], but for few and independent rows, such as the profiles of a player: one
    /// usable row of a short list is enough. Rows such as profiles can stay invalid for years, and must not
    /// hide the valid rows for as long.
    ///
    /// # Errors
    /// If all rows of a short list, or more than half of the rows of a long one, are invalid.
    pub fn into_any_usable(self, response: &UpstreamResponse) -> Result<Vec<T>, UpstreamError> {
        let is_short = self.usable.len() + self.skipped.names.len() < LONG;
        let are_plausible = self.are_plausible() || (is_short && !self.usable.is_empty());
        self.usable_if(are_plausible, response)
    }

    fn usable_if(self, are_plausible: bool, response: &UpstreamResponse) -> Result<Vec<T>, UpstreamError> {
        if !are_plausible && let Some(cause) = self.nonsense(response) {
            return Err(response.invalid(cause));
        }
        self.skipped.warn(response, "rows are left out");
        Ok(self.usable)
    }

    /// Describes the invalid rows, for the log; `None` if all rows are valid.
    pub(super) fn nonsense(&self, response: &UpstreamResponse) -> Option<String> {
        let reason = self.skipped.reason.as_ref()?;
        let (count, ids) =
            (self.skipped.names.len(), self.skipped.first_names_as(|name| response.masked(name)));
        let total = count + self.usable.len();
        Some(format!("{count} of {total} rows are invalid, such as {ids}: {reason}"))
    }

    /// Whether at least half of the rows are valid. If more than half are invalid, the list as a whole is
    /// probably wrong.
    pub(super) fn are_plausible(&self) -> bool {
        self.skipped.names.len() <= self.usable.len()
    }
}

impl<T: Row> From<Vec<Object<T>>> for Rows<T> {
    fn from(rows: Vec<Object<T>>) -> Self {
        Self::of(rows.into_iter().map(|Object(row)| row).collect())
    }
}

impl<T: Row> Rows<T> {
    fn of(rows: Vec<T>) -> Self {
        let mut skipped = Skipped::default();
        let mut keys = KeySet::with_capacity_and_hasher(rows.len(), RandomState::default());
        let mut usable = rows;
        usable.retain(|row| {
            let sense = row.check().and_then(|()| {
                if keys.insert(row.key()) { Ok(()) } else { Err("another row has the same key") }
            });
            sense.map_err(|reason| skipped.add(row.name(), reason)).is_ok()
        });
        Self { usable, skipped }
    }
}

/// A row of a list that is parsed row by row.
#[derive(Debug)]
pub enum Entry<'a, T> {
    Parsed(T),
    /// The text of a row that cannot be parsed, and the reason.
    Unparsed(&'a RawValue, String),
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Entry<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&'de RawValue>::deserialize(deserializer)?;
        Ok(match serde_json::from_str(text.get()) {
            Ok(Object(row)) => Self::Parsed(row),
            Err(error) => Self::Unparsed(text, error.to_string()),
        })
    }
}

impl<T: Row> From<Vec<Entry<'_, T>>> for Rows<T> {
    fn from(entries: Vec<Entry<'_, T>>) -> Self {
        let mut parsed = Vec::with_capacity(entries.len());
        let mut skipped = Skipped::default();
        for (position, entry) in entries.into_iter().enumerate() {
            match entry {
                Entry::Parsed(row) => parsed.push(row),
                Entry::Unparsed(text, reason) => {
                    skipped.add(name_in(text, T::NAME).unwrap_or_else(|| format!("#{position}")), reason);
                }
            }
        }
        let Self { usable, skipped: others } = Self::of(parsed);
        skipped.extend(others);
        Self { usable, skipped }
    }
}

/// Checks the start and the end of a period.
///
/// # Errors
/// If the times are not in Unix milliseconds of the years 2001 to 2286, or in the wrong order.
pub(super) fn check_period(start: i64, end: i64) -> Result<(), &'static str> {
    const THIRTEEN_DIGITS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;
    if !THIRTEEN_DIGITS.contains(&start) || !THIRTEEN_DIGITS.contains(&end) {
        return Err("start or end is not in Unix milliseconds");
    }
    if end < start { Err("end is before start") } else { Ok(()) }
}

/// Returns the text in the field `name` of a row that could not be parsed.
fn name_in(row: &RawValue, name: &str) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(row.get()).ok()?;
    serde_json::from_str(fields.get(name)?.get()).ok()
}
