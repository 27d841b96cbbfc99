//! Elections: open ones with and without votes, the closed booth, and the calendar behind their countdowns.

use serde_json::{Value, json};
use simulator::Fault;
use simulator::election::{closes_at, opens_at, seated_year};

use super::defects::{go, replace};
use super::series::run;
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
    window.wait_for_text("Foxy leads by 300,000 votes, 30.0 points.").await;
    let perks = texts_of(&window, ".booth .perks li").await;
    assert_eq!(perks, ["GOATed (also as minister)\nMore players."], "what is no perk is left out");
    assert_eq!(window.inspect("market-mayor-votes").await, NOTHING);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_votes_are_said_to_be_hidden() {
    let (_cloud, window) = open_with(&Booth::Hidden).await;
    window.wait_for_text("The game hides the votes at the moment.").await;
    assert_eq!(texts_of(&window, ".booth .candidate strong").await, ["Finnegan", "Foxy", "Cole"]);
    assert_eq!(window.evaluate("document.querySelectorAll('.booth .bar').length").await, 0);
    assert!(!window.text().await.contains("leads"));
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

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_minister_came_second_and_a_special_mayor_has_none() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let candidate = |name: &str, votes: u32, is_ministers: bool| {
        json!({"key": name, "name": name, "votes": votes, "perks": [
            {"name": "First", "description": "No.", "minister": false},
            {"name": "Second", "description": "Of the minister.", "minister": is_ministers},
        ]})
    };
    for (is_special, expected) in [(false, vec!["Minister: Cole"]), (true, vec![])] {
        let candidates =
            [candidate("Cole", 20, true), candidate("Paul", 30, !is_special), candidate("Diana", 10, true)];
        let election = json!({"year": 500, "candidates": candidates});
        let mayor =
            json!({"mayor": {"key": "m", "name": "Paul", "perks": []}, "election": election, "current": {}});
        replace(&window, "v1/mayor", &format!("path === 'v1/mayor' ? success({mayor}) : pass()")).await;
        go(&window, "?view=mayor").await;
        window.wait_for("heading", "How Paul was elected").await;
        assert_eq!(texts_of(&window, "section[aria-labelledby=sitting] h3").await, expected);
        let perks = texts_of(&window, "section[aria-labelledby=sitting] li").await;
        assert_eq!(perks, vec!["Second\nOf the minister."; expected.len()]);
        window.reload().await;
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_are_the_medians_over_the_terms_of_what_is_traded_enough() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let body = "const candles = (prices) => Object.entries(prices).map(([item_id, [sell_close, buy_close]]) => ({ item_id, sell_close, buy_close }));
        const round = (moves) => moves.map(({ id, change }) => [id, Math.round(change * 10) / 10]);
        return given.map((terms) => {
          const { rises, falls } = module.movesOf(terms.map((days) => days.map(candles)));
          return [round(rises), round(falls)];
        });";
    let before = json!({
        "A": [900, 1_100], "B": [1_000, 1_000], "C": [1_000, 1_000], "SAME": [500, 500], "CHEAP": [99, 99], "WIDE": [100, 151],
        "EMPTY": [500, 0], "NEW": [500, 500], "D": [200, 300], "E": [100, 100], "F": [100, 100], "G": [100, 100], "H": [100, 100],
    });
    let last = |a: u32, b: u32, extra: &str| {
        let mut last = json!({
            "A": [a, a], "B": [b, b], "C": [990, 1_010], "SAME": [500, 500], "CHEAP": [990, 990], "WIDE": [900, 900], "EMPTY": [900, 900],
            "D": [260, 260], "E": [105, 105], "F": [106, 106], "G": [107, 107], "H": [108, 108],
        });
        last[extra] = json!([990, 990]);
        last
    };
    let three = json!([
        [before, last(5_000, 500, "NEW")],
        [before, last(1_200, 900, "NEW")],
        [before, last(1_100, 950, "X")]
    ]);
    let two = json!([[before, last(1_200, 500, "NEW")], [before, last(1_100, 900, "NEW")]]);
    let found = run(&window, "moves.js", &json!([three, two, [], [[{}, before]]]), body).await;
    let expected = json!([
        [[["A", 20], ["H", 8], ["G", 7], ["F", 6], ["E", 5]], [["B", -10]]],
        [[["NEW", 98], ["A", 15], ["H", 8], ["G", 7], ["F", 6]], [["B", -30]]],
        [[], []],
        [[], []],
    ]);
    assert_eq!(found, expected);
    let days = "return given.map((time) => new URLSearchParams(module.pathBefore(time).split('?')[1]).get('opened_at'));";
    let times = json!(["2026-11-15T11:15:00Z", "2026-11-16T00:00:00Z", "2026-11-15T23:59:59Z"]);
    let expected = ["2026-11-14T00:00:00Z", "2026-11-15T00:00:00Z", "2026-11-14T00:00:00Z"];
    assert_eq!(run(&window, "moves.js", &times, days).await, json!(expected));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_moved_in_past_terms_is_shown_when_a_button_asks_for_it() {
    let cloud = start().await;
    let mut window = open(&cloud, "?view=status").await;
    // On the last day of a term, the first three products cost less than before it, and the last three more.
    let script = "window.missing = 503;
        window.respond = (path, success) => {
          const term = (name, started_at, ended_at) => ({ name, key: 'k', perks: [], started_at, ended_at });
          if (path === 'v1/mayor') return success({ mayor: { name: 'Paul', key: 'k', perks: [] }, election: {}, current: { candidates:
            [{ name: 'Cole', key: 'c', votes: 3 }, { name: 'Paul', key: 'k', votes: 1 }] } });
          if (path.includes('history')) return success({ history: [term('Paul', '2026-11-15T11:15:00Z', '2026-11-20T15:15:00Z'),
            term('Marina', '2026-11-10T07:15:00Z', '2026-11-15T11:15:00Z'), term('Paul', '2026-06-10T07:15:00Z', '2026-06-15T11:15:00Z'),
            term('Paul', '2026-03-01T07:15:00Z', '2026-03-06T11:15:00Z'), term('Paul', '2025-01-01T07:15:00Z', '2025-01-06T11:15:00Z')] });
          if (path.includes('2026-03')) return new Response('{}', { status: missing, headers: { 'Retry-After': 1 } });
          const isLast = path.includes('2026-11-19') || path.includes('2026-06-14');
          return success({ candles: ['COAL', 'CLAY', 'DIRT', 'EMERALD', 'FLINT', 'INK_SACK:3', 'LOG:2'].map((item_id, index) =>
            ({ item_id, sell_close: 1000, buy_close: 1100 + (isLast ? (index - 3) * 21 : 0) })) });
        };
        undefined";
    window.evaluate(script).await;
    replace(&window, "v1/", "/mayor|candles/.test(path) ? respond(path, success) : pass()").await;
    go(&window, "?view=mayor").await;
    window.wait_for_text("Cole leads the election. No past term has been recorded.").await;
    window.wait_for("heading", "What moved in the last three terms of Paul").await;
    let paths = "new Set(asked.map(([path]) => path).filter((path) => path.includes('candles'))).size";
    assert_eq!(window.evaluate(paths).await, 0, "before the button is pressed");
    window.click("button", "Show what moved").await;
    window.wait_for_text("The service has a problem at the moment.").await;
    window.evaluate("void (missing = 404)").await;
    // It may be repeated after a second.
    let press = "document.querySelector('[aria-labelledby=moves] button')?.click()";
    window.wait(&format!("({press}, document.querySelector('[aria-labelledby=moves] ol'))")).await;
    window.wait_for_text("No prices were recorded for the term 1").await;
    let moves = texts_of(&window, "[aria-labelledby=moves] li .figures").await;
    assert_eq!(moves, ["+3.0%", "+2.0%", "+1.0%", "-3.0%", "-2.0%", "-1.0%"]);
    assert_eq!(window.evaluate(paths).await, 6);
    assert_eq!(window.inspect("market-mayor-moves").await, NOTHING);
    window.click("link", "Flint").await;
    window.wait("location.search === '?item=FLINT'").await;
    window.expect_clean(&[]);
}
