//! The parameter `mode`.

use std::str::FromStr;

use common::params::Refused;

/// What a request wants to know of the bazaar (`interface.md`, part 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// All products with raw data.
    #[default]
    Full,
    /// The ids of the active products.
    List,
    /// One product with its spread.
    Item,
    /// The products with the best spreads.
    Flips,
}

impl Mode {
    /// The modes and their words, the default first.
    pub(crate) const ALL: [(&'static str, Self); 4] =
        [("full", Self::Full), ("list", Self::List), ("item", Self::Item), ("flips", Self::Flips)];
}

impl FromStr for Mode {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let mode = Self::ALL.into_iter().find(|(name, _)| *name == text);
        let allowed = || Self::ALL.map(|(name, _)| name).join(", ");
        mode.map(|(_, mode)| mode).ok_or_else(|| Refused::must_be(format!("one of {}", allowed())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_the_four_words_are_modes(text in any::<String>()) {
            prop_assert_eq!(text.parse::<Mode>().is_ok(), ["full", "list", "item", "flips"].contains(&&*text));
        }
    }

    #[test]
    fn a_mode_is_written_in_lower_case_and_in_full() {
        assert_eq!("flips".parse(), Ok(Mode::Flips));
        for text in ["", "FULL", "Full", " full", "full ", "fullflips", "history"] {
            assert!(text.parse::<Mode>().is_err(), "{text:?}");
        }
    }
}
