//! API keys. A key is `gd_`, 32 characters of base62 that nobody can guess (190 bits), and a checksum of six, so that a
//! typo is refused without asking anybody. What is kept of a key is its SHA-256: who reads the table cannot ask with it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::account::AccountName;
use crate::time::UnixSeconds;

/// What every key begins with, so that scanners for leaked secrets find it.
pub const KEY_PREFIX: &str = "gd_";
/// How many characters of a key are random.
const RANDOM_CHARACTERS: usize = 32;
/// How many say whether the others are right: 62⁶ is more than a CRC-32 has values.
const CHECKSUM_CHARACTERS: usize = 6;
const LENGTH: usize = KEY_PREFIX.len() + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
const ALPHABET: [u8; 62] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An API key: whoever has it may ask. It never prints; [`ApiKey::expose`] is for the one moment in which it is issued.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a text is no API key. Nobody has been asked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedKey {
    /// It is not built like a key.
    #[error("it is no API key: a key is gd_ and 38 letters and digits")]
    Shape,
    /// It is built like a key, but a character is wrong.
    #[error("its checksum is wrong: it has a typo, or was not copied whole")]
    Checksum,
}

impl ApiKey {
    /// A new key, of random bytes that `fill` brings. They must come from a source that nobody can predict.
    ///
    /// # Errors
    /// What `fill` failed with.
    pub fn generate<E>(mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut random = String::with_capacity(RANDOM_CHARACTERS);
        while random.len() < RANDOM_CHARACTERS {
            let mut bytes = [0; RANDOM_CHARACTERS];
            fill(&mut bytes)?;
            // Four times 62 bytes count and the eight others do not, or some characters would be likelier.
            let characters = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte >> 2)));
            random.extend(characters.take(RANDOM_CHARACTERS - random.len()).map(|&byte| char::from(byte)));
        }
        Ok(Self::with_checksum(&random))
    }

    /// The key whose random characters are these, for keys that are no secret; `None` where they are not 32 of base62.
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

    /// The key itself, to be shown once to whom it belongs.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What people tell keys apart by. They are of the checksum, so they say nothing about the random part.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(LENGTH - 4..).unwrap_or_default()
    }

    /// What is kept of the key.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(&self.0).into())
    }
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    /// The key in `text`, which has no blanks around it: a header's value has none.
    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let random = text.strip_prefix(KEY_PREFIX).filter(|_| text.len() == LENGTH);
        let random = random.and_then(|rest| rest.get(..RANDOM_CHARACTERS));
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

/// The text with `gd_…` in place of whatever might be a key.
#[must_use]
pub fn without_keys(text: &str) -> String {
    let mut rest = text;
    let mut cleaned = String::new();
    while let Some((before, after)) = rest.split_once(KEY_PREFIX) {
        cleaned.push_str(before);
        cleaned.push_str(KEY_PREFIX);
        rest = after.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
        if rest.len() < after.len() {
            cleaned.push('…');
        }
    }
    cleaned.push_str(rest);
    cleaned
}

/// The CRC-32 of the text in base62, the most significant digit first.
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

/// The SHA-256 of a key. The keys are too many to be guessed, so a plain hash is enough, and fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// The name of the key that has this digest.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let mut id = self.to_string();
        id.truncate(KeyId::LENGTH);
        KeyId(id)
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl FromStr for KeyDigest {
    type Err = InvalidKeyDigest;

    fn from_str(text: &str) -> Result<Self, InvalidKeyDigest> {
        let mut digest = [0; 32];
        if text.len() != 64 {
            return Err(InvalidKeyDigest);
        }
        for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok().filter(|_| is_lower_hexadecimal(pair));
            *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(InvalidKeyDigest)?;
        }
        Ok(Self(digest))
    }
}

/// A text that is no SHA-256 in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be 64 hexadecimal digits in lower case")]
pub struct InvalidKeyDigest;

fn is_lower_hexadecimal(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of a key, which is no secret: the first 24 hexadecimal digits of its digest (96 bits, so no two keys share
/// one). It is the usage identifier, too: what API Gateway knows the key as, which wants 20 to 128 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct KeyId(String);

impl KeyId {
    const LENGTH: usize = 24;

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A text that is no key's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a KEY-ID is 24 hexadecimal digits in lower case; `key list` shows them")]
pub struct InvalidKeyId;

impl FromStr for KeyId {
    type Err = InvalidKeyId;

    fn from_str(text: &str) -> Result<Self, InvalidKeyId> {
        let is_id = text.len() == Self::LENGTH && is_lower_hexadecimal(text.as_bytes());
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidKeyId) }
    }
}

/// What a key is for, in its owner's words: 1 to 64 letters (of any language), digits, blanks and ASCII punctuation, the
/// first one a letter or digit. So it cannot be taken for an option, and shows as what it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Label(String);

impl Label {
    const LONGEST: usize = 64;

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A text that is no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a label has 1 to 64 letters, digits, blanks and ASCII punctuation, and begins with a letter or digit"
)]
pub struct InvalidLabel;

impl FromStr for Label {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Self, InvalidLabel> {
        let is_legal = |character: char| {
            character.is_alphanumeric() || character == ' ' || character.is_ascii_punctuation()
        };
        let is_label = text.starts_with(char::is_alphanumeric)
            && !text.ends_with(' ')
            && text.chars().count() <= Self::LONGEST
            && text.chars().all(is_legal);
        if is_label { Ok(Self(text.to_owned())) } else { Err(InvalidLabel) }
    }
}

/// What has become of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Issuing it has begun and not ended: nobody has seen the key yet, and API Gateway may not know it.
    Pending,
    /// It counts.
    Issued,
    /// It does not count any more, and never will again.
    Revoked {
        /// Since when.
        at: UnixSeconds,
    },
}

/// What is kept of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The SHA-256.
    pub digest: KeyDigest,
    /// Whose it is.
    pub account: AccountName,
    /// What it is for.
    pub label: Label,
    /// When it was issued.
    pub created_at: UnixSeconds,
    /// Its last four characters, for people.
    pub last_four: String,
    /// What has become of it.
    pub state: KeyState,
}

impl KeyRecord {
    /// The key's name, which is its usage identifier.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.digest.id()
    }
}

impl Serialize for KeyState {
    /// As a word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Pending => "pending",
            Self::Issued => "issued",
            Self::Revoked { .. } => "revoked",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn key() -> ApiKey {
        ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap()
    }

    /// The checksum by hand: `zlib.crc32` of Python, in base62.
    #[test]
    fn a_key_is_a_prefix_a_random_part_and_a_checksum() {
        assert_eq!(key().expose(), "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni");
        assert_eq!(key().last_four(), "X4ni");
    }

    #[test]
    fn every_character_comes_up_equally_often() {
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
        // 516 on average; if eight characters came from two values more, they would come up 1,000 times.
        assert!(seen.values().all(|count| (400..640).contains(count)), "{seen:?}");
    }

    #[test]
    fn a_source_of_randomness_that_fails_makes_no_key() {
        assert_eq!(ApiKey::generate(|_| Err("empty")), Err("empty"));
    }

    #[test]
    fn what_is_built_otherwise_is_no_key() {
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
    fn a_key_does_not_print() {
        assert_eq!(format!("{:?}", key()), "ApiKey(…)");
    }

    #[test]
    fn keys_are_taken_out_of_a_text() {
        assert_eq!(without_keys("a 'gd_0aZ' b gd_1\ngd_ c"), "a 'gd_…' b gd_…\ngd_ c");
        assert_eq!(without_keys("none"), "none");
    }

    #[test]
    fn a_digest_names_its_key_and_is_read_back() {
        let digest = key().digest();
        let text = digest.to_string();
        assert_eq!(text, "95f291419f81e24891fed21a80a0fd7257ff4b302889026618c65d4d2d2e11b1");
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(digest.id().as_str(), &text[..24]);
        assert_eq!(text[..24].parse(), Ok(digest.id()));
        for wrong in [&text[1..], &text.to_uppercase(), &format!("{}+f", &text[..62])] {
            assert!(wrong.parse::<KeyDigest>().is_err(), "{wrong}");
        }
        for wrong in [&text[..23], &text[..25], &"G".repeat(24), key().expose()] {
            assert!(wrong.parse::<KeyId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_label_is_something_to_read() {
        for label in ["ci", "Bot of Zoë, 2nd", &"x".repeat(64)] {
            assert_eq!(label.parse::<Label>().unwrap().as_str(), label);
        }
        for label in [
            "",
            " ",
            " ci",
            "ci ",
            "ci\n",
            "a\u{1b}[31m",
            "-x",
            "a\u{202e}b",
            "a\u{200b}",
            "a\u{2028}b",
            &"x".repeat(65),
        ] {
            assert!(label.parse::<Label>().is_err(), "{label:?}");
        }
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_noticed(random in "[0-9A-Za-z]{32}", place in 3_usize..41, other in "[0-9A-Za-z]") {
            let key = ApiKey::of_random_part(&random).unwrap();
            prop_assert_eq!(key.expose().parse(), Ok(key.clone()));
            let mut changed = key.expose().to_owned();
            changed.replace_range(place..=place, &other);
            prop_assume!(changed != key.expose());
            prop_assert_eq!(changed.parse::<ApiKey>(), Err(MalformedKey::Checksum));
        }

        #[test]
        fn no_text_is_taken_for_a_key_that_it_is_not(text in ".*") {
            prop_assert!(text.parse::<ApiKey>().is_err());
        }
    }
}
