//! The mayor is not a row: the route and the recorder fail if the mayor is invalid.

use serde_json::json;
use simulator::Fault;

use crate::history::event;
use crate::provider::{ELECTION, NOW, texts};
use crate::support::{get_at, invoke, simulator, start_with, without_repeated_fetches};
use crate::upstream_faults::expect_failure;

#[tokio::test]
async fn without_a_mayor_who_makes_sense_both_the_route_and_the_recorder_fail() {
    let cloud = start_with(without_repeated_fetches()).await;
    let good = ELECTION.body(&ELECTION.usual("A"));
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
    .zip((NOW..).step_by(60_000))
    {
        let body = good.replacen(part, other, 1);
        assert_ne!(body, good, "{part}");
        simulator(&cloud).set_fault(ELECTION.path, Fault::default().with_body(body.as_str()));
        expect_failure(&get_at(&cloud, "/v1/mayor", now).await, part);
        let recorded = invoke(&cloud, "record-mayor", event(NOW / 1_000)).await;
        assert!(recorded.headers.contains_key("x-amz-function-error"), "{body}: {}", recorded.text);
    }
    // An invalid perk does not fail the mayor.
    ELECTION.show(&cloud, &[ELECTION.usual("A"), ELECTION.usual("HALF\\ud800")]);
    let live = get_at(&cloud, "/v1/mayor", NOW + 3_600_000).await.data();
    assert_eq!(texts(&live["mayor"]["perks"], "name"), ["A"]);
    let recorded = invoke(&cloud, "record-mayor", event(NOW / 1_000)).await.json();
    assert_eq!(recorded["recorded"], json!({"year": 510, "new": true}), "{recorded}");
    // A mayor without an election is served, and recorded under the calendar's year.
    let body = good.replacen(r#","election":{"year":510}"#, "", 1);
    simulator(&cloud).set_fault(ELECTION.path, Fault::default().with_body(body));
    let live = get_at(&cloud, "/v1/mayor", NOW + 600_000).await.data();
    assert_eq!(live["election"], json!({}));
    let recorded = invoke(&cloud, "record-mayor", event(NOW / 1_000)).await.json();
    assert_eq!(recorded["recorded"], json!({"year": 486, "new": true}), "{recorded}");
}
