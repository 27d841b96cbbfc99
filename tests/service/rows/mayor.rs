//! An invalid perk of the mayor is left out. The mayor is not a row: the route and the recorder fail if the mayor is invalid,
//! or if no perk is valid.

use serde_json::json;
use simulator::Fault;

use super::table::{Field, ONE_IS_ENOUGH, Route, START, bare, in_braces, texts};
use crate::history::event;
use crate::support::{get_at, invoke, simulator, start_with, without_repeated_fetches};
use crate::upstream_faults::expect_failure;

const PERKS: Route = Route {
    path: "/v1/mayor",
    upstream: "/v2/resources/skyblock/election",
    fields: &[Field::id("name"), Field::text("description", r#""Text""#)],
    id: Some("name"),
    row: in_braces,
    no_row: bare,
    body: |rows| {
        format!(
            r#"{{"success":true,"mayor":{{"key":"pets","name":"Diana","perks":[{rows}],"election":{{"year":510}}}}}}"#
        )
    },
    listed: |data| texts(&data["mayor"]["perks"], "name"),
    is_served: ONE_IS_ENOUGH,
};

#[tokio::test]
async fn a_perk_that_makes_no_sense_is_left_out() {
    PERKS.expect_table().await;
}

#[tokio::test]
async fn the_mayor_fails_only_if_no_perk_makes_sense() {
    PERKS.expect_limit().await;
}

#[tokio::test]
async fn without_a_mayor_who_makes_sense_both_the_route_and_the_recorder_fail() {
    let cloud = start_with(without_repeated_fetches()).await;
    let good = (PERKS.body)(&PERKS.usual("A"));
    // Each request is a minute after the previous request, when the pause after the failure is over.
    for ((part, other), now) in [
        (r#""name":"Diana""#, r#""name":null"#),
        (r#""name":"Diana""#, r#""name":5"#),
        (r#""name":"Diana""#, r#""name":"""#),
        (r#""name":"Diana""#, r#""name":"Diana\ud800""#),
        (r#""name":"Diana","#, ""),
        (r#""key":"pets""#, r#""key":null"#),
        (r#""key":"pets""#, r#""key":["pets"]"#),
        (r#""key":"pets""#, r#""key":"\udd25""#),
        (r#""key":"pets","#, ""),
        (r#""key":"pets","#, r#""key":"pets","key":"pets","#),
        (r#""perks":["#, r#""bonuses":["#),
        (r#""mayor":"#, r#""major":"#),
        (r#""election":{"year":510}"#, r#""election":[]"#),
    ]
    .into_iter()
    .zip((START..).step_by(60_000))
    {
        let body = good.replacen(part, other, 1);
        assert_ne!(body, good, "{part}");
        simulator(&cloud).set_fault(PERKS.upstream, Fault::default().with_body(&body));
        expect_failure(&get_at(&cloud, PERKS.path, now).await, part);
        let recorded = invoke(&cloud, "record-mayor", event(START / 1_000)).await;
        assert!(recorded.headers.contains_key("x-amz-function-error"), "{body}: {}", recorded.text);
    }
    // An invalid perk does not fail the mayor.
    PERKS.show(&cloud, &[PERKS.usual("A"), PERKS.usual("HALF\\ud800")]);
    let live = get_at(&cloud, PERKS.path, START + 3_600_000).await.data();
    assert_eq!(texts(&live["mayor"]["perks"], "name"), ["A"]);
    let recorded = invoke(&cloud, "record-mayor", event(START / 1_000)).await.json();
    assert_eq!(recorded["recorded"], json!({"year": 510, "new": true}), "{recorded}");
    // A mayor without an election is served, and recorded under the calendar's year.
    let body = good.replacen(r#","election":{"year":510}"#, "", 1);
    simulator(&cloud).set_fault(PERKS.upstream, Fault::default().with_body(body));
    let live = get_at(&cloud, PERKS.path, START + 600_000).await.data();
    assert_eq!(live["election"], json!({}));
    let recorded = invoke(&cloud, "record-mayor", event(START / 1_000)).await.json();
    assert_eq!(recorded["recorded"], json!({"year": 486, "new": true}), "{recorded}");
}
