//! Computes the size of a row by the chapter on item sizes in DynamoDB's developer guide, and the units that
//! it takes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::history::table::Row;

/// The size of a number: one byte, one byte for every two significant digits (counted separately before and
/// after the point), and one byte for a minus sign. (The developer guide gives only an approximate rule.)
fn bytes_of_number(text: &str) -> usize {
    let (sign, digits) = text.strip_prefix('-').map_or((0, text), |digits| (1, digits));
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{text} has an exponent");
    let (before_point, after_point) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = match (before_point.trim_start_matches('0'), after_point.trim_end_matches('0')) {
        (whole, "") => (whole.trim_end_matches('0'), ""),
        ("", fraction) => ("", fraction.trim_start_matches('0')),
        both => both,
    };
    whole.len().div_ceil(2) + fraction.len().div_ceil(2) + 1 + sign
}

fn bytes_of_value(value: &Value) -> usize {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match (kind.as_str(), value) {
        ("S", Value::String(text)) => text.len(),
        ("B", Value::String(base64)) => STANDARD.decode(base64).unwrap().len(),
        ("N", Value::String(number)) => bytes_of_number(number),
        ("NULL", _) => 1,
        ("L", Value::Array(list)) => 3 + list.iter().map(|value| bytes_of_value(value) + 1).sum::<usize>(),
        ("M", Value::Object(map)) => {
            3 + map.iter().map(|(name, value)| name.len() + bytes_of_value(value) + 1).sum::<usize>()
        }
        _ => panic!("the table has no attribute of the type {kind}"),
    }
}

pub(crate) fn bytes_of(row: &Row) -> usize {
    row.iter().map(|(name, value)| name.len() + bytes_of_value(value)).sum()
}

/// The number as a float, without loss.
pub(crate) fn float(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

/// The write units of a row: one for each kilobyte.
pub(crate) fn write_units(row: &Row) -> f64 {
    float(bytes_of(row).div_ceil(1_024))
}

/// The units of a consistent query that reads this many bytes: one for each 4 kB. An eventually consistent
/// query takes half.
pub(crate) fn read_units(bytes: usize) -> f64 {
    float(bytes.div_ceil(4_096))
}

#[test]
fn sizes_follow_the_developer_guide() {
    for (number, bytes) in [
        ("0", 1),
        ("7", 2),
        ("10", 2),
        ("12", 2),
        ("123", 3),
        ("12300", 3),
        ("1.5", 3),
        ("0.01", 2),
        ("10.25", 3),
        ("-100.25", 5),
    ] {
        assert_eq!(bytes_of_number(number), bytes, "{number}");
    }
    let row = json!({"a": {"S": "é"}, "bc": {"M": {"d": {"L": [{"N": "1"}, {"N": "22"}]}}}});
    assert_eq!(bytes_of(row.as_object().unwrap()), (1 + 2) + (2 + 3 + 1 + (3 + 3 + 3) + 1));
}
