//! The stored record of a key: its digest, and the data that people need to manage it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::account::AccountName;
use super::hexadecimal::hexadecimal;
use crate::time::UnixSeconds;

/// The SHA-256 of a key. Keys have too many bits to be guessed, so a fast hash without salt is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// Returns the digest of a key.
    pub(super) fn of(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    #[must_use]
    pub fn id(&self) -> KeyId {
        let mut id = self.to_string();
        id.truncate(KeyId::LENGTH);
        KeyId(id)
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
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
            if !is_lower_hexadecimal(pair) {
                return Err(InvalidKeyDigest);
            }
            let pair = std::str::from_utf8(pair).ok();
            *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(InvalidKeyDigest)?;
        }
        Ok(Self(digest))
    }
}

/// A text that is not a SHA-256 in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be 64 hexadecimal digits in lower case")]
pub struct InvalidKeyDigest;

fn is_lower_hexadecimal(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The id of a key, which is not secret: the first 24 hexadecimal digits of its digest (96 bits, so no two
/// keys share an id).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct KeyId(String);

impl KeyId {
    const LENGTH: usize = 24;

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

/// The purpose of a key in its owner's words: 1 to 64 letters (of any language), digits, blanks and ASCII
/// punctuation. A label begins with a letter or digit, so it cannot be mistaken for an option. It does not
/// end with a blank, and has no invisible characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Label(String);

impl Label {
    const LONGEST: usize = 64;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// The key is valid unless it has expired.
    Issued,
    /// The key was revoked, which is final.
    Revoked {
        /// When it was revoked.
        at: UnixSeconds,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    pub digest: KeyDigest,
    /// The account that owns the key.
    pub account: AccountName,
    /// The purpose of the key, in its owner's words.
    pub label: Label,
    /// When the key was issued.
    pub created_at: UnixSeconds,
    /// The last four characters of the key.
    pub last_four: String,
    /// The stored state. [`KeyRecord::state_at`] also considers the expiry.
    pub state: KeyState,
    /// When the key expires because another key replaces it; `None` if it is not replaced. An expired key
    /// counts as revoked.
    pub expires_at: Option<UnixSeconds>,
}

impl KeyRecord {
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.digest.id()
    }

    /// Returns the state at the time `now`. An issued key that has expired counts as revoked.
    #[must_use]
    pub fn state_at(&self, now: UnixSeconds) -> KeyState {
        match (self.state, self.expires_at) {
            (KeyState::Issued, Some(at)) if at <= now => KeyState::Revoked { at },
            (state, _) => state,
        }
    }
}

impl Serialize for KeyDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The state with its time: `issued`, `issued until TIME` or `revoked at TIME`.
impl fmt::Display for KeyRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.expires_at) {
            (KeyState::Issued, None) => formatter.write_str("issued"),
            (KeyState::Issued, Some(at)) => write!(formatter, "issued until {at}"),
            (KeyState::Revoked { at }, _) => write!(formatter, "revoked at {at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::ApiKey;

    fn api_key() -> ApiKey {
        ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap()
    }

    #[test]
    fn a_digest_displays_as_hexadecimal_and_parses_again() {
        let digest = api_key().digest();
        let text = digest.to_string();
        assert_eq!(text, "95f291419f81e24891fed21a80a0fd7257ff4b302889026618c65d4d2d2e11b1");
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(digest.id().as_str(), &text[..24]);
        assert_eq!(text[..24].parse(), Ok(digest.id()));
        for wrong in [&text[1..], &text.to_uppercase(), &format!("{}+f", &text[..62])] {
            assert!(wrong.parse::<KeyDigest>().is_err(), "{wrong}");
        }
        for wrong in [&text[..23], &text[..25], &"G".repeat(24), api_key().expose()] {
            assert!(wrong.parse::<KeyId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_label_is_readable_text() {
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
}
