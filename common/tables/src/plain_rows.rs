//! Rows in DynamoDB's usual spelling: without spaces, without escapes, and only with values that histories store. A hand-written reader
//! takes half of serde's time for them. It reads no other row: those are for serde.

use common::json::Members;

use crate::row::{Map, Row, Text, Value};

/// A map of lists of numbers is the deepest value that histories store.
const LEVELS: u8 = 3;
/// How many elements most lists have.
const LIST: usize = 4;

/// Passes rows to `each`, from the beginning of `list`, which is a list after its bracket, up to the first row that is not plain. Returns
/// their number and the rest of the list.
pub(crate) fn read<'a>(mut list: &'a str, mut each: impl FnMut(&Row<'a>)) -> (usize, &'a str) {
    let mut count = 0;
    loop {
        let mut text = Plain(list);
        let Some(row) = text.row() else { return (count, list) };
        each(&row);
        count += 1;
        match text.0.strip_prefix(',').filter(|next| next.starts_with('{')) {
            Some(next) => list = next,
            None => return (count, text.0),
        }
    }
}

/// What is left of the text. A method returns `None` if the text does not continue so.
struct Plain<'a>(&'a str);

impl<'a> Plain<'a> {
    fn skip(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn row(&mut self) -> Option<Row<'a>> {
        self.skip("{")?;
        let mut row = Row { sort_key: None, products: None };
        self.members(LEVELS, |name, value| match name {
            "sk" => row.sort_key = Some(value),
            "products" => row.products = Some(value),
            _ => {}
        })?;
        Some(row)
    }

    /// The members of an object, after its bracket.
    fn members(&mut self, levels: u8, mut each: impl FnMut(&'a str, Value<'a>)) -> Option<()> {
        loop {
            self.skip("\"")?;
            let name = self.text()?;
            self.skip(":")?;
            each(name, self.value(levels)?);
            if self.skip(",").is_none() {
                return self.skip("}");
            }
        }
    }

    /// A value with at most this many levels.
    fn value(&mut self, levels: u8) -> Option<Value<'a>> {
        let below = levels.checked_sub(1)?;
        let value = if self.skip(r#"{"N":""#).is_some() {
            Value::Number(Text(self.text()?.into()))
        } else if self.skip(r#"{"S":""#).is_some() {
            Value::Text(Text(self.text()?.into()))
        } else if self.skip(r#"{"L":["#).is_some() {
            let mut list = Vec::with_capacity(LIST);
            list.push(self.value(below)?);
            while self.skip(",").is_some() {
                list.push(self.value(below)?);
            }
            self.skip("]")?;
            Value::List(list)
        } else {
            self.skip(r#"{"M":{"#)?;
            let mut members = Vec::new();
            self.members(below, |name, value| members.push((Text(name.into()), value)))?;
            Value::Map(Map(Members(members)))
        };
        self.skip("}")?;
        Some(value)
    }

    /// A string after its quote.
    fn text(&mut self) -> Option<&'a str> {
        let end = self.0.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
        let (text, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str =
        r#"{"products":{"M":{"A":{"L":[{"N":"1.5"},{"N":"2"}]},"B":{"S":"1,2"}}},"sk":{"S":"0000000060"}}"#;

    fn count(list: &str) -> (usize, &str) {
        read(list, |row| {
            assert_eq!(row.sort_key().unwrap(), "0000000060");
            let products = row.products().unwrap().map().unwrap();
            let numbers: Vec<_> =
                products.get("A").unwrap().list().unwrap().iter().map(Value::number).collect();
            assert_eq!(numbers, [Some("1.5"), Some("2")]);
            assert_eq!(products.get("B").unwrap().text(), Some("1,2"));
        })
    }

    #[test]
    fn plain_rows_are_read() {
        assert_eq!(count(&format!("{ROW}],")), (1, "],"));
        assert_eq!(count(&format!("{ROW},{ROW},{ROW}]}}")), (3, "]}"));
    }

    #[test]
    fn all_other_rows_are_left() {
        for (plain, other) in [
            (r#"{"N":"2"}"#, r#"{ "N":"2"}"#),
            (r#"{"N":"2"}"#, r#"{"N":"2","S":""}"#),
            (r#"{"N":"2"}"#, r#"{"N":2}"#),
            (r#"{"N":"2"}"#, r#"{"L":[{"N":"2"}]}"#),
            (r#"[{"N":"1.5"},{"N":"2"}]"#, "[]"),
            ("1,2", r"1\u002c2"),
            ("1,2", "1,\n2"),
            ("sk", r"s\u006b"),
            (r#"{"S":"1,2"}"#, r#"{"BOOL":true}"#),
            ("}}", "}"),
        ] {
            let left = format!("{}]", ROW.replacen(plain, other, 1));
            let list = format!("{ROW},{left}");
            assert_eq!(count(&list), (1, left.as_str()), "{other}");
        }
    }

    #[test]
    fn a_list_without_its_end_is_left() {
        for left in ["", ",", ",]", ", ", "x", "}"] {
            assert_eq!(count(&format!("{ROW}{left}")), (1, left));
        }
        for end in 0..ROW.len() {
            let (cut, _) = ROW.split_at(end);
            assert_eq!(count(cut), (0, cut));
        }
    }
}
