//! The profiles of a player.

use serde_json::json;

use super::expected::{Data, Expected, elements, spelled};
use super::field::Field;
use super::resource::{Names, ONE_IS_ENOUGH, ParsedResource};

pub(crate) const PROFILES: ParsedResource = ParsedResource {
    path: "/v2/skyblock/profiles",
    route: Some("/v1/profile/Notch"),
    rows: ["/profiles", "/profiles"],
    names: Names::Field("profile_id"),
    fields: &[
        Field::id("profile_id"),
        Field::text("cute_name", r#""Kiwi""#),
        Field::flag("selected", Some("false")),
        Field {
            name: "members",
            usual: "{}",
            default: None,
            // Members pass through unchecked.
            good: &[r#"{"a":null}"#, r#"{"a":{"b":-1},"a":{"c":[]}}"#],
            bad: &["5", "true", r#""{}""#, "[]", "[{}]"],
        },
    ],
    body: r#"{"success":true,"profiles":[ROWS]}"#,
    is_served: ONE_IS_ENOUGH,
    tag: Some("cute_name"),
    // Responses also have the id and the name of the player.
    data: |_, profiles| profiles,
    ..ParsedResource::USUAL
};

/// The request for this player, and the data that must follow from the body with the player's profiles.
pub(crate) fn of_player(name: &str, uuid: &str, username: &str, text: &str) -> Expected {
    let data = json!({"uuid": uuid, "username": username, "profiles": PROFILES.data(text)});
    let mut expected = Expected::new(format!("/v1/profile/{name}"), Data::Parsed(data));
    let profiles = spelled(text, "profiles");
    if profiles != "null" {
        let members = elements(&profiles).into_iter().map(|profile| spelled(&profile, "members"));
        let places = (0..).map(|number| format!("profiles/{number}/members"));
        expected.repeated = places.zip(members).collect();
    }
    expected
}
