//! The mayor, the election that the mayor won, and the open election.

use serde_json::{Value, json};
use simulator::election;

use super::expected::spelled;
use super::field::Field;
use super::resource::{NOW, Names, ONE_IS_ENOUGH, ParsedResource};

/// The rows are the mayor's perks.
pub(crate) const ELECTION: ParsedResource = ParsedResource {
    path: "/v2/resources/skyblock/election",
    route: Some("/v1/mayor"),
    rows: ["/mayor/perks", "/mayor/perks"],
    names: Names::Field("name"),
    fields: &[Field::id("name"), Field::text("description", r#""Text""#)],
    body: r#"{"success":true,"mayor":{"key":"pets","name":"Diana","perks":[ROWS],"election":{"year":510}}}"#,
    is_served: ONE_IS_ENOUGH,
    tag: Some("name"),
    data: |body, perks| {
        let mayor = &body["mayor"];
        let or_empty = |election: &Value| if election.is_null() { json!({}) } else { election.clone() };
        json!({
            "mayor": {"name": mayor["name"], "key": mayor["key"], "perks": perks},
            "current": or_empty(&body["current"]),
            "election": or_empty(&mayor["election"]),
        })
    },
    requests: |resource, text| {
        let mut expected = resource.expected(text);
        expected.repeated.push(("election".to_owned(), spelled(&spelled(text, "mayor"), "election")));
        if text.contains(r#""current""#) {
            expected.repeated.push(("current".to_owned(), spelled(text, "current")));
        }
        vec![expected]
    },
    // Nine elections, each before and after the next one opens. At least one of nine has a special mayor, who
    // has no minister.
    moments: || {
        let next = election::seated_year(NOW) + 1;
        (next..next + 9).flat_map(|year| [election::closes_at(year), election::opens_at(year + 1)]).collect()
    },
    captures: &["election/v2-20261010-nocurrent-minister.json", "election/v2-20250312-current-minister.json"],
    ..ParsedResource::USUAL
};
