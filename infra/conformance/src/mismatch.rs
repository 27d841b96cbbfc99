//! The difference between an expected and a received value.

use std::fmt;

/// The longest excerpt, in characters.
const EXCERPT_LENGTH: usize = 160;

/// Why something does not conform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub expected: String,
    pub received: String,
}

impl Mismatch {
    #[must_use]
    pub fn new(expected: impl Into<String>, received: impl Into<String>) -> Self {
        Self { expected: expected.into(), received: received.into() }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "expected {}, received {}", self.expected, self.received)
    }
}

impl std::error::Error for Mismatch {}

/// The beginning of `text` on one line, without control characters.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut characters = text.chars();
    let mut line: String = characters
        .by_ref()
        .take(EXCERPT_LENGTH)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(excerpt(&"ü".repeat(1_000)).chars().count(), EXCERPT_LENGTH + 1);
    }
}
