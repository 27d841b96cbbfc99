//! The first view has the best flips, the leader of the election, the next fire sale, and a line about the
//! age of its data.

use serde_json::{Value, json};

use super::decide::product;
use super::defects::{go, replace, stop_clock};
use super::{open, settle, texts_of};
use crate::cloud::start;
use crate::window::Window;

/// Shows the view with these data of the mayor and fire sales, and with prices of this age. The window must
/// show the status.
async fn show(window: &Window, mayor: &Value, sales: &Value, age_ms: u32) {
    let products = [
        product("COAL", [100.0, 110.0], [100.0, 110.0], 168_000),
        product("DIAMOND", [1_000_000.0, 1_200_000.0], [1_000_000.0, 1_200_000.0], 1_680),
        product("FLINT", [100.0, 102.0], [100.0, 102.0], 168_000),
        // The average buy order is far below the best one.
        product("ICE", [100.0, 104.0], [90.0, 104.0], 168_000),
    ];
    let averages = json!({"until": "2026-11-28T00:00:00Z", "items": [{"id": "A", "sales": 7}]});
    let response = format!(
        "path.includes('mode=prices') ? success({{ lastUpdated: Date.now() - {age_ms}, items: {} }}) : path.includes('averages') ? success({averages})
         : path === 'v1/mayor' ? success({mayor}) : path === 'v1/fire-sales' ? success({sales}) : new Promise(() => {{}})",
        json!(products)
    );
    replace(window, "v1/", &response).await;
    go(window, "?").await;
    window
        .wait("['flips', 'mayor', 'sales'].every((card) => document.querySelector(`[aria-labelledby=${card}]`)?.ariaBusy === 'false')")
        .await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_best_flips_the_leader_and_the_next_fire_sale_are_on_the_first_view() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    let candidate =
        |name: &str, votes: Option<u32>| json!({"key": "k", "name": name, "votes": votes, "perks": []});
    let elected = |candidates: Value| json!({"mayor": {"name": "Marina", "key": "m", "perks": []}, "election": {"year": 520}, "current": {"candidates": candidates}});
    let now = jiff::Timestamp::now().as_millisecond();
    let sale = |id: &str, from: i64, to: i64| json!({"item_id": id, "start": now + from * 3_600_000, "end": now + to * 3_600_000, "amount": 9, "price": 650});
    let mayor = elected(json!([
        candidate("Cole", Some(100)),
        candidate("Foxy", Some(300)),
        candidate("Paul", Some(0))
    ]));
    let sales = json!({"sales": [sale("LATER_HAT", 50, 60), sale("PAST_HAT", -9, -1), sale("PET_SKIN_DODO", 20, 30)]});
    show(&window, &mayor, &sales, 12_000).await;
    let flips = texts_of(&window, "[aria-labelledby=flips] tbody tr").await;
    for (flip, parts) in flips.iter().zip([["Diamond", "1,850,000"], ["Coal", "8,625"], ["Ice", "2,700"]]) {
        assert!(parts.iter().all(|part| flip.contains(part)), "{parts:?}: {flip}");
    }
    assert_eq!((flips.len(), texts_of(&window, ".unsure").await), (3, vec!["≠ averages".to_owned()]));
    window.wait_for_text("The coins of all players together").await;
    let paragraphs = texts_of(&window, "[aria-labelledby=mayor] p").await;
    assert_eq!(paragraphs[0], "Marina is in office.");
    assert_eq!(paragraphs[2], "Foxy leads the election with 75.00% of the votes.");
    let paragraphs = texts_of(&window, "[aria-labelledby=sales] p").await;
    assert_eq!((&*paragraphs[0], &*paragraphs[2]), ("Dodo Pet Skin for 650 gems", "1 more sale"));
    assert!(paragraphs[1].starts_with("Announced, starts in "), "{paragraphs:?}");
    window.inspect("market-overview-computed").await;

    let hidden = elected(json!([candidate("Cole", None)]));
    window.open("/market?view=status").await;
    settle(&window).await;
    show(&window, &hidden, &json!({"sales": [sale("PET_SKIN_DODO", -2, 2)]}), 12_000).await;
    window.wait_for_text("The leader of the election is not known.").await;
    window.wait_for_text("On sale, ends in ").await;
    window.open("/market?view=status").await;
    settle(&window).await;
    show(&window, &elected(json!([])), &json!({"sales": [sale("PET_SKIN_DODO", -2, -1)]}), 12_000).await;
    window.wait_for_text("No fire sale is on or announced.").await;
    assert!(!window.text().await.contains("leader"));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_says_how_old_the_data_are_and_requests_no_status() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let mayor = json!({"mayor": {"name": "Marina"}, "election": {}, "current": {}});
    for (now, age_ms, line) in [
        (
            "2026-11-28T01:20:00Z",
            12_000,
            "✓ Healthy: prices of the bazaar 12 s old, sales in auctions until 28 Nov 2026, 00:00",
        ),
        (
            "2026-11-28T01:20:00Z",
            600_000,
            "✕ Not healthy: prices of the bazaar 10 min old, sales in auctions until 28 Nov 2026, 00:00",
        ),
        (
            "2026-11-28T01:31:00Z",
            12_000,
            "✕ Not healthy: prices of the bazaar 12 s old, sales in auctions until 28 Nov 2026, 00:00",
        ),
    ] {
        window.open("/market?view=status").await;
        stop_clock(&window, now).await;
        show(&window, &mayor, &json!({"sales": []}), age_ms).await;
        window.wait(&format!("document.querySelector('.intro .figures')?.innerText === {line:?}")).await;
        assert_eq!(window.evaluate("asked.filter(([path]) => path.includes('status')).length").await, 0);
    }
    window.expect_clean(&[]);
}
