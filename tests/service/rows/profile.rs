//! A player: `profiles`.

use serde_json::json;

use super::table::{Field, Route, bare, in_braces, texts};
use crate::support::{one_instance_each, start_with};

const PROFILES: Route = Route {
    path: "/v1/profile/Notch",
    upstream: "/v2/skyblock/profiles",
    fields: &[
        Field::id("profile_id"),
        Field::text("cute_name", r#""Kiwi""#),
        Field {
            name: "selected",
            usual: "true",
            optional: true,
            good: &["false"],
            bad: &["0", "1", r#""true""#, "{}", "[]"],
        },
        Field {
            name: "members",
            usual: "{}",
            optional: false,
            // Members pass through unchecked.
            good: &[r#"{"a":null}"#, r#"{"a":{"b":-1},"a":{"c":[]}}"#],
            bad: &["5", "true", r#""{}""#, "[]", "[{}]"],
        },
    ],
    id: Some("profile_id"),
    row: in_braces,
    no_row: bare,
    body: |rows| format!(r#"{{"success":true,"profiles":[{rows}]}}"#),
    listed: |data| texts(&data["profiles"], "profile_id"),
};

#[tokio::test]
async fn a_profile_that_makes_no_sense_is_left_out() {
    PROFILES.expect_table().await;
}

#[tokio::test]
async fn a_player_fails_only_if_most_profiles_make_no_sense() {
    PROFILES.expect_majority().await;
}

#[tokio::test]
async fn of_two_profiles_with_the_same_id_the_first_counts() {
    let cloud = start_with(one_instance_each()).await;
    let profile = |name: &str| json!({"profile_id": "B", "cute_name": name, "members": {}}).to_string();
    let response = PROFILES.expect_first_of_two(&cloud, &profile("Kiwi"), &profile("Pear")).await;
    let expected = json!({"profile_id": "B", "cute_name": "Kiwi", "selected": false, "members": {}});
    assert_eq!(response.data()["profiles"][1], expected);
}
