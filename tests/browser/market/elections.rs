//! Elections: open ones with and without votes, the closed booth, and the calendar behind their countdowns.

use serde_json::{Value, json};
use simulator::Fault;
use simulator::election::{closes_at, opens_at, seated_year};

use super::{NOTHING, open, settle, texts_of};
use crate::cloud::start;

/// The election that the provider shows under `current`.
enum Booth {
    Votes,
    Hidden,
    Closed,
}

/// A window that shows the mayor while the provider shows this. The second of three candidates leads.
async fn open_with(booth: &Booth) -> (local::Cloud, crate::window::Window) {
    let cloud = start().await;
    let now = cloud.clock().now_ms();
    let mut body: Value = serde_json::from_str(&simulator::election::body(1, now)).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.remove("current");
    if !matches!(booth, Booth::Closed) {
        let mut candidates = json!([
            {"key": "farming", "name": "Finnegan", "perks": [{"name": "GOATed", "description": "§eMore §7players.", "minister": true}], "votes": 300_000},
            {"key": "events", "name": "Foxy", "perks": null, "votes": 600_000},
            {"key": "mining", "name": "Cole", "perks": [null, 7, {"description": 5}], "votes": 100_000},
        ]);
        if matches!(booth, Booth::Hidden) {
            for candidate in candidates.as_array_mut().unwrap() {
                candidate.as_object_mut().unwrap().remove("votes");
            }
        }
        fields.insert("current".to_owned(), json!({"year": seated_year(now) + 1, "candidates": candidates}));
    }
    let fault = Fault::status(200).with_body(body.to_string());
    cloud.simulator().unwrap().set_fault("/v2/resources/skyblock/election", fault);
    let window = open(&cloud, "?view=mayor").await;
    settle(&window).await;
    (cloud, window)
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_are_bars_with_the_leader_first() {
    let (_cloud, mut window) = open_with(&Booth::Votes).await;
    assert_eq!(texts_of(&window, ".booth li strong").await[..2], ["Foxy", "Finnegan"]);
    assert_eq!(texts_of(&window, ".booth .share").await, ["60.00%", "30.00%", "10.00%"]);
    let widths = "(() => { const width = (selector) => \
        [...document.querySelectorAll(selector)].map((element) => element.getBoundingClientRect().width); \
        const whole = width('.booth .bar'); \
        return width('.booth .bar div').map((part, index) => Math.round((part / whole[index]) * 10)); })()";
    assert_eq!(window.evaluate(widths).await, json!([6, 3, 1]), "tenths of the bars");
    window.wait_for_text("600,000 votes").await;
    window.wait_for_text("The booth closes in").await;
    assert_eq!(texts_of(&window, ".booth summary").await, ["GOATed"], "what is no perk is left out");
    assert_eq!(window.inspect("market-mayor-votes").await, NOTHING);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_perk_is_its_name_and_its_description_without_a_blank_line() {
    let (_cloud, window) = open_with(&Booth::Votes).await;
    window.evaluate("document.querySelector('.booth details').open = true").await;
    assert_eq!(texts_of(&window, ".booth .perks li").await, ["GOATed (also as minister)\nMore players."]);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_votes_are_said_to_be_hidden() {
    let (_cloud, window) = open_with(&Booth::Hidden).await;
    window.wait_for_text("The game hides the votes at the moment.").await;
    assert_eq!(texts_of(&window, ".booth .candidate strong").await, ["Finnegan", "Foxy", "Cole"]);
    assert_eq!(window.evaluate("document.querySelectorAll('.booth .bar').length").await, 0);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_booth_is_said_to_be_closed() {
    let (_cloud, mut window) = open_with(&Booth::Closed).await;
    window.wait_for_text("The booth is closed.").await;
    window.wait_for_text("It opens").await;
    window.wait_for_text("The term ends in").await;
    window.wait_for_text("No past mayor has been recorded yet.").await;
    assert_eq!(window.inspect("market-mayor-closed").await, NOTHING);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_knows_the_calendar_of_the_game() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    for year in [1, 405, 527, 9_999] {
        let times = window
            .evaluate(&format!(
                "import(new URL('calendar.js', document.querySelector('script[type=module]').src))\
                 .then(({{ opensAt, closesAt }}) => [opensAt({year}), closesAt({year})])"
            ))
            .await;
        assert_eq!(times, json!([opens_at(year), closes_at(year)]), "{year}");
    }
    window.expect_clean(&[]);
}
