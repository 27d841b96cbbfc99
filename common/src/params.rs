//! Parameters, parsed at the edge into types that exist only if they are legal. What a caller reads about a wrong one
//! says what was allowed and what came (`decisions.md`).

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much of a caller's own text an error repeats.
const LONGEST_ECHO: usize = 64;

/// A parameter's value that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What is allowed, to follow "must be".
    pub allowed: String,
}

impl Refused {
    /// A refusal that names what is allowed, to follow "must be".
    #[must_use]
    pub fn must_be(allowed: impl Into<String>) -> Self {
        Self { allowed: allowed.into() }
    }
}

impl From<Infallible> for Refused {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Somebody else's text as a message or a log line repeats it: shortened, control characters escaped.
#[derive(Debug, Clone, Copy)]
pub struct Echo<'a> {
    text: &'a str,
    longest: usize,
}

impl<'a> Echo<'a> {
    /// At most 64 characters of `text`.
    #[must_use]
    pub const fn of(text: &'a str) -> Self {
        Self { text, longest: LONGEST_ECHO }
    }

    /// At most `longest` characters of `text`.
    #[must_use]
    pub const fn up_to(longest: usize, text: &'a str) -> Self {
        Self { text, longest }
    }
}

impl fmt::Display for Echo<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.text.chars().take(self.longest) {
            if character.is_control() {
                write!(formatter, "{}", character.escape_default())?;
            } else {
                fmt::Write::write_char(formatter, character)?;
            }
        }
        if self.text.chars().nth(self.longest).is_some() { formatter.write_str("…") } else { Ok(()) }
    }
}

/// The whole number in `text`: digits and nothing else. `None` where it is not one or above `u32::MAX`.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// How many entries an answer may have: a whole number from `MIN` to `MAX`, `DEFAULT` if the caller says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit<const MIN: u32, const MAX: u32, const DEFAULT: u32>(u32);

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Limit<MIN, MAX, DEFAULT> {
    /// The number of entries.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> From<Limit<MIN, MAX, DEFAULT>> for usize {
    fn from(limit: Limit<MIN, MAX, DEFAULT>) -> Self {
        limit.get()
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Default for Limit<MIN, MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> FromStr for Limit<MIN, MAX, DEFAULT> {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        digits(text)
            .filter(|number| (MIN..=MAX).contains(number))
            .map(Self)
            .ok_or_else(|| Refused::must_be(format!("a whole number from {MIN} to {MAX}")))
    }
}

/// A page, counted from 0; 0 if the caller says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Page(u32);

impl Page {
    /// The number of the page.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Page {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        digits(text)
            .map(Self)
            .ok_or_else(|| Refused::must_be(format!("a whole number from 0 to {}", u32::MAX)))
    }
}

/// A player's name as the caller wrote it: 1 to 16 letters, digits and underscores (`interface.md`, part 4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Username(String);

impl Username {
    /// The name as the caller wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same for every spelling of the name: names differ in more than case.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl FromStr for Username {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let legal = (1..=16).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        legal
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| Refused::must_be("1 to 16 letters (a-z, A-Z), digits and underscores"))
    }
}

/// The id of a bazaar product, such as `INK_SACK:3`: 1 to 64 capital letters, digits, `_`, `:` and `-` (`decisions.md`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ItemId(Box<str>);

impl ItemId {
    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ItemId {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let is_legal =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_:-".contains(&byte);
        let legal = (1..=64).contains(&text.len()) && text.bytes().all(is_legal);
        legal
            .then(|| Self(text.into()))
            .ok_or_else(|| Refused::must_be("1 to 64 capital letters (A-Z), digits and the characters _ : -"))
    }
}

impl TryFrom<String> for ItemId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|Refused { allowed }| format!("an item id must be {allowed}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Flips = Limit<1, 100, 20>;

    proptest! {
        #[test]
        fn a_limit_is_what_was_written_or_refused(number in any::<i64>()) {
            let parsed = number.to_string().parse::<Flips>().map(Limit::get);
            match usize::try_from(number) {
                Ok(number @ 1..=100) => prop_assert_eq!(parsed, Ok(number)),
                _ => prop_assert!(parsed.is_err()),
            }
        }

        #[test]
        fn no_text_at_all_makes_an_illegal_limit(text in any::<String>()) {
            if let Ok(limit) = text.parse::<Flips>() {
                prop_assert!((1..=100).contains(&limit.get()));
                prop_assert_eq!(text.trim_start_matches('0'), limit.get().to_string());
            }
        }

        #[test]
        fn a_page_is_what_was_written_or_refused(number in any::<u64>()) {
            let parsed = number.to_string().parse::<Page>().map(Page::get);
            prop_assert_eq!(parsed.ok(), u32::try_from(number).ok());
        }

        #[test]
        fn no_text_with_anything_but_digits_makes_a_page(text in ".*[^0-9].*") {
            prop_assert!(text.parse::<Page>().is_err());
        }

        #[test]
        fn every_legal_name_is_taken_as_it_is(name in "[A-Za-z0-9_]{1,16}") {
            let username = name.parse::<Username>().unwrap();
            prop_assert_eq!(username.as_str(), &name);
            prop_assert_eq!(username.folded(), name.to_lowercase());
        }

        #[test]
        fn no_illegal_name_is_taken(name in any::<String>()) {
            let legal = name.chars().all(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_'))
                && (1..=16).contains(&name.chars().count());
            prop_assert_eq!(name.parse::<Username>().is_ok(), legal);
        }

        #[test]
        fn every_legal_id_is_taken_as_it_is(id in "[A-Z0-9_:-]{1,64}") {
            let parsed = id.parse::<ItemId>().unwrap();
            prop_assert_eq!(parsed.as_str(), &id);
        }

        #[test]
        fn no_illegal_id_is_taken(id in any::<String>()) {
            let legal = id.chars().all(|c| matches!(c, 'A'..='Z' | '0'..='9' | '_' | ':' | '-'))
                && (1..=64).contains(&id.chars().count());
            prop_assert_eq!(id.parse::<ItemId>().is_ok(), legal);
        }

        #[test]
        fn an_echo_is_short_and_has_no_control_characters(text in any::<String>()) {
            let echo = Echo::of(&text).to_string();
            prop_assert!(!echo.chars().any(char::is_control));
            prop_assert!(echo.chars().count() <= LONGEST_ECHO * 8 + 1);
        }
    }

    #[test]
    fn signs_spaces_and_other_digits_are_no_numbers() {
        for text in ["", "+5", "-0", " 5", "5 ", "5.0", "0x5", "٥", "5e0", "99999999999999999999"] {
            assert!(text.parse::<Flips>().is_err(), "{text:?}");
            assert!(text.parse::<Page>().is_err(), "{text:?}");
        }
    }
}
