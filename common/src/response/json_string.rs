//! Text as a JSON string, which is how a proxy response carries its body.

use std::borrow::Cow;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A struct of this name and with one field of this name is how `serde_json` passes on a [`RawValue`]. It does not document the
/// name, but without it a string that is escaped would have to be parsed again, which takes as long as escaping it.
const RAW: &str = "$serde_json::private::RawValue";

/// A JSON string: text in quotes and with escapes. `serde_json` writes it as it is.
#[derive(Debug)]
pub(super) struct JsonString(Cow<'static, str>);

impl JsonString {
    /// The pieces joined, as one string. A library escapes them with vector instructions: `serde_json` takes 1.8 times as long for the
    /// megabytes of the bazaar.
    pub(super) fn of<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut string = br#""""#.to_vec();
        for piece in pieces {
            // The library writes quotes around each piece. The opening one takes the place of the byte in front of it, which comes back.
            let _closing_quote = string.pop();
            let (last, place) = (string.pop(), string.len());
            json_escape_simd::escape_into(piece, &mut string);
            if let (Some(last), Some(opening_quote)) = (last, string.get_mut(place)) {
                *opening_quote = last;
            }
        }
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self(String::from_utf8(string).unwrap_or_else(|error| lossy(error.as_bytes())).into())
    }

    /// The same without room for more, to be kept: the library reserves six times the length.
    pub(super) fn shrunk(self) -> Self {
        Self(self.0.into_owned().into_boxed_str().into_string().into())
    }

    /// How many bytes it has, quotes included.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<&'static RawValue> for JsonString {
    fn from(json: &'static RawValue) -> Self {
        Self(json.get().into())
    }
}

impl Serialize for JsonString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW, 1)?;
        raw.serialize_field(RAW, &self.0)?;
        raw.end()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(pieces: &[String]) -> String {
        let string = JsonString::of(pieces.iter().map(String::as_str));
        let written = serde_json::to_string(&string).unwrap();
        assert_eq!(written.len(), string.len());
        written
    }

    proptest! {
        #[test]
        fn pieces_become_the_string_that_serde_json_writes(pieces in prop::collection::vec(any::<String>(), 0..5)) {
            prop_assert_eq!(written(&pieces), serde_json::to_string(&pieces.concat()).unwrap());
        }
    }

    #[test]
    fn every_character_is_escaped_wherever_the_vectors_begin() {
        for escaped in (0..=u8::MAX).map(char::from).chain(['\u{2028}', 'ü', '\u{1f525}']) {
            for before in 0..70 {
                let text = format!("{}{escaped}{}", "a".repeat(before), "b".repeat(70 - before));
                assert_eq!(written(std::slice::from_ref(&text)), serde_json::to_string(&text).unwrap());
            }
        }
        assert_eq!(written(&[String::new(), "\"".to_owned(), String::new()]), r#""\"""#);
    }
}
