//! A player: `profiles`.

use serde_json::{Value, json};

use super::table::{Field, ONE_IS_ENOUGH, Route, START, bare, expect_failure, in_braces, texts};
use crate::support::{expect_clean_logs, get_at, one_instance_each, start_with};

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

#[tokio::test]
async fn of_two_profiles_with_the_same_id_the_first_counts() {
    let cloud = start_with(one_instance_each()).await;
    let profile = |name: &str| json!({"profile_id": "B", "cute_name": name, "members": {}}).to_string();
    let response = PROFILES.expect_first_of_two(&cloud, &profile("Kiwi"), &profile("Pear")).await;
    let expected = json!({"profile_id": "B", "cute_name": "Kiwi", "selected": false, "members": {}});
    assert_eq!(response.data()["profiles"][1], expected);
}

#[tokio::test]
async fn a_profile_that_is_incomplete_hides_no_other_and_members_pass_through() {
    let cloud = start_with(one_instance_each()).await;
    let good = PROFILES.usual("GOOD");
    let other_members = good.replace("{}", r#"{"a":null,"b":{}}"#);
    let without_members = r#"{"profile_id":"A","cute_name":"Apple","selected":true}"#.to_owned();
    let with = |field: &str| without_members.replace(r#""selected":true"#, field);
    let mut now = START;
    for (odd, good) in [
        (vec![without_members.clone()], &good),
        (vec![without_members.clone(), with(r#""members":null"#).replace("\"A\"", "\"B\"")], &good),
        (vec!["null".to_owned(); 8], &good),
        (vec![good.replace("GOOD", "C").replace("\"Kiwi\"", "null")], &other_members),
    ] {
        PROFILES.show(&cloud, &[&odd[..], std::slice::from_ref(good)].concat());
        let data = get_at(&cloud, PROFILES.path, now).await.data();
        assert_eq!(texts(&data["profiles"], "profile_id"), ["GOOD"], "{odd:?}");
        assert_eq!(data["profiles"][0], serde_json::from_str::<Value>(good).unwrap());
        now += 24 * 3_600_000;
        PROFILES.show(&cloud, &odd);
        expect_failure(&get_at(&cloud, PROFILES.path, now).await);
        now += 24 * 3_600_000;
    }
    expect_clean_logs(&cloud);
}
