//! An invalid item is left out of the catalogue. The catalogue fails only if most items are invalid. A skin has no signature.

use simulator::Fault;

use super::table::{Field, Route, START, bare, in_braces, texts};
use crate::oracle::spelled;
use crate::support::{get_at, one_instance_each, simulator, start_with};

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

/// The signatures are 40 % of the provider's response, which would soon exceed Lambda's limit.
#[tokio::test]
async fn an_item_is_passed_on_without_the_signature_of_its_skin_in_any_form() {
    let cloud = start_with(one_instance_each()).await;
    let item = |skin: &str| {
        format!(
            r#"{{"material":"SKULL_ITEM", "durability":3,"skin":{skin},"name":"Odd Orb","lore":["\u0027\u003d"],"id":"ODD_ORB"}}"#
        )
    };
    for (skin, expected) in [
        (r#"{"value":"ee\u003d","signature":"AA\u003d"}"#, r#"{"value":"ee\u003d"}"#),
        (r#"{"signature":"AA","value":"ee"}"#, r#"{"value":"ee"}"#),
        (
            r#"{"a":1.50,"signature":"A,\"A}","value":{"signature":"B"}}"#,
            r#"{"a":1.50,"value":{"signature":"B"}}"#,
        ),
        (r#"{"signature":null,"value":null}"#, r#"{"value":null}"#),
        (r#"{ "value" : "ee", "signature" : {"x": []} }"#, r#"{"value":"ee"}"#),
        (r#"{"sign\u0061ture":"AA"}"#, "{}"),
        (r#"{"value":"a","signature":"A","signature":"B"}"#, r#"{"value":"a"}"#),
        // All else is passed on as it is.
        (r#"{ "value" : "ee" }"#, r#"{ "value" : "ee" }"#),
        (r#"{"Signature":"AA"}"#, r#"{"Signature":"AA"}"#),
        ("{}", "{}"),
        ("null", "null"),
        (r#""ewogICJ0aW1lc3RhbXAi,\"signature\":\"""#, r#""ewogICJ0aW1lc3RhbXAi,\"signature\":\"""#),
        (r#"[{"signature":"AA"}]"#, r#"[{"signature":"AA"}]"#),
        ("5", "5"),
    ] {
        simulator(&cloud).set_fault(ITEMS.upstream, Fault::default().with_body((ITEMS.body)(&item(skin))));
        cloud.kill("items").await.unwrap();
        let full = get_at(&cloud, WHOLE_ITEMS.path, START).await;
        full.data();
        assert_eq!(spelled(&full.text, "data"), format!(r#"{{"items":[{}]}}"#, item(expected)), "{skin}");
    }
    // Only the skin has a signature.
    let other = r#"{"id":"A","name":"A","material":"A","signature":"A","museum_data":{"signature":"A"}}"#;
    simulator(&cloud).set_fault(ITEMS.upstream, Fault::default().with_body((ITEMS.body)(other)));
    cloud.kill("items").await.unwrap();
    let full = get_at(&cloud, WHOLE_ITEMS.path, START).await;
    assert_eq!(spelled(&full.text, "data"), format!(r#"{{"items":[{other}]}}"#));
}
