//! The parts of a request and its response that the log must not repeat.

use lambda_http::http::header::HeaderValue;

use crate::excerpt::Excerpt;

/// How many characters of a body are searched for secrets. Even if these characters are nothing but secrets,
/// the masked text is longer than an excerpt.
const SEARCHED: usize = 8_192;

/// The key of a request, and the player whom the request is about. An upstream can repeat both in its
/// response.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets {
    key: Option<HeaderValue>,
    /// The player's name, or the id with and without dashes.
    player: Vec<String>,
}

impl Secrets {
    /// The secrets of a request with this key, about the player with this name or this id without dashes.
    pub(super) fn new(key: Option<HeaderValue>, player: Option<&str>) -> Self {
        let dashed = player.and_then(with_dashes);
        Self { key, player: player.map(str::to_owned).into_iter().chain(dashed).collect() }
    }

    /// Returns the text without the secrets. The case of letters in names and ids does not matter.
    pub(super) fn masked(&self, text: &str) -> String {
        let text = match self.key.as_ref().and_then(|key| key.to_str().ok()) {
            Some(key) => text.replace(key, "[key]"),
            None => text.to_owned(),
        };
        self.player.iter().fold(text, |text, player| without(&text, player))
    }

    /// Returns the beginning of a body for the log, without the secrets.
    pub(super) fn beginning_of(&self, body: &str) -> String {
        let beginning: String = body.chars().take(SEARCHED).collect();
        Excerpt::of(&self.masked(&beginning)).to_string()
    }
}

/// Returns the id with dashes, as in some fields of the provider; `None` if it is not an id of 32 digits.
fn with_dashes(id: &str) -> Option<String> {
    let part = |range| id.get(range);
    let id_with_dashes = [part(0..8)?, part(8..12)?, part(12..16)?, part(16..20)?, part(20..32)?].join("-");
    (id.len() == 32).then_some(id_with_dashes)
}

/// Returns the text with `[player]` in place of the word, whatever its case. Changing ASCII letters to lower
/// case keeps the positions of all characters.
fn without(text: &str, word: &str) -> String {
    let (folded, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut masked = String::with_capacity(text.len());
    let mut rest = 0;
    for (position, _) in folded.match_indices(&word) {
        masked.push_str(text.get(rest..position).unwrap_or_default());
        masked.push_str("[player]");
        rest = position + word.len();
    }
    masked + text.get(rest..).unwrap_or_default()
}
