//! The catalogue of items.

use serde_json::json;

use super::expected::{Data, Expected, elements, spelled};
use super::field::Field;
use super::resource::{Names, ParsedResource};

pub(crate) const ITEMS: ParsedResource = ParsedResource {
    path: "/v2/resources/skyblock/items",
    route: Some("/v1/items"),
    rows: ["/items", "/items"],
    names: Names::Field("id"),
    fields: &[
        Field::id("id"),
        Field::text("name", r#""Name""#),
        Field::text("material", r#""STONE""#),
        Field { default: Some(r#""COMMON""#), ..Field::text("tier", r#""RARE""#) },
    ],
    body: r#"{"success":true,"lastUpdated":1777388578000,"items":[ROWS]}"#,
    tag: Some("name"),
    data: |_, items| json!({"items": items}),
    requests: |resource, text| {
        // A skin has no signature.
        let unsigned = |item: String| match item.split_once(r#","signature":""#) {
            Some((front, signed)) => format!("{front}{}", signed.split_once('"').unwrap().1),
            None => item,
        };
        let items: Vec<_> = elements(&spelled(text, "items")).into_iter().map(unsigned).collect();
        let whole = format!(r#"{{"items":[{}]}}"#, items.join(","));
        vec![resource.expected(text), Expected::new("/v1/items?mode=full", Data::Verbatim(whole))]
    },
    captures: &["items/v2-20241015.json"],
    ..ParsedResource::USUAL
};
