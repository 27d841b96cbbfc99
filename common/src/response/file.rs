//! Files for browsers: pages, scripts, styles and icons. They are part of a function's binary.

use serde_json::value::RawValue;

/// A file that a function embeds.
#[derive(Debug)]
pub struct File {
    pub name: &'static str,
    pub content_type: &'static str,
    pub cache_control: &'static str,
    pub content_security_policy: &'static str,
    /// The content as a JSON string, as in a proxy response. Escaping megabytes for every request would take
    /// longer than the rest of the request.
    pub json: &'static str,
    /// How many bytes the content has, unescaped.
    pub bytes: usize,
}

impl File {
    /// Returns the file with this value in place of the placeholder `name`. The content lasts as long as the
    /// process.
    #[must_use]
    pub fn with_value(&self, name: &str, value: &str) -> Self {
        // The placeholder is in the text or an attribute of HTML, or in Markdown, and the content is in a
        // JSON string.
        let escaped = |character| match character {
            '&' => "&amp;".to_owned(),
            '<' | '"' | '\\' | '\0'..=' ' => format!("&#{};", u32::from(character)),
            other => String::from(other),
        };
        let json = self.json.replace(name, &value.chars().map(escaped).collect::<String>());
        let bytes = self.bytes + json.len() - self.json.len();
        Self { json: json.leak(), bytes, ..*self }
    }

    /// Returns the content as a JSON string.
    pub(crate) fn json(&self) -> Result<&'static RawValue, serde_json::Error> {
        serde_json::from_str(self.json)
    }
}
