//! Generates arbitrary JSON as text. Unlike `serde_json::Value`, text can repeat a name, nest to any depth,
//! and contain numbers and escapes that a parser may refuse.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

/// Some of the names that the functions read.
const NAMES: [&str; 4] = ["headers", "requestContext", "requestTimeEpoch", "time"];

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A string, a number or another value without elements or entries. Some strings contain lone surrogates:
/// legal JSON, but not valid text.
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

/// Arrays or objects nested 100 to 30,000 levels deep, or twice as deep.
fn nested() -> impl Strategy<Value = String> {
    (select(vec![("[", "]"), (r#"{"a":"#, "}"), ("[0,[", "]]")]), 100..30_000_usize).prop_map(
        |((opening, closing), depth)| format!("{}null{}", opening.repeat(depth), closing.repeat(depth)),
    )
}

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

/// Replaces this value, or a value inside it, by `new`. Each index of the path selects an element or entry
/// one level deeper. The path ends early at a value without elements or entries.
fn replace(value: &mut Value, path: &[Index], new: &Value) {
    let mut parts: Vec<_> = match value {
        Value::Array(elements) => elements.iter_mut().collect(),
        Value::Object(entries) => entries.values_mut().collect(),
        _ => Vec::new(),
    };
    match path.split_first() {
        Some((choice, rest)) if !parts.is_empty() => {
            replace(parts.swap_remove(choice.index(parts.len())), rest, new);
        }
        _ => value.clone_from(new),
    }
}

/// Generates the text of events. One in five is any JSON, and the others are `sample` with a few changes.
pub fn event(sample: &Value) -> impl Strategy<Value = String> + use<> {
    let sample = sample.clone();
    let change = (vec(any::<Index>(), 1..7), json());
    let changed = vec(change, 1..4).prop_map(move |changes| {
        let mut event = sample.clone();
        for (number, (path, _)) in changes.iter().enumerate() {
            // A unique placeholder, because `Value` cannot represent every new value. The text is replaced
            // below.
            replace(&mut event, path, &Value::from(format!("\0{number}")));
        }
        let places =
            changes.iter().enumerate().map(|(number, (_, new))| (quoted(&format!("\0{number}")), new));
        places.fold(event.to_string(), |text, (place, new)| text.replace(&place, new))
    });
    prop_oneof![1 => json(), 4 => changed]
}
