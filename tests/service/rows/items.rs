//! An invalid item is left out of the catalogue. The catalogue fails only if most items are invalid. A skin
//! has no signature.

use simulator::Fault;

use crate::provider::{ITEMS, NOW, ParsedResource, spelled};
use crate::support::{get_at, one_instance_each, simulator, start_with};

/// The request for whole items. Only id, name and material are checked.
const WHOLE: &str = "/v1/items?mode=full";

#[tokio::test]
async fn the_whole_catalogue_fails_only_if_most_items_are_invalid() {
    ParsedResource { route: Some(WHOLE), ..ITEMS }.expect_limit().await;
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
        simulator(&cloud).set_fault(ITEMS.path, Fault::default().with_body(ITEMS.body(&item(skin))));
        cloud.kill("items").await.unwrap();
        let full = get_at(&cloud, WHOLE, NOW).await;
        full.data();
        assert_eq!(spelled(&full.text, "data"), format!(r#"{{"items":[{}]}}"#, item(expected)), "{skin}");
    }
    // Only the skin has a signature.
    let other = r#"{"id":"A","name":"A","material":"A","signature":"A","museum_data":{"signature":"A"}}"#;
    simulator(&cloud).set_fault(ITEMS.path, Fault::default().with_body(ITEMS.body(other)));
    cloud.kill("items").await.unwrap();
    let full = get_at(&cloud, WHOLE, NOW).await;
    assert_eq!(spelled(&full.text, "data"), format!(r#"{{"items":[{other}]}}"#));
}
