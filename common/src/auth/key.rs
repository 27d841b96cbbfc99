//! API keys. A key is `gd_`, 32 random characters of base62 (190 bits), and a checksum of six characters,
//! which reveals typos without a request to the table. The table stores only the SHA-256 of a key, so reading
//! the table does not reveal keys.

use std::fmt;
use std::str::FromStr;

use super::record::KeyDigest;

/// The prefix of every key. Scanners for leaked secrets search for it.
pub const KEY_PREFIX: &str = "gd_";
pub(super) const RANDOM_CHARACTERS: usize = 32;
/// The number of characters of the checksum: 62⁶ exceeds the number of CRC-32 values.
const CHECKSUM_CHARACTERS: usize = 6;
const LENGTH: usize = KEY_PREFIX.len() + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
const ALPHABET: [u8; 62] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An API key. `Debug` does not print the key. [`ApiKey::expose`] returns it, so that it can be shown to its
/// owner once.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a text cannot be an API key, whatever the table contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedKey {
    #[error("it is not an API key: a key is gd_ followed by 38 letters and digits")]
    Shape,
    /// The text has the shape of a key, but a character is wrong.
    #[error("its checksum is wrong, so it has a typo")]
    Checksum,
}

impl ApiKey {
    /// Generates a key from the random bytes that `fill` writes. The bytes must come from a cryptographically
    /// secure source.
    pub fn generate<E>(mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut random = String::with_capacity(RANDOM_CHARACTERS);
        while random.len() < RANDOM_CHARACTERS {
            let mut bytes = [0; RANDOM_CHARACTERS];
            fill(&mut bytes)?;
            // Uses 248 of the 256 byte values, four for each character, and skips bytes with the other eight
            // values: they would make some characters more likely.
            let characters = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte >> 2)));
            random.extend(characters.take(RANDOM_CHARACTERS - random.len()).map(|&byte| char::from(byte)));
        }
        Ok(Self::with_checksum(&random))
    }

    /// Returns the key with these random characters; `None` if they are not 32 characters of base62. For keys
    /// that are not secret, such as the local cloud's.
    #[must_use]
    pub fn of_random_part(random: &str) -> Option<Self> {
        (random.len() == RANDOM_CHARACTERS && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .then(|| Self::with_checksum(random))
    }

    fn with_checksum(random: &str) -> Self {
        let mut key = format!("{KEY_PREFIX}{random}");
        key.push_str(&checksum(&key));
        Self(key)
    }

    /// Returns the key itself, to be shown to its owner once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the last four characters, which help people to tell keys apart. They belong to the checksum,
    /// so the random part stays secret.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(LENGTH - 4..).unwrap_or_default()
    }

    /// Returns the digest, which the table stores.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        KeyDigest::of(&self.0)
    }
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    /// Parses a key. Blanks around the key are an error, because the value of a header has none.
    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        if text.len() != LENGTH {
            return Err(MalformedKey::Shape);
        }
        let random = text.strip_prefix(KEY_PREFIX).and_then(|rest| rest.get(..RANDOM_CHARACTERS));
        let key = random.and_then(Self::of_random_part).ok_or(MalformedKey::Shape)?;
        if !text.bytes().skip(KEY_PREFIX.len()).all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(MalformedKey::Shape);
        }
        if key.0 == text { Ok(key) } else { Err(MalformedKey::Checksum) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

/// Returns the text with `gd_…` in place of everything that may be a key.
#[must_use]
pub fn without_keys(text: &str) -> String {
    let mut rest = text;
    let mut cleaned = String::new();
    while let Some((before, after)) = rest.split_once(KEY_PREFIX) {
        cleaned.push_str(before);
        cleaned.push_str(KEY_PREFIX);
        let word = after.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(after.len());
        // The word can end with the `gd` of the next `gd_`.
        let end = after.find(KEY_PREFIX).map_or(word, |next| next.min(word));
        if end > 0 {
            cleaned.push('…');
        }
        rest = after.get(end..).unwrap_or_default();
    }
    cleaned.push_str(rest);
    cleaned
}

/// Returns the CRC-32 of the text in base62, the most significant digit first.
fn checksum(text: &str) -> String {
    const BASE: u32 = 62;
    let mut left = crc32fast::hash(text.as_bytes());
    let mut digits = [0_u8; CHECKSUM_CHARACTERS];
    for digit in digits.iter_mut().rev() {
        *digit =
            usize::try_from(left % BASE).ok().and_then(|index| ALPHABET.get(index)).copied().unwrap_or(b'0');
        left /= BASE;
    }
    digits.map(char::from).iter().collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn key() -> ApiKey {
        ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap()
    }

    /// The expected checksum was computed with Python's `zlib.crc32`.
    #[test]
    fn a_key_is_a_prefix_a_random_part_and_a_checksum() {
        assert_eq!(key().expose(), "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni");
        assert_eq!(key().last_four(), "X4ni");
    }

    #[test]
    fn every_character_is_equally_likely() {
        let mut source = fastrand::Rng::with_seed(1);
        let mut seen = std::collections::BTreeMap::<char, u32>::new();
        for _ in 0..1_000 {
            let key = ApiKey::generate(|bytes| {
                source.fill(bytes);
                Ok::<_, Infallible>(())
            });
            let key = key.unwrap();
            assert_eq!(key.expose().parse(), Ok(key.clone()));
            for character in key.expose()[3..35].chars() {
                *seen.entry(character).or_default() += 1;
            }
        }
        assert_eq!(seen.len(), 62);
        // The average count is 516. A character with five byte values instead of four would appear about 625
        // times.
        assert!(seen.values().all(|count| (400..640).contains(count)), "{seen:?}");
    }

    #[test]
    fn a_failing_source_of_randomness_gives_no_key() {
        assert_eq!(ApiKey::generate(|_| Err("empty")), Err("empty"));
    }

    #[test]
    fn a_text_of_another_shape_is_malformed() {
        let whole = key().expose().to_owned();
        for text in [
            "",
            "gd_",
            &whole[1..],
            &whole[..40],
            &format!("{whole}0"),
            &format!(" {whole}"),
            &format!("{whole}\n"),
            &whole.replace("gd_", "GD_"),
            &whole.replace("gd_", "gd-"),
            &whole.replace('J', " "),
            &whole.replace('J', "\n"),
            &whole.replace("HIJ", "Hü"),
            &format!("{}-", &whole[..40]),
            &"x".repeat(10_240),
        ] {
            assert_eq!(text.parse::<ApiKey>(), Err(MalformedKey::Shape), "{text}");
        }
    }

    #[test]
    fn a_key_in_another_case_has_a_wrong_checksum() {
        let whole = key().expose().to_owned();
        let random = &whole[3..];
        for other in [random.to_uppercase(), random.to_lowercase()] {
            assert_eq!(format!("gd_{other}").parse::<ApiKey>(), Err(MalformedKey::Checksum));
        }
    }

    #[test]
    fn debug_output_does_not_contain_the_key() {
        assert_eq!(format!("{:?}", key()), "ApiKey(…)");
    }

    #[test]
    fn keys_are_removed_from_a_text() {
        assert_eq!(without_keys("a 'gd_0aZ' b gd_1\ngd_ c"), "a 'gd_…' b gd_…\ngd_ c");
        assert_eq!(without_keys("none"), "none");
        for (text, cleaned) in [("gd_gd_0aZ x", "gd_gd_… x"), ("gd_xgd_0aZ", "gd_…gd_…"), ("gd_gd", "gd_…")]
        {
            assert_eq!(without_keys(text), cleaned);
        }
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_found(random in "[0-9A-Za-z]{32}", place in 3_usize..41, other in "[0-9A-Za-z]") {
            let key = ApiKey::of_random_part(&random).unwrap();
            prop_assert_eq!(key.expose().parse(), Ok(key.clone()));
            let mut changed = key.expose().to_owned();
            changed.replace_range(place..=place, &other);
            prop_assume!(changed != key.expose());
            prop_assert_eq!(changed.parse::<ApiKey>(), Err(MalformedKey::Checksum));
        }
    }
}
