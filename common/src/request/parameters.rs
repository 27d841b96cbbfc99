//! Parameters, parsed into types that can hold only allowed values.
//!
//! Each type states its allowed values once ([`Value::ALLOWED`]). Error messages, the descriptions in `GET /`
//! and the OpenAPI schemas derive from this statement.

use std::fmt;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Deserialize, Serialize};

use crate::time::UnixMilliseconds;

/// The values that a parameter may have. Their `Display` text follows "must be" in an error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// A whole number, written in digits only.
    WholeNumber {
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
        /// The value of an absent parameter.
        default: u64,
    },
    /// One of a few words, in exactly this spelling.
    OneOf {
        words: &'static [&'static str],
        /// The value of an absent parameter.
        default: &'static str,
    },
    /// 1 to `longest` characters of a set.
    Characters {
        /// The largest number of characters.
        longest: usize,
        /// The set in words.
        set: &'static str,
        /// The set as a regular expression.
        class: &'static str,
    },
    /// 1 to `most` entries, separated by commas, each of 1 to `longest` characters.
    List {
        /// The largest number of entries, repeated ones included.
        most: usize,
        /// The largest number of characters of an entry.
        longest: usize,
        /// The name of the entries, in the plural.
        entries: &'static str,
        /// Whether an entry may have blanks. If not, a blank in an entry comes from a `+` that was not
        /// percent-encoded.
        blanks: bool,
    },
    /// `true` or `false`. An absent parameter is neither.
    Flag,
    /// A text of a certain form.
    Pattern {
        /// The form as a regular expression.
        pattern: &'static str,
        /// The form in words.
        words: &'static str,
    },
    /// Any text that is not empty.
    AnyText,
    /// A date and time of RFC 3339.
    Time {
        /// The meaning of an absent parameter, in words; `None` if the parameter is required.
        default: Option<&'static str>,
    },
}

impl Allowed {
    /// The JSON Schema of these values.
    #[must_use]
    pub fn schema(&self) -> Schema {
        match self {
            Self::WholeNumber { min, max, default } => {
                json_schema!({"type": "integer", "minimum": min, "maximum": max, "default": default})
            }
            Self::OneOf { words, default } => {
                json_schema!({"type": "string", "enum": words, "default": default})
            }
            Self::Characters { longest, class, .. } => {
                json_schema!({"type": "string", "pattern": format!("^{class}{{1,{longest}}}$")})
            }
            Self::List { most, longest, blanks, .. } => {
                let class = if *blanks { "[^,]" } else { "[^, ]" };
                let entry = format!("{class}{{1,{longest}}}");
                let others = most.saturating_sub(1);
                json_schema!({"type": "string", "pattern": format!("^{entry}(,{entry}){{0,{others}}}$")})
            }
            Self::Flag => json_schema!({"type": "boolean"}),
            Self::Pattern { pattern, .. } => json_schema!({"type": "string", "pattern": pattern}),
            Self::AnyText => json_schema!({"type": "string", "minLength": 1}),
            Self::Time { .. } => json_schema!({"type": "string", "format": "date-time"}),
        }
    }

    /// Describes the flaw in the list `text`; `None` if the list has no flaw. Also returns `None` for other
    /// kinds of values, because their flaw shows in the excerpt that an error message repeats.
    #[must_use]
    pub fn flaw(&self, text: &str) -> Option<String> {
        let Self::List { most, longest, blanks, .. } = self else { return None };
        let mut count = 0;
        let mut first = None;
        // Uses one pass over the text, because a request that is answered from the cache spends most of its
        // time here.
        for entry in text.split(',') {
            count += 1;
            let has_blank = !blanks && entry.as_bytes().contains(&b' ');
            let may_be_flawed = entry.is_empty() || entry.len() > *longest || has_blank;
            if may_be_flawed && first.is_none() {
                first = match entry.chars().count() {
                    0 => Some(format!("entry {count} is empty")),
                    length if length > *longest => Some(format!("entry {count} has {length} characters")),
                    _ if has_blank => Some(format!("entry {count} has a blank, and a + must be sent as %2B")),
                    _ => None,
                };
            }
        }
        if count > *most { Some(format!("it has {count} entries")) } else { first }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WholeNumber { min, max, .. } => write!(formatter, "a whole number from {min} to {max}"),
            Self::OneOf { words, .. } => write!(formatter, "one of {}", words.join(", ")),
            Self::Characters { longest, set, .. } => write!(formatter, "1 to {longest} {set}"),
            Self::List { most, longest, entries, .. } => {
                write!(formatter, "1 to {most} {entries} of 1 to {longest} characters, separated by commas")
            }
            Self::Flag => formatter.write_str("true or false"),
            Self::Pattern { words, .. } => formatter.write_str(words),
            Self::AnyText => formatter.write_str("a text of at least one character"),
            Self::Time { .. } => formatter.write_str("a time of RFC 3339 such as 2026-11-21T15:00:00Z"),
        }
    }
}

pub trait Value: FromStr<Err = InvalidValue> {
    /// The values that a parameter of this type may have.
    const ALLOWED: Allowed;
}

/// A value that a parameter does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be {allowed}")]
pub struct InvalidValue {
    pub allowed: Allowed,
}

impl InvalidValue {
    /// Returns the error of a text that is not a `T`.
    #[must_use]
    pub const fn of<T: Value>() -> Self {
        Self { allowed: T::ALLOWED }
    }
}

/// Returns the whole number in `text`; `None` if `text` has anything but digits, or the number exceeds
/// `u64::MAX`.
pub(crate) fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A page number, counted from 0; 0 if absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PageNumber(u32);

impl PageNumber {
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Value for PageNumber {
    const ALLOWED: Allowed = Allowed::WholeNumber { min: 0, max: u32::MAX as u64, default: 0 };
}

impl FromStr for PageNumber {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let number = digits(text).and_then(|number| number.try_into().ok());
        number.map(Self).ok_or(InvalidValue::of::<Self>())
    }
}

/// A player's name in the spelling of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Username(String);

impl Username {
    const LONGEST: usize = 16;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in lower case: two names that differ only in case belong to the same player.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl Value for Username {
    const ALLOWED: Allowed = Allowed::Characters {
        longest: Self::LONGEST,
        set: "letters (a-z, A-Z), digits and underscores",
        class: "[A-Za-z0-9_]",
    };
}

impl FromStr for Username {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let is_legal = (1..=Self::LONGEST).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_legal.then(|| Self(text.to_owned())).ok_or(InvalidValue::of::<Self>())
    }
}

/// The id of a bazaar product, such as `INK_SACK:3`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ItemId(Box<str>);

impl ItemId {
    const LONGEST: usize = 64;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ItemId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Value for ItemId {
    const ALLOWED: Allowed = Allowed::Characters {
        longest: Self::LONGEST,
        set: "capital letters (A-Z), digits and the characters _ : -",
        class: "[A-Z0-9_:-]",
    };
}

impl FromStr for ItemId {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let is_legal_byte =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_:-".contains(&byte);
        let is_legal = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_legal_byte);
        is_legal.then(|| Self(text.into())).ok_or(InvalidValue::of::<Self>())
    }
}

impl TryFrom<String> for ItemId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|InvalidValue { allowed }| format!("an item id must be {allowed}"))
    }
}

/// The end of a period; now if absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Before(Option<UnixMilliseconds>);

impl Before {
    /// The time; `None` for now.
    #[must_use]
    pub const fn get(self) -> Option<UnixMilliseconds> {
        self.0
    }
}

impl Value for Before {
    const ALLOWED: Allowed = Allowed::Time { default: Some("now") };
}

impl FromStr for Before {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        time(text).map(|time| Self(Some(time))).ok_or(InvalidValue::of::<Self>())
    }
}

/// The start of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since(UnixMilliseconds);

impl Since {
    #[must_use]
    pub const fn get(self) -> UnixMilliseconds {
        self.0
    }
}

impl Value for Since {
    const ALLOWED: Allowed = Allowed::Time { default: None };
}

impl FromStr for Since {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        time(text).map(Self).ok_or(InvalidValue::of::<Self>())
    }
}

/// Returns the time in a text of RFC 3339.
fn time(text: &str) -> Option<UnixMilliseconds> {
    // The gateway turns a `+` in a query into a space, unless it is percent-encoded.
    UnixMilliseconds::nearest_to_rfc3339(&text.replace(' ', "+"))
}

/// The start of an interval, and the caller's spelling of the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedAt {
    time: UnixMilliseconds,
    text: String,
}

impl OpenedAt {
    #[must_use]
    pub const fn time(&self) -> UnixMilliseconds {
        self.time
    }

    /// The time in the spelling of the caller.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Value for OpenedAt {
    const ALLOWED: Allowed = Allowed::Time { default: None };
}

impl FromStr for OpenedAt {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let time = time(text).ok_or(InvalidValue::of::<Self>())?;
        Ok(Self { time, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    /// Texts that match the pattern in the schema of `T`.
    fn matching<T: Value>() -> impl Strategy<Value = String> {
        let schema = T::ALLOWED.schema();
        let pattern = schema.get("pattern").and_then(|pattern| pattern.as_str()).unwrap();
        string_regex(pattern.trim_start_matches('^').trim_end_matches('$')).unwrap()
    }

    proptest! {
        #[test]
        fn every_name_that_matches_the_schema_is_accepted(name in matching::<Username>()) {
            let username = name.parse::<Username>().unwrap();
            prop_assert_eq!(username.as_str(), &name);
            prop_assert_eq!(username.folded(), name.to_lowercase());
        }

        #[test]
        fn every_id_that_matches_the_schema_is_accepted(id in matching::<ItemId>()) {
            let parsed = id.parse::<ItemId>().unwrap();
            prop_assert_eq!(parsed.as_str(), &id);
        }
    }

    #[test]
    fn a_time_is_rfc_3339_in_any_spelling_of_it() {
        let milliseconds =
            |text: &str| text.parse::<Before>().ok().and_then(Before::get).map(UnixMilliseconds::get);
        for text in [
            "2026-04-28T15:03:20Z",
            "2026-04-28t15:03:20z",
            "2026-04-28T15:03:20.000Z",
            "2026-04-28T17:03:20+02:00",
            "2026-04-28T17:03:20 02:00",
            "2026-04-28T13:33:20-01:30",
            "2026-04-28T15:03:20-00:00",
        ] {
            assert_eq!(milliseconds(text), Some(1_777_388_600_000), "{text}");
        }
        for fraction in ["123", "123456789", "1239", "12345678999999999999999"] {
            for offset in ["Z", "+00:00"] {
                let text = format!("2026-04-28T15:03:20.{fraction}{offset}");
                assert_eq!(milliseconds(&text), Some(1_777_388_600_123), "{text}");
            }
        }
        // All years of the format are accepted.
        for text in ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "1969-12-31T23:59:59.9Z"] {
            assert!(milliseconds(text).unwrap() < 0, "{text}");
        }
        for text in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59"] {
            assert!(milliseconds(text).unwrap() > 253_000_000_000_000, "{text}");
        }
        // A leap second counts as the second before it.
        assert_eq!(milliseconds("2016-12-31T23:59:60Z"), Some(1_483_228_799_000));
        for text in [
            "",
            "now",
            "1777388600",
            "2026-04-28",
            "2026-04-28T15:03Z",
            "2026-04-28T15:03:20",
            "2026-04-28 15:03:20Z",
            "2026-04-28T15:03:20.Z",
            "2026-04-28T15:03:20+0200",
            "2026-04-28T15:03:20+24:00",
            "2026-04-28T15:03:20Z[UTC]",
            "2026-02-29T15:03:20Z",
            "2026-04-28T24:00:00Z",
            "20260428T150320Z",
            "+002026-04-28T15:03:20Z",
            " 2026-04-28T15:03:20Z",
            "2026-04-28T15:03:20Z ",
            "２026-04-28T15:03:20Z",
        ] {
            assert!(text.parse::<Before>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_not(text in ".{0,40}") {
            let _ = text.parse::<Before>();
        }
    }

    #[test]
    fn an_absent_parameter_has_the_default_of_its_schema() {
        assert_eq!(PageNumber::ALLOWED.schema().get("default").unwrap(), PageNumber::default().get());
    }
}
