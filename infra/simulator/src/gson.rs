//! JSON as the provider writes it, with Gson on Java: compact, with HTML-safe escapes, and doubles as Java
//! prints them. Tests that use only `serde_json`'s format would miss these differences.

use std::fmt::Write;

/// Writes a JSON text. Callers write keys and values in order; commas are added.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    needs_comma: bool,
}

impl Writer {
    /// An empty text with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), needs_comma: false }
    }

    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// The number of bytes written so far.
    #[must_use]
    pub fn written(&self) -> usize {
        self.text.len()
    }

    /// An object; `fill` writes its keys and values.
    pub fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.nested('{', '}', fill);
    }

    /// An array; `fill` writes its elements.
    pub fn array(&mut self, fill: impl FnOnce(&mut Self)) {
        self.nested('[', ']', fill);
    }

    pub fn strings<T: AsRef<str>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.array(|list| {
            for value in values {
                list.string(value.as_ref());
            }
        });
    }

    /// A key; the next call writes its value.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.string(key);
        self.text.push(':');
        self.needs_comma = false;
        self
    }

    /// A string with Gson's HTML-safe escapes.
    pub fn string(&mut self, value: &str) {
        self.separate();
        self.text.push('"');
        let mut plain_from = 0;
        for (position, character) in value.char_indices() {
            let escape = match character {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                '\r' => "\\r",
                '\t' => "\\t",
                '\u{8}' => "\\b",
                '\u{c}' => "\\f",
                '=' => "\\u003d",
                '\'' => "\\u0027",
                '<' => "\\u003c",
                '>' => "\\u003e",
                '&' => "\\u0026",
                '\u{2028}' => "\\u2028",
                '\u{2029}' => "\\u2029",
                '\0'..='\u{1f}' => "",
                _ => continue,
            };
            self.text.push_str(value.get(plain_from..position).unwrap_or_default());
            if escape.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(self.text, "\\u{:04x}", u32::from(character));
            } else {
                self.text.push_str(escape);
            }
            plain_from = position + character.len_utf8();
        }
        self.text.push_str(value.get(plain_from..).unwrap_or_default());
        self.text.push('"');
    }

    pub fn integer(&mut self, value: i64) {
        self.separate();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{value}");
    }

    /// A double as Java's `Double.toString` formats it: `2.0`, `6.0E7`, `2.887645678129047E-11`.
    pub fn double(&mut self, value: f64) {
        self.separate();
        let size = value.abs();
        // Writing to a String cannot fail.
        if size == 0.0 || (1e-3..1e7).contains(&size) {
            let _ = write!(self.text, "{value:?}");
            return;
        }
        let scientific = format!("{value:e}");
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        let _ = write!(self.text, "{digits}{point}E{exponent}");
    }

    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.text.push_str(if value { "true" } else { "false" });
    }

    pub fn null(&mut self) {
        self.separate();
        self.text.push_str("null");
    }

    fn nested(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push(open);
        self.needs_comma = false;
        fill(self);
        self.text.push(close);
        self.needs_comma = true;
    }

    fn separate(&mut self) {
        if self.needs_comma {
            self.text.push(',');
        }
        self.needs_comma = true;
    }
}

/// An object as text; `fill` writes its keys and values.
pub fn object(capacity: usize, fill: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::with_capacity(capacity);
    writer.object(fill);
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut writer = Writer::default();
        writer.double(value);
        writer.finish()
    }

    #[test]
    fn doubles_are_formatted_as_in_java() {
        assert_eq!(double(2.0), "2.0");
        assert_eq!(double(0.0), "0.0");
        assert_eq!(double(17.8), "17.8");
        assert_eq!(double(-620.0), "-620.0");
        assert_eq!(double(0.001), "0.001");
        assert_eq!(double(0.00099), "9.9E-4");
        assert_eq!(double(9_999_999.9), "9999999.9");
        assert_eq!(double(1e7), "1.0E7");
        assert_eq!(double(6e7), "6.0E7");
        assert_eq!(double(111_111_111.0), "1.11111111E8");
        assert_eq!(double(2.887_645_678_129_047e-11), "2.887645678129047E-11");
        assert_eq!(double(29_171_511.096_551_728), "2.9171511096551728E7");
    }

    #[test]
    fn strings_have_html_safe_escapes_and_plain_glyphs() {
        let mut writer = Writer::default();
        writer.string("a='b' <&> \"\\\n\u{1}\u{e053}§a");
        assert_eq!(
            writer.finish(),
            "\"a\\u003d\\u0027b\\u0027 \\u003c\\u0026\\u003e \\\"\\\\\\n\\u0001\u{e053}§a\""
        );
    }
}
