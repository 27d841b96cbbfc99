//! Arbitrary JSON as text. Unlike `serde_json::Value`, it can repeat a name, nest to any depth, and have numbers and escapes that
//! a parser may refuse.
#![expect(clippy::indexing_slicing, reason = "tests may panic")]

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

/// The names that the functions read.
const NAMES: [&str; 14] = [
    "resource",
    "httpMethod",
    "path",
    "queryStringParameters",
    "multiValueQueryStringParameters",
    "pathParameters",
    "requestContext",
    "requestTimeEpoch",
    "methodArn",
    "headers",
    "multiValueHeaders",
    "X-API-Key",
    "time",
    "now",
];

/// A JSON value.
#[derive(Debug, Clone)]
pub enum Json {
    /// Anything that is written as it is.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in which names may repeat.
    Object(Vec<(String, Json)>),
}

/// A change of one value inside of another.
#[derive(Debug, Clone)]
enum Mutation {
    Remove,
    Replace(Json),
    /// Adds another entry with the same name, or another element.
    Repeat(Json),
    Rename(String),
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(elements) => Self::Array(elements.iter().map(Self::from).collect()),
            Value::Object(entries) => {
                Self::Object(entries.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect())
            }
            scalar => Self::Text(scalar.to_string()),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Array(elements) => {
                formatter.write_str("[")?;
                for (position, element) in elements.iter().enumerate() {
                    write!(formatter, "{}{element}", if position == 0 { "" } else { "," })?;
                }
                formatter.write_str("]")
            }
            Self::Object(entries) => {
                formatter.write_str("{")?;
                for (position, (name, value)) in entries.iter().enumerate() {
                    let comma = if position == 0 { "" } else { "," };
                    write!(formatter, "{comma}{}:{value}", Value::from(name.as_str()))?;
                }
                formatter.write_str("}")
            }
        }
    }
}

impl Json {
    /// How many values are inside of this one.
    fn count(&self) -> usize {
        match self {
            Self::Text(_) => 0,
            Self::Array(elements) => elements.iter().map(|element| 1 + element.count()).sum(),
            Self::Object(entries) => entries.iter().map(|(_, value)| 1 + value.count()).sum(),
        }
    }

    /// Changes one of the values inside of this one.
    fn mutate(&mut self, at: Index, mutation: &Mutation) {
        let count = self.count();
        if count > 0 {
            self.mutate_nth(&mut at.index(count), mutation);
        }
    }

    /// Whether the value at this position, counted in the order of the text, is inside of this one. If so, it is changed.
    fn mutate_nth(&mut self, position: &mut usize, mutation: &Mutation) -> bool {
        let count = match self {
            Self::Text(_) => 0,
            Self::Array(elements) => elements.len(),
            Self::Object(entries) => entries.len(),
        };
        for child in 0..count {
            if *position == 0 {
                self.mutate_child(child, mutation);
                return true;
            }
            *position -= 1;
            let inside = match self {
                Self::Text(_) => return false,
                Self::Array(elements) => &mut elements[child],
                Self::Object(entries) => &mut entries[child].1,
            };
            if inside.mutate_nth(position, mutation) {
                return true;
            }
        }
        false
    }

    fn mutate_child(&mut self, child: usize, mutation: &Mutation) {
        match (self, mutation.clone()) {
            (Self::Array(elements), Mutation::Remove) => drop(elements.remove(child)),
            (Self::Array(elements), Mutation::Replace(value)) => elements[child] = value,
            (Self::Array(elements), Mutation::Repeat(value)) => elements.push(value),
            (Self::Object(entries), Mutation::Remove) => drop(entries.remove(child)),
            (Self::Object(entries), Mutation::Replace(value)) => entries[child].1 = value,
            (Self::Object(entries), Mutation::Repeat(value)) => {
                let name = entries[child].0.clone();
                entries.push((name, value));
            }
            (Self::Object(entries), Mutation::Rename(name)) => entries[child].0 = name,
            (Self::Array(_), Mutation::Rename(_)) | (Self::Text(_), _) => {}
        }
    }
}

/// Texts, most of them short, and with every kind of character and escape.
fn text() -> impl Strategy<Value = Json> {
    let quoted = |text: String| Json::Text(Value::from(text).to_string());
    prop_oneof![
        4 => any::<String>().prop_map(quoted),
        2 => "[A-Za-z0-9_%:.-]{0,20}".prop_map(quoted),
        1 => select(vec!["%", "%4eotch", "%254e", "%ff", "2026-11-16T12:00:00Z", "9999-12-31T23:59:59Z", "GET", "/"])
            .prop_map(move |text| quoted(text.to_owned())),
        // A lone surrogate is legal JSON, but no text.
        1 => select(vec![r#""\ud800""#, r#""\udc00\ud800""#, r#""\u0000""#]).prop_map(|text| Json::Text(text.to_owned())),
        1 => (any::<char>(), 1..200_000_usize).prop_map(move |(character, length)| {
            quoted(character.to_string().repeat(length))
        }),
    ]
}

fn scalar() -> impl Strategy<Value = Json> {
    let written = |text: &str| Json::Text(text.to_owned());
    prop_oneof![
        1 => Just(written("null")),
        1 => any::<bool>().prop_map(move |boolean| Json::Text(boolean.to_string())),
        2 => any::<i64>().prop_map(|number| Json::Text(number.to_string())),
        1 => any::<f64>().prop_map(|number| Json::Text(Value::from(number).to_string())),
        1 => select(vec!["1e999", "-0", "-0.0", "1E400", "123456789012345678901234567890", "9223372036854775808"])
            .prop_map(written),
        3 => text(),
    ]
}

/// Values inside of values inside of values.
fn nested() -> impl Strategy<Value = Json> {
    let deep = |(opening, closing): (&str, &str), depth: usize| {
        Json::Text(format!("{}null{}", opening.repeat(depth), closing.repeat(depth)))
    };
    (select(vec![("[", "]"), (r#"{"a":"#, "}"), ("[0,[", "]]")]), 100..30_000_usize)
        .prop_map(move |(brackets, depth)| deep(brackets, depth))
}

/// Any JSON value.
pub fn json() -> impl Strategy<Value = Json> {
    let name = prop_oneof![3 => select(NAMES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    let leaf = prop_oneof![8 => scalar(), 1 => nested()];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::Array),
            vec((name.clone(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        2 => Just(Mutation::Remove),
        4 => json().prop_map(Mutation::Replace),
        2 => json().prop_map(Mutation::Repeat),
        1 => select(NAMES.to_vec()).prop_map(|name| Mutation::Rename(name.to_owned())),
    ]
}

/// The text of events: any JSON, and more often `sample` with a few changes.
pub fn event(sample: &Value) -> impl Strategy<Value = String> + use<> {
    let sample = Json::from(sample);
    let changed = vec((any::<Index>(), mutation()), 1..4).prop_map(move |mutations| {
        let mut event = sample.clone();
        for (at, mutation) in &mutations {
            event.mutate(*at, mutation);
        }
        event.to_string()
    });
    prop_oneof![1 => json().prop_map(|event| event.to_string()), 4 => changed]
}
