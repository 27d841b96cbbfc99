//! Arbitrary JSON as text. Unlike `serde_json::Value`, it can repeat a name, nest to any depth, and have numbers and escapes that
//! a parser may refuse.

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

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text, a number or another value without parts. A lone surrogate is legal JSON, but no text.
fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<String>().prop_map(|text| quoted(&text)),
        2 => "[A-Za-z0-9_%:.-]{0,20}".prop_map(|text| quoted(&text)),
        1 => (any::<char>(), 1..200_000_usize).prop_map(|(character, length)| {
            quoted(&character.to_string().repeat(length))
        }),
        2 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| Value::from(number).to_string()),
        4 => select(vec![
            "null", "true", "1e999", "-0", "1E400", "123456789012345678901234567890", "9223372036854775808",
            r#""%4eotch""#, r#""%254e""#, r#""%ff""#, r#""2026-11-16T12:00:00Z""#, r#""9999-12-31T23:59:59Z""#, r#""GET""#,
            r#""/""#, r#""\ud800""#, r#""\udc00\ud800""#, r#""\u0000""#,
        ])
        .prop_map(str::to_owned),
    ]
}

/// Values inside of values inside of values.
fn nested() -> impl Strategy<Value = String> {
    (select(vec![("[", "]"), (r#"{"a":"#, "}"), ("[0,[", "]]")]), 100..30_000_usize).prop_map(
        |((opening, closing), depth)| format!("{}null{}", opening.repeat(depth), closing.repeat(depth)),
    )
}

/// Any JSON value.
pub fn json() -> impl Strategy<Value = String> {
    let name = || prop_oneof![3 => select(NAMES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    prop_oneof![8 => scalar(), 1 => nested()].prop_recursive(4, 32, 6, move |inner| {
        let entry = (name(), inner.clone()).prop_map(|(name, value)| format!("{}:{value}", quoted(&name)));
        prop_oneof![
            vec(inner, 0..6).prop_map(|elements| format!("[{}]", elements.join(","))),
            vec(entry, 0..6).prop_map(|entries| format!("{{{}}}", entries.join(","))),
        ]
    })
}

/// What takes the place of a value: another value, or that and one more entry of its object, whose name may repeat.
fn replacement() -> impl Strategy<Value = String> {
    let more = (json(), select(NAMES.to_vec()), json());
    prop_oneof![3 => json(), 1 => more.prop_map(|(value, name, other)| format!("{value},{}:{other}", quoted(name)))]
}

/// The values inside of this one.
fn parts(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(elements) => elements.iter_mut().collect(),
        Value::Object(entries) => entries.values_mut().collect(),
        _ => Vec::new(),
    }
}

fn count(value: &mut Value) -> usize {
    parts(value).into_iter().map(|part| 1 + count(part)).sum()
}

/// Puts `new` in the place of the value at this position, counted in the order of the text, and returns `None`; or returns how many
/// values further the position is than the last one.
fn replace(value: &mut Value, mut position: usize, new: &Value) -> Option<usize> {
    for part in parts(value) {
        let Some(rest) = position.checked_sub(1) else {
            part.clone_from(new);
            return None;
        };
        position = replace(part, rest, new)?;
    }
    Some(position)
}

/// The text of events: any JSON, and more often `sample` with a few changes.
pub fn event(sample: &Value) -> impl Strategy<Value = String> + use<> {
    let sample = sample.clone();
    let changed = vec((any::<Index>(), replacement()), 1..4).prop_map(move |changes| {
        let mut event = sample.clone();
        for (number, (at, _)) in changes.iter().enumerate() {
            // A value that nothing else has, because the new one may be a text that `Value` cannot hold.
            let position = at.index(count(&mut event).max(1));
            let _ = replace(&mut event, position, &Value::from(format!("\0{number}")));
        }
        let places =
            changes.iter().enumerate().map(|(number, (_, new))| (quoted(&format!("\0{number}")), new));
        places.fold(event.to_string(), |text, (place, new)| text.replace(&place, new))
    });
    prop_oneof![1 => json(), 4 => changed]
}
