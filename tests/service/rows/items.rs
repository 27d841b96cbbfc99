//! The item catalogue: `items`.

use serde_json::json;

use super::table::{Field, Route, bare, in_braces, texts};
use crate::support::{one_instance_each, start_with};

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

#[tokio::test]
async fn an_item_that_makes_no_sense_is_left_out() {
    ITEMS.expect_table().await;
}

#[tokio::test]
async fn the_catalogue_fails_only_if_most_items_make_no_sense() {
    ITEMS.expect_limit().await;
}

#[tokio::test]
async fn of_two_items_with_the_same_id_the_first_counts() {
    let cloud = start_with(one_instance_each()).await;
    let item = |name: &str| json!({"id": "B", "name": name, "material": "STONE"}).to_string();
    let response = ITEMS.expect_first_of_two(&cloud, &item("first"), &item("second")).await;
    let expected = json!({"id": "B", "name": "first", "material": "STONE", "tier": "COMMON"});
    assert_eq!(response.data()["items"][1], expected);
}
