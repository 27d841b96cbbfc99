//! JSON text that passes through as the provider wrote it. Parsing a value and writing it again takes time
//! and can change its spelling. These types check only the kind of a value, such as string or object, and
//! keep its text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The text of a JSON value that begins with the byte `FIRST`, borrowed from its document.
#[derive(Debug, Clone, Copy)]
pub struct Verbatim<'a, const FIRST: u8>(&'a RawValue);

/// The text of a JSON string, with its quotes and escapes.
pub type StringText<'a> = Verbatim<'a, b'"'>;

pub type ObjectText<'a> = Verbatim<'a, b'{'>;

impl<'a, const FIRST: u8> Verbatim<'a, FIRST> {
    #[must_use]
    pub fn get(self) -> &'a str {
        self.0.get()
    }
}

impl<'a> StringText<'a> {
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.get() == r#""""#
    }

    /// Returns the string without quotes and escapes.
    #[must_use]
    pub fn decoded(self) -> Cow<'a, str> {
        let text = self.get();
        if text.as_bytes().contains(&b'\\') {
            // Never fails, because the text was checked when it was parsed.
            return Cow::Owned(serde_json::from_str(text).unwrap_or_default());
        }
        Cow::Borrowed(text.get(1..text.len().saturating_sub(1)).unwrap_or_default())
    }
}

impl<'de: 'a, 'a, const FIRST: u8> Deserialize<'de> for Verbatim<'a, FIRST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?;
        if value.get().as_bytes().first() != Some(&FIRST) {
            let first = char::from(FIRST);
            return Err(D::Error::custom(format_args!("expected a value that begins with {first:?}")));
        }
        // Checks only strings. Strings within an object pass through unchecked.
        if FIRST == b'"' && may_have_surrogates(value.get()) {
            serde_json::from_str::<String>(value.get()).map_err(D::Error::custom)?;
        }
        Ok(Self(value))
    }
}

/// Whether the text may have an escape such as `\ud83d`, which is half of a character. Without the other
/// half, many clients cannot parse the text, and it cannot be stored. Most short texts have no escapes, so
/// the function returns early. Long texts, such as item descriptions, have escaped line breaks. The loop over
/// these texts has no branches, so that the compiler uses vector instructions.
fn may_have_surrogates(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'\\') {
        return false;
    }
    let pairs = bytes.iter().zip(bytes.get(2..).unwrap_or_default());
    pairs.fold(0, |found, (&first, &third)| {
        found | (u8::from(first == b'\\') & u8::from(third | 0x20 == b'd'))
    }) != 0
}

/// A struct that is read only from a JSON object. Serde alone also reads structs from arrays, whose elements
/// become the fields in order.
#[derive(Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObjects<D>(D);

        impl<'de, D: Deserializer<'de>> Deserializer<'de> for OfObjects<D> {
            type Error = D::Error;

            fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                self.0.deserialize_map(visitor)
            }

            serde::forward_to_deserialize_any! {
                bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
                newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
            }
        }

        T::deserialize(OfObjects(deserializer)).map(Self)
    }
}

/// Reads a struct from a JSON object, as [`Object`] does. For `deserialize_with`.
///
/// # Errors
/// If the value is not an object, or not a valid `T`.
pub fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// The members of a JSON object in their order, including repeated keys. A map would keep only one member for
/// each key.
#[derive(Debug)]
pub struct Members<K, V>(pub Vec<(K, V)>);

impl<K, V> Members<K, V> {
    /// Returns all keys and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl<V> Members<String, V> {
    /// Returns the values with this key.
    pub fn named(&self, key: &str) -> impl Iterator<Item = &V> {
        self.0.iter().filter(move |(given, _)| given == key).map(|(_, value)| value)
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Members<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for InOrder<K, V> {
            type Value = Members<K, V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

impl<const FIRST: u8> Serialize for Verbatim<'_, FIRST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Reads a whole number. It may be written as a floating-point number (`2.0`, `6.0E7`), as the provider
/// sometimes writes it. For `deserialize_with`.
///
/// # Errors
/// If the value is not a number, has a fraction, or is too large for an exact floating-point number.
pub fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct WholeNumber;

    impl Visitor<'_> for WholeNumber {
        type Value = i64;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a whole number")
        }

        fn visit_i64<E>(self, number: i64) -> Result<i64, E> {
            Ok(number)
        }

        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<i64, E> {
            i64::try_from(number).map_err(E::custom)
        }

        #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is in range")]
        fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<i64, E> {
            const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
            let is_whole = number.fract() == 0.0 && number.abs() <= LARGEST_EXACT;
            if is_whole {
                Ok(number as i64)
            } else {
                Err(E::custom(format_args!("{number} is not a whole number")))
            }
        }
    }

    deserializer.deserialize_i64(WholeNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_read_in_every_spelling() {
        #[derive(Deserialize)]
        struct Number(#[serde(deserialize_with = "whole_number")] i64);
        let read = |text: &str| serde_json::from_str::<Number>(text).ok().map(|Number(number)| number);
        assert_eq!(read("60000000"), Some(60_000_000));
        assert_eq!(read("6.0E7"), Some(60_000_000));
        assert_eq!(read("-2.0"), Some(-2));
        assert_eq!(read("9223372036854775807"), Some(i64::MAX));
        for text in ["0.5", "1e300", "9223372036854775808", "\"7\"", "null", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_string_keeps_its_escapes() {
        let text: StringText = serde_json::from_str(r#""Shen\u0027s \u00a7aAuction""#).unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""Shen\u0027s \u00a7aAuction""#);
    }

    #[test]
    fn half_a_surrogate_pair_is_not_a_string() {
        let read =
            |text: &'static str| serde_json::from_str::<StringText>(text).map(StringText::decoded).ok();
        assert_eq!(read(r#""\ud83d\udd25 \UD800""#), None, "the u of an escape is lowercase");
        assert_eq!(read(r#""\ud83d\uDD25""#).as_deref(), Some("\u{1f525}"));
        assert_eq!(read(r#""C:\\ud800""#).as_deref(), Some(r"C:\ud800"));
        for text in [r#""\ud800""#, r#""A\uD83D""#, r#""\udd25\ud83d""#, r#""\ud83dx""#] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(serde_json::from_str::<ObjectText>(r#"{"a":"\ud800"}"#).is_ok(), "objects pass through");
    }

    #[test]
    fn a_struct_is_read_from_an_object_only() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Point<'a> {
            x: i64,
            name: &'a str,
        }
        let read = |text| serde_json::from_str(text).ok().map(|Object(point): Object<Point<'_>>| point);
        assert_eq!(read(r#"{"x":1,"y":2,"name":"A"}"#), Some(Point { x: 1, name: "A" }));
        for text in [r#"[1,"A"]"#, "[]", "null", "1", r#""A""#, r#"{"x":1}"#] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(serde_json::from_str::<Point<'_>>(r#"[1,"A"]"#).is_ok(), "serde alone reads arrays");
    }

    #[test]
    fn members_keep_their_order_and_repeated_keys() {
        let members: Members<String, i64> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(members.0, [("b", 1), ("a", 2), ("b", 3)].map(|(key, value)| (key.to_owned(), value)));
        assert!(serde_json::from_str::<Members<String, i64>>("[]").is_err());
    }
}
