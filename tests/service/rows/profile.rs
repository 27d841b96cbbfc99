//! An invalid profile of a player is left out. The request fails only if no profile is valid, or if most of ten or
//! more profiles are invalid.

use super::table::{Field, ONE_IS_ENOUGH, Route, bare, in_braces, texts};

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
    is_served: ONE_IS_ENOUGH,
};

#[tokio::test]
async fn a_profile_that_makes_no_sense_is_left_out() {
    PROFILES.expect_table().await;
}

#[tokio::test]
async fn a_player_fails_only_if_no_profile_makes_sense() {
    PROFILES.expect_limit().await;
}
