//! The history has every mayor once, with the term that follows from the calendar, as soon as the term has
//! ended.

use std::time::Duration;

use local::Cloud;
use serde_json::{Value, json};
use simulator::{Fault, election};

use super::table;
use super::{DAY, HOUR, MINUTE, record, rfc3339, start, start_with_instances};
use crate::support::{expect_clean_logs, get_at, simulator, start_with, without_repeated_fetches};

const RECORDER: &str = "record-mayor";
const ELECTIONS: &str = "/v2/resources/skyblock/election";

/// The term of the mayor elected in the year, by the game's calendar: from the end of that election to the
/// end of the next.
fn term(year: i64) -> [i64; 2] {
    const YEAR_ONE: i64 = 1_560_275_700;
    const YEAR: i64 = 446_400;
    const CLOSES_INTO_THE_NEXT_YEAR: i64 = 105_600;
    let begins = |year: i64| YEAR_ONE + (year - 1) * YEAR;
    [begins(year + 1) + CLOSES_INTO_THE_NEXT_YEAR, begins(year + 2) + CLOSES_INTO_THE_NEXT_YEAR]
}

/// The year in which the mayor at this time was elected.
fn mayor_elected_in(time: i64) -> i64 {
    (1..10_000).find(|year| term(*year)[1] > time).unwrap()
}

/// Advances the cloud's clock to this time in Unix seconds.
fn move_to(cloud: &Cloud, time: i64) {
    let ahead = time * 1_000 - cloud.clock().now_ms();
    cloud.clock().advance(Duration::from_millis(u64::try_from(ahead).unwrap()));
}

/// The history entry that must follow from the provider's response.
fn entry(body: &str, year: i64) -> Value {
    let body: Value = serde_json::from_str(body).unwrap();
    let mayor = &body["mayor"];
    assert_eq!(mayor["election"]["year"], year, "the simulator must follow the calendar");
    let perk = |perk: &Value| json!({"name": perk["name"], "description": perk["description"]});
    let perks: Vec<_> = mayor["perks"].as_array().unwrap().iter().map(perk).collect();
    let [started, ended] = term(year).map(rfc3339);
    json!({"name": mayor["name"], "key": mayor["key"], "perks": perks, "started_at": started, "ended_at": ended})
}

/// Requests the history at the time `now` in Unix seconds, with at most `limit` entries.
async fn history(cloud: &Cloud, limit: usize, now: i64) -> Vec<Value> {
    let response = get_at(cloud, &format!("/v1/mayor/history?limit={limit}"), now * 1_000).await;
    let mut data = response.data();
    assert_eq!(data.as_object().unwrap().len(), 1, "{data}");
    let Value::Array(history) = data["history"].take() else { panic!("{data}") };
    assert!(history.len() <= limit);
    history
}

#[tokio::test]
async fn each_of_27_terms_is_recorded_once_and_shown_once_it_has_ended() {
    const ELECTIONS_HELD: i64 = 27;
    let cloud = start().await;
    let first = mayor_elected_in(cloud.clock().now_ms() / 1_000) + 1;
    let years = first..first + ELECTIONS_HELD;
    let mut expected = Vec::<Value>::new();
    for year in years.clone() {
        let [begins, ends] = term(year);
        let shown = election::body(1, (begins + MINUTE) * 1_000);
        // At the start of the term, before and during the next election, and in the last minute.
        for time in [begins, begins + 20 * HOUR, begins + 3 * DAY, ends - MINUTE] {
            move_to(&cloud, time);
            let recorded = record(&cloud, RECORDER, time).await;
            assert_eq!(recorded, json!({"year": year, "new": time == begins}));
        }
        // The term lasts until its last second. The two limits differ so that neither response comes from the
        // cache.
        assert_eq!(history(&cloud, 100, ends - 1).await, expected, "year {year} has not ended");
        expected.insert(0, entry(&shown, year));
        assert_eq!(history(&cloud, 99, ends).await, expected, "year {year} has ended");
    }
    assert_eq!(table::dump(&cloud).await.len(), expected.len(), "each election must have one row");
    let now = term(years.end)[0] + HOUR;
    let by_default = get_at(&cloud, "/v1/mayor/history", (now + HOUR) * 1_000).await.data();
    assert_eq!(by_default["history"].as_array().unwrap()[..], expected[..24], "24 by default");
    // At an earlier time, only the terms that had ended by then are shown.
    assert_eq!(history(&cloud, 50, term(first + 3)[0]).await, expected[expected.len() - 3..]);
    expect_clean_logs(&cloud);
}

/// A response of the provider with this mayor, elected in the year.
fn shown(year: i64, name: &str, perks: &Value) -> String {
    json!({
        "success": true,
        "lastUpdated": 1_777_388_398_578_i64,
        "mayor": {
            "key": name.to_lowercase(),
            "name": name,
            "perks": perks,
            "minister": {"key": "fishing", "name": "Marina", "perk": {"name": "M", "description": "m", "minister": true}},
            "election": {"year": year, "candidates": [{"key": "a", "name": "A", "perks": [], "votes": 5}]},
        },
        "current": {"year": year + 1, "candidates": []},
    })
    .to_string()
}

fn show(cloud: &Cloud, body: String) {
    simulator(cloud).set_fault(ELECTIONS, Fault::default().with_body(body));
}

/// The response of [`shown`], refreshed this many seconds later. If the year is `None`, the election is
/// missing.
fn refreshed(seconds: i64, year: Option<i64>, name: &str, perks: &[&str]) -> String {
    let described: Vec<_> = perks.iter().map(|name| json!({"name": name, "description": "d"})).collect();
    let text = shown(year.unwrap_or(1), name, &json!(described));
    let mut body: Value = serde_json::from_str(&text).unwrap();
    body["lastUpdated"] = (1_777_388_398_578 + seconds * 1_000).into();
    if year.is_none() {
        body["mayor"].as_object_mut().unwrap().remove("election");
        body["current"].take();
    }
    body.to_string()
}

/// The name and the perks of the mayor elected in the year.
async fn of_year(cloud: &Cloud, year: i64) -> (String, Vec<String>) {
    let began = rfc3339(term(year)[0]);
    let mayors = history(cloud, 100, term(year)[1]).await;
    let mayor = mayors.iter().find(|mayor| mayor["started_at"] == began).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    (name(mayor), mayor["perks"].as_array().unwrap().iter().map(name).collect())
}

#[tokio::test]
async fn a_response_has_the_documented_fields_and_unchanged_texts() {
    let cloud = start().await;
    let perks = json!([
        {"name": "Lucky!", "description": "Gain §d+25\u{e013} Pet Luck§7.", "minister": true},
        {"name": "It's \"quoted\" \\ \u{1f525}", "description": ""},
    ]);
    show(&cloud, shown(510, "Diana", &perks));
    let [begins, ends] = term(510);
    record(&cloud, RECORDER, begins).await;
    let response = get_at(&cloud, "/v1/mayor/history", ends * 1_000).await;
    let [began, ended] = [begins, ends].map(rfc3339);
    let perks = "[{\"name\":\"Lucky!\",\"description\":\"Gain §d+25\u{e013} Pet Luck§7.\"},\
        {\"name\":\"It's \\\"quoted\\\" \\\\ \u{1f525}\",\"description\":\"\"}]";
    let entry = format!(
        r#"{{"name":"Diana","key":"diana","perks":{perks},"started_at":"{began}","ended_at":"{ended}"}}"#
    );
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    assert_eq!(response.text, format!(r#"{{"success":true,"data":{{"history":[{entry}]}},"meta":{meta}}}"#));
    response.data();
}

#[tokio::test]
async fn the_perks_of_the_latest_response_with_perks_stay_in_any_order() {
    let cloud = start().await;
    let responses: [(i64, &[&str]); 4] = [(1, &["A", "B"]), (2, &["A", "B", "C"]), (3, &["C"]), (4, &[])];
    let mut random = fastrand::Rng::with_seed(1);
    let mut order = responses;
    for year in 500..510 {
        for (seconds, perks) in order {
            show(&cloud, refreshed(seconds, Some(year), "Takeover", perks));
            record(&cloud, RECORDER, term(year)[0] + DAY).await;
        }
        // Repeats all responses, and adds a response about another mayor with the time of the third response.
        let before = table::dump(&cloud).await;
        let again = order.map(|(seconds, perks)| refreshed(seconds, Some(year), "Takeover", perks));
        for body in again.into_iter().chain([refreshed(3, Some(year), "Cole", &["D"])]) {
            show(&cloud, body);
            assert_eq!(record(&cloud, RECORDER, term(year)[0]).await, json!({"year": year, "new": false}));
        }
        table::expect_same(&table::dump(&cloud).await, &before, &format!("{order:?}"));
        random.shuffle(&mut order);
    }
    let mayors = history(&cloud, 100, term(510)[0]).await;
    assert_eq!(mayors.len(), 10);
    for mayor in mayors {
        assert_eq!(mayor["perks"], json!([{"name": "C", "description": "d"}]), "{mayor}");
    }
}

#[tokio::test]
async fn a_row_without_the_time_of_the_provider_is_served_and_replaced() {
    let cloud = start().await;
    let stored = table::with(&table::mayor(501), "key", json!({"S": "m501"}));
    table::put(&cloud, [table::mayor(500), stored]).await;
    let recorded = async |seconds: i64, perks: &[&str]| {
        show(&cloud, refreshed(seconds, Some(501), "M501", perks));
        record(&cloud, RECORDER, term(501)[0]).await["new"] == true
    };
    assert!(!recorded(0, &[]).await, "a response without perks must not count as new");
    assert!(!recorded(0, &["P"]).await, "a response with the same perks must not count as new");
    assert!(recorded(1, &["B"]).await);
    assert_eq!(of_year(&cloud, 500).await.1, ["P"]);
    assert_eq!(of_year(&cloud, 501).await.1, ["B"]);
}

#[tokio::test]
async fn of_two_runs_at_once_the_later_response_stays() {
    let cloud = start_with_instances(4).await;
    for year in 500..510 {
        let time = term(year)[0];
        show(&cloud, refreshed(1, Some(year), "Takeover", &["A"]));
        let early = [record(&cloud, RECORDER, time), record(&cloud, RECORDER, time)];
        let early = futures_util::future::join_all(early);
        let late = async {
            show(&cloud, refreshed(2, Some(year), "Takeover", &["B"]));
            record(&cloud, RECORDER, time).await
        };
        tokio::join!(early, late);
        assert_eq!(of_year(&cloud, year).await.1, ["B"]);
    }
}

#[tokio::test]
async fn a_mayor_without_an_election_is_filed_under_the_term_of_the_calendar() {
    let cloud = start().await;
    let [begins, ends] = term(501);
    show(&cloud, refreshed(0, Some(501), "Paul", &["A"]));
    record(&cloud, RECORDER, begins).await;
    // The term has ended by the calendar, but a year in the response takes precedence.
    assert_eq!(record(&cloud, RECORDER, ends + 10 * MINUTE).await, json!({"year": 501, "new": false}));
    // In the first hour of the next term, the provider may still show the previous mayor.
    show(&cloud, refreshed(1, None, "Paul", &["A", "B"]));
    for time in [ends, ends + HOUR - MINUTE] {
        assert_eq!(record(&cloud, RECORDER, time).await, json!({"year": 502, "new": false}));
    }
    assert_eq!(table::dump(&cloud).await.len(), 1);
    show(&cloud, refreshed(2, None, "Takeover", &["A"]));
    assert_eq!(record(&cloud, RECORDER, ends + MINUTE).await, json!({"year": 502, "new": true}));
    show(&cloud, refreshed(3, None, "Takeover", &["A", "B"]));
    assert_eq!(record(&cloud, RECORDER, ends + DAY).await, json!({"year": 502, "new": true}));
    show(&cloud, refreshed(1, None, "Paul", &["A", "B"]));
    assert_eq!(
        record(&cloud, RECORDER, ends + DAY).await,
        json!({"year": 502, "new": false}),
        "an old response"
    );
    // The recorder assumes that the same mayor stays for another term, until a response names another winner
    // of the election.
    let ends = term(502)[1];
    show(&cloud, refreshed(4, None, "Takeover", &["C"]));
    assert_eq!(record(&cloud, RECORDER, ends + HOUR).await, json!({"year": 503, "new": true}));
    assert_eq!(of_year(&cloud, 503).await, ("Takeover".to_owned(), vec!["C".to_owned()]));
    show(&cloud, refreshed(5, Some(503), "Cole", &["D"]));
    assert_eq!(record(&cloud, RECORDER, ends + 2 * HOUR).await, json!({"year": 503, "new": true}));
    let names: Vec<_> =
        history(&cloud, 10, term(503)[1]).await.iter().map(|mayor| mayor["name"].clone()).collect();
    assert_eq!(names, ["Cole", "Takeover", "Paul"]);
    assert_eq!(of_year(&cloud, 501).await.1, ["A"], "a later term's response must not change this term");
    assert_eq!(of_year(&cloud, 502).await.1, ["A", "B"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_mayor_without_a_valid_year_is_not_recorded() {
    let cloud = start_with(without_repeated_fetches()).await;
    let good: Value = serde_json::from_str(&shown(500, "Paul", &json!([]))).unwrap();
    for year in [json!(0), json!(10_000), json!(500.5)] {
        let mut body = good.clone();
        body["mayor"]["election"]["year"] = year.clone();
        show(&cloud, body.to_string());
        let cause = super::failure(&cloud, RECORDER, super::event(term(500)[0])).await;
        assert!(cause.contains(ELECTIONS) && cause.contains("is invalid"), "{year}: {cause}");
        assert!(table::dump(&cloud).await.is_empty(), "{year}");
    }
    show(&cloud, good.to_string());
    assert_eq!(record(&cloud, RECORDER, term(500)[0]).await["new"], true);
    expect_clean_logs(&cloud);
}
