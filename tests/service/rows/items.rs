//! An invalid item is left out of the catalogue. The catalogue fails only if most items are invalid.

use super::table::{Field, Route, bare, in_braces, texts};

const ITEMS: Route = Route {
    path: "/v1/items",
    upstream: "/v2/resources/skyblock/items",
    fields: &[
        Field::id("id"),
        Field::text("name", r#""Name""#),
        Field::text("material", r#""STONE""#),
        Field { optional: true, ..Field::text("tier", r#""RARE""#) },
    ],
    id: Some("id"),
    row: in_braces,
    no_row: bare,
    body: |rows| format!(r#"{{"success":true,"lastUpdated":1777388578000,"items":[{rows}]}}"#),
    listed: |data| texts(&data["items"], "id"),
    is_served: |good, bad| bad <= good,
};

/// Only an item's id, name and material are checked.
const WHOLE_ITEMS: Route = Route { path: "/v1/items?mode=full", ..ITEMS };

#[tokio::test]
async fn an_item_that_makes_no_sense_is_left_out() {
    ITEMS.expect_table().await;
}

#[tokio::test]
async fn the_catalogue_fails_only_if_most_items_make_no_sense() {
    ITEMS.expect_limit().await;
    WHOLE_ITEMS.expect_limit().await;
}
