//! The fields of rows, with valid and invalid values.

use serde_json::Value;

/// A field of a row. All values are JSON text, so they can have forms that no JSON library writes.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The value in a usual row. `ID` stands for the id of the row.
    pub(crate) usual: &'static str,
    /// The value in the response if the field is absent or `null`. `None` if the row is then invalid.
    pub(crate) default: Option<&'static str>,
    /// Other valid values.
    pub(crate) good: &'static [&'static str],
    /// Invalid values: of other types, or out of range.
    pub(crate) bad: &'static [&'static str],
}

impl Field {
    /// Values that are not texts. The last two have lone surrogates, which are not characters.
    const NO_TEXTS: &[&str] = &["5", "true", "{}", "[]", r#"["A"]"#, r#""\ud800""#, r#""A\udd25x""#];

    /// Values that are not whole numbers of at least 0.
    const NO_COUNTS: &[&str] = &[
        "-1",
        "-9007199254740993",
        "0.5",
        "1e300",
        "1e400",
        "9223372036854775808",
        r#""5""#,
        "true",
        "{}",
        "[]",
    ];

    /// Values that are not times in Unix milliseconds.
    pub(super) const NO_TIMES: &[&str] = &[
        "-1777388600000",
        "0",
        "1777388600",
        "17773886000000",
        "1777388600000.5",
        r#""soon""#,
        "true",
        "{}",
        "[]",
    ];

    /// A required text.
    pub(super) const fn text(name: &'static str, usual: &'static str) -> Self {
        let good = &[r#""""#, r#""\u00a7a \ud83d\udd25 ''""#];
        Self { name, usual, default: None, good, bad: Self::NO_TEXTS }
    }

    /// The text that names the row.
    pub(super) const fn id(name: &'static str) -> Self {
        let bad = &["5", "true", "{}", "[]", r#""""#, r#""\ud800""#];
        Self { name, usual: "ID", default: None, good: &[r#""B:\u0027\ud83d\udd25""#], bad }
    }

    /// A required whole number of at least 0.
    pub(super) const fn count(name: &'static str) -> Self {
        let good = &["0", "6.0E7", "3000000000", "9007199254740993"];
        Self { name, usual: "7", default: None, good, bad: Self::NO_COUNTS }
    }

    /// A truth value.
    pub(super) const fn flag(name: &'static str, default: Option<&'static str>) -> Self {
        let bad = &["0", "1", r#""true""#, "{}", "[]"];
        Self { name, usual: "true", default, good: &["false"], bad }
    }

    /// The value in the response for this value in the body. `None` if it is of another type than usual, or
    /// absent without a default.
    pub(super) fn served(&self, value: Option<&Value>) -> Option<Value> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return self.default.map(|default| serde_json::from_str(default).unwrap());
        };
        let usual = serde_json::from_str(self.usual).unwrap_or(Value::String(String::new()));
        let is_right = match usual {
            Value::String(_) => value.is_string(),
            Value::Bool(_) => value.is_boolean(),
            Value::Number(number) if number.is_i64() => value.is_i64(),
            Value::Number(_) => value.is_number(),
            Value::Object(_) => value.is_object(),
            // The elements of the arrays are objects.
            Value::Array(_) | Value::Null => {
                value.as_array().is_some_and(|elements| elements.iter().all(Value::is_object))
            }
        };
        is_right.then(|| value.clone())
    }
}

pub(crate) fn texts(rows: &Value, field: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}
