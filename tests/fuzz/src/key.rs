//! API keys, and the texts that are stored beside them.

use common::auth::{AccountName, ApiKey, KEY_PREFIX, KeyDigest, KeyId, Label, without_keys};

/// `gd_`, 32 random characters and six of the checksum.
const KEY_LENGTH: usize = 41;

/// Reads a text as a key, and as each text that an operator types. What is accepted stays as it was, and no log line shows a key.
pub(crate) fn key(text: &str) {
    let shown = without_keys(text);
    for (start, prefix) in text.match_indices(KEY_PREFIX) {
        let rest = text.get(start..).unwrap_or_default();
        let key = rest.get(..KEY_LENGTH).filter(|word| word.parse::<ApiKey>().is_ok());
        let random = key.and_then(|key| key.strip_prefix(prefix));
        // Without its prefix, a key is any other word.
        if let Some(random) = random.filter(|random| text.matches(random).count() == 1) {
            assert!(!shown.contains(random), "a key is shown: {shown}");
        }
    }
    if let Ok(key) = text.parse::<ApiKey>() {
        assert_eq!(key.expose(), text);
        assert!(text.ends_with(key.last_four()));
        assert!(!format!("{key:?}").contains(text));
    }
    let parsed = [
        text.parse::<AccountName>().map(|name| name.to_string()).ok(),
        text.parse::<KeyId>().map(|id| id.as_str().to_owned()).ok(),
        text.parse::<KeyDigest>().map(|digest| digest.to_string()).ok(),
        text.parse::<Label>().map(|label| label.to_string()).ok(),
    ];
    for parsed in parsed.into_iter().flatten() {
        assert_eq!(parsed, text);
    }
}
