//! JSON text that passes through as the provider wrote it. Taking a value apart to write it again costs time and can
//! change its spelling; these types check what kind of value it is and leave the rest alone.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The text of a JSON value that begins with the byte `FIRST`, borrowed from the document that it stands in.
#[derive(Debug, Clone, Copy)]
pub struct Verbatim<'a, const FIRST: u8>(&'a RawValue);

/// The text of a JSON string, with its quotes and escapes.
pub type StringText<'a> = Verbatim<'a, b'"'>;

/// The text of a JSON object.
pub type ObjectText<'a> = Verbatim<'a, b'{'>;

impl<'a, const FIRST: u8> Verbatim<'a, FIRST> {
    /// The text.
    #[must_use]
    pub fn get(self) -> &'a str {
        self.0.get()
    }

    /// Where in `document` the text stands; `document` is the one that it was read from.
    #[must_use]
    pub fn range_in(self, document: &str) -> std::ops::Range<usize> {
        let start = self.get().as_ptr().addr().saturating_sub(document.as_ptr().addr());
        start..start + self.get().len()
    }
}

impl<'de: 'a, 'a, const FIRST: u8> Deserialize<'de> for Verbatim<'a, FIRST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?;
        if value.get().as_bytes().first() == Some(&FIRST) {
            Ok(Self(value))
        } else {
            Err(D::Error::custom(format_args!("expected a value that begins with {:?}", char::from(FIRST))))
        }
    }
}

impl<const FIRST: u8> Serialize for Verbatim<'_, FIRST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_keeps_its_escapes() {
        let text: StringText = serde_json::from_str(r#""Shen\u0027s \u00a7aAuction""#).unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""Shen\u0027s \u00a7aAuction""#);
    }

    #[test]
    fn another_kind_of_value_is_refused() {
        assert!(serde_json::from_str::<StringText>("7").is_err());
        assert!(serde_json::from_str::<ObjectText>("[{}]").is_err());
        assert!(serde_json::from_str::<Option<ObjectText>>("null").unwrap().is_none());
    }

    #[test]
    fn a_range_finds_the_text_again() {
        #[derive(Deserialize)]
        struct Document<'a> {
            #[serde(borrow)]
            inner: ObjectText<'a>,
        }
        let text = r#"{"before":1, "inner": {"a":[1,2]} }"#;
        let document: Document = serde_json::from_str(text).unwrap();
        assert_eq!(&text[document.inner.range_in(text)], r#"{"a":[1,2]}"#);
    }
}
