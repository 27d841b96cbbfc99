//! Foreign text in messages and log lines: its first characters, with control characters escaped.

use std::fmt;

/// The usual number of characters of an excerpt.
const USUAL_LENGTH: usize = 64;

/// The beginning of a text from a caller, a provider or a file, safe to repeat in a message or a log line.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a> {
    text: &'a str,
    length: usize,
}

impl<'a> Excerpt<'a> {
    /// The first 64 characters of `text`.
    #[must_use]
    pub const fn of(text: &'a str) -> Self {
        Self { text, length: USUAL_LENGTH }
    }

    /// The first `length` characters of `text`.
    #[must_use]
    pub const fn up_to(length: usize, text: &'a str) -> Self {
        Self { text, length }
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.text.chars().take(self.length) {
            if character.is_control() {
                write!(formatter, "{}", character.escape_default())?;
            } else {
                fmt::Write::write_char(formatter, character)?;
            }
        }
        if self.text.chars().nth(self.length).is_some() { formatter.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_has_no_control_characters(text in any::<String>()) {
            let excerpt = Excerpt::of(&text).to_string();
            prop_assert!(!excerpt.chars().any(char::is_control));
            // The longest escape of a control character has six characters: \u{9f}.
            prop_assert!(excerpt.chars().count() <= USUAL_LENGTH * 6 + 1);
        }
    }

    #[test]
    fn an_excerpt_shows_that_it_is_cut() {
        assert_eq!(Excerpt::up_to(3, "abc").to_string(), "abc");
        assert_eq!(Excerpt::up_to(3, "ab\nd").to_string(), "ab\\n…");
    }
}
