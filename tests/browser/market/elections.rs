//! The page shows the mayor, the minister, open and closed elections with exact countdowns, and price moves
//! in a mayor's past terms.

use serde_json::{Value, json};
use simulator::election::{closes_at, opens_at, seated_year};

use super::defects::{go, replace};
use super::series::run;
use super::{open, settle, texts_of};
use crate::cloud::start;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_are_bars_with_the_leader_first_and_hidden_ones_and_a_closed_booth_are_said() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    // No term ends within the next five minutes.
    let year = seated_year(cloud.clock().now_ms() + 300_000);
    // The second of these three candidates leads.
    let candidates = json!([
        {"key": "farming", "name": "Finnegan", "perks": [{"name": "GOATed", "description": "§eMore §7players.", "minister": true}], "votes": 300_000},
        {"key": "events", "name": "Foxy", "perks": null, "votes": 600_000},
        {"key": "mining", "name": "Cole", "perks": [null, 7, {"description": 5}], "votes": 100_000},
    ]);
    let show = async |current: Value| {
        let mayor = json!({"key": "economist", "name": "Diana", "perks": []});
        let data = json!({"mayor": mayor, "election": {"year": year}, "current": current});
        window.open("/market?view=status").await;
        window.wait_for("button", "Key").await;
        replace(&window, "v1/mayor", &format!("path === 'v1/mayor' ? success({data}) : pass()")).await;
        go(&window, "?view=mayor").await;
        window.wait_for_text("The term ends in").await;
        settle(&window).await;
    };
    show(json!({"year": year + 1, "candidates": candidates})).await;
    assert_eq!(texts_of(&window, ".booth li strong").await[..2], ["Foxy", "Finnegan"]);
    assert_eq!(texts_of(&window, ".booth .share").await, ["60.00%", "30.00%", "10.00%"]);
    window.wait_for_text("600,000 votes").await;
    window.wait_for_text("The booth closes in").await;
    window.wait_for_text("Foxy leads by 300,000 votes, 30.0 points.").await;
    let perks = texts_of(&window, ".booth .perks li").await;
    assert_eq!(perks, ["GOATed (also as minister)\nMore players."], "only perks are shown");
    window.inspect("market-mayor-votes").await;

    let hidden = ["Finnegan", "Foxy", "Cole"].map(|name| json!({"name": name}));
    show(json!({"year": year + 1, "candidates": hidden})).await;
    window.wait_for_text("The game hides the votes at the moment.").await;
    assert_eq!(texts_of(&window, ".booth .candidate strong").await, ["Finnegan", "Foxy", "Cole"]);
    assert_eq!(texts_of(&window, ".booth .share").await, [""; 0]);

    show(json!({"candidates": []})).await;
    window.wait_for_text("The booth is closed.").await;
    window.wait_for_text("It opens").await;
    window.wait_for_text("No past mayor has been recorded yet.").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calendar_is_exact() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let years = [1, 405, 527, 9_999];
    let body = "return given.map((year) => [module.opensAt(year), module.closesAt(year)]);";
    let expected = years.map(|year| [opens_at(year), closes_at(year)]);
    assert_eq!(run(&window, "calendar.js", &json!(years), body).await, json!(expected));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_moved_in_past_terms_is_shown_when_a_button_asks_for_it() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    // On the last day of each term, the first three products cost less than on the day before the term, and
    // the last three cost more.
    let script = "window.missing = 503;
        const perk = { name: 'Lucky!', description: 'Gain §d+25 Pet Luck§7.', minister: true };
        window.respond = (path, success) => {
          const term = (name, started_at, ended_at) => ({ name, key: 'k', perks: [], started_at, ended_at });
          if (path === 'v1/mayor') return success({ mayor: { name: 'Paul', key: 'k', perks: [] }, current: { candidates:
            [{ name: 'Cole', key: 'c', votes: 3 }, { name: 'Paul', key: 'k', votes: 1 }] }, election: { candidates:
            [{ name: 'Paul', votes: 2, perks: [perk] }, { name: 'Diana', votes: 1, perks: [perk] }] } });
          if (path.includes('history')) return success({ history: [term('Paul', '2026-11-15T11:15:00Z', '2026-11-20T15:15:00Z'),
            term('Marina', '2026-11-10T07:15:00Z', '2026-11-15T11:15:00Z'), term('Paul', '2026-06-10T07:15:00Z', '2026-06-15T11:15:00Z'),
            term('Paul', '2026-03-01T07:15:00Z', '2026-03-06T11:15:00Z'), term('Paul', '2025-01-01T07:15:00Z', '2025-01-06T11:15:00Z')] });
          if (path.includes('2026-03')) return new Response('{}', { status: missing, headers: { 'Retry-After': 1 } });
          const isLast = path.includes('2026-11-19') || path.includes('2026-06-14');
          return success({ candles: ['COAL', 'CLAY', 'DIRT', 'EMERALD', 'FLINT', 'INK_SACK:3', 'LOG:2'].map((item_id, index) =>
            ({ item_id, buy_order_close: 1000, sell_offer_close: 1100 + (isLast ? (index - 3) * 21 : 0) })) });
        };
        undefined";
    window.evaluate(script).await;
    replace(&window, "v1/", "/mayor|candles/.test(path) ? respond(path, success) : pass()").await;
    go(&window, "?view=mayor").await;
    window.wait_for_text("Cole leads the election. No past term has been recorded.").await;
    window.wait_for("heading", "What moved in the last three terms of Paul").await;
    window.wait_for("heading", "Minister: Diana").await;
    assert_eq!(texts_of(&window, "[aria-labelledby=sitting] li").await, ["Lucky!\nGain +25 Pet Luck."]);
    let paths = "new Set(asked.map(([path]) => path).filter((path) => path.includes('candles'))).size";
    assert_eq!(window.evaluate(paths).await, 0, "no candles may be requested before the button is pressed");
    window.click("button", "Show what moved").await;
    window.wait_for_text("The service has a problem at the moment.").await;
    window.evaluate("void (missing = 404)").await;
    // The page may itself repeat the request after a second, so the button may be gone.
    let press = "document.querySelector('[aria-labelledby=moves] button')?.click()";
    window.wait(&format!("({press}, document.querySelector('[aria-labelledby=moves] ol'))")).await;
    window.wait_for_text("No prices were recorded for the term 1").await;
    let moves = texts_of(&window, "[aria-labelledby=moves] li .figures").await;
    assert_eq!(moves, ["+3.0%", "+2.0%", "+1.0%", "-3.0%", "-2.0%", "-1.0%"]);
    assert_eq!(window.evaluate(paths).await, 6);
    window.inspect("market-mayor-moves").await;
    window.click("link", "Flint").await;
    window.wait("location.search === '?item=FLINT'").await;
    window.expect_clean(&[]);
}
