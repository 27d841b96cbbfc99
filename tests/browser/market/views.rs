//! Every view except that of an item: its content, its title, and its accessibility.

use std::time::Duration;

use simulator::Fault;

use super::{NOTHING, open, open_at, settle, texts_of};
use crate::cloud::{start, start_with_past_of_auctions};
use crate::stage::Stage;
use crate::window::{PHONE, is_of_days};

/// The views with their headings.
const VIEWS: [(&str, &str); 7] = [
    ("items", "Items"),
    ("flips", "Flips"),
    ("auctions", "Auctions"),
    ("watch", "Watched items"),
    ("mayor", "Mayor and election"),
    ("sales", "Fire sales"),
    ("status", "Status"),
];

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_view_can_be_used_by_everyone_in_both_schemes_and_widths() {
    let cloud = start_with_past_of_auctions().await;
    let mut window = open(&cloud, "").await;
    settle(&window).await;
    let mut found = window.inspect_whole("market-overview", PHONE).await;
    for (view, heading) in VIEWS {
        window.open(&format!("/market?view={view}")).await;
        window.wait_for("heading", heading).await;
        settle(&window).await;
        found.extend(window.inspect_whole(&format!("market-{view}"), PHONE).await);
    }
    window.open("/market?view=nothing").await;
    window.wait_for("heading", "Not found").await;
    found.extend(window.inspect_whole("market-no-such-view", PHONE).await);
    assert_eq!(found, NOTHING);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_view_has_an_address_and_a_title_that_survive_reload_and_back() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    let titles = [("Flips", "flips"), ("Mayor", "mayor"), ("Fire sales", "sales"), ("Status", "status")];
    for (label, view) in titles {
        window.click("link", label).await;
        window.wait(&format!("document.title === '{label} – Market'")).await;
        assert_eq!(window.address().await, format!("/market?view={view}"));
        window.reload().await;
        window.wait(&format!("document.title === '{label} – Market'")).await;
    }
    for (label, view) in titles.into_iter().rev().skip(1) {
        window.back().await;
        window.wait(&format!("document.title === '{label} – Market'")).await;
        assert_eq!(window.address().await, format!("/market?view={view}"));
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flips_are_sorted_and_filtered_and_each_leads_to_its_item() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    settle(&window).await;
    let margins = async || {
        let texts = texts_of(&window, "tbody td:nth-child(4)").await;
        texts.iter().map(|text| text.replace(['%', ','], "").parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    window.focus("button", "Margin").await;
    window.press("Enter").await;
    window.wait("document.querySelector('[aria-sort=descending]')?.innerText.startsWith('Margin')").await;
    let falling = margins().await;
    assert!(falling.len() >= 20 && falling.is_sorted_by(|one, other| one >= other), "{falling:?}");
    window.press("Enter").await;
    window.wait("document.querySelector('[aria-sort=ascending]')").await;
    assert!(margins().await.is_sorted());
    assert_eq!(window.address().await, "/market?view=flips&sort=margin");

    let names = texts_of(&window, "tbody th a").await;
    let word = names[0].split(' ').next().unwrap().to_lowercase();
    window.focus("searchbox", "Filter by name").await;
    window.type_text(&word).await;
    window.wait(&format!("document.querySelectorAll('tbody tr').length < {}", names.len())).await;
    let filtered = texts_of(&window, "tbody th a").await;
    assert!(
        !filtered.is_empty() && filtered.iter().all(|name| name.to_lowercase().contains(&word)),
        "{filtered:?}"
    );
    window.reload().await;
    settle(&window).await;
    assert_eq!(texts_of(&window, "tbody th a").await, filtered, "sort and filter survive a reload");
    window.click("link", &filtered[0]).await;
    window.wait("location.search.startsWith('?item=')").await;
    window.back().await;
    window.wait_for("heading", "Flips").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_opened_at_its_top_with_the_focus_in_it() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    for act in [
        "document.querySelector('tbody tr:last-child td').click()",
        "document.querySelector('tbody tr:last-child a').click()",
    ] {
        window.wait_for("heading", "Flips").await;
        settle(&window).await;
        window.evaluate("scrollTo(0, document.body.scrollHeight)").await;
        assert_ne!(window.evaluate("scrollY").await, 0);
        window.evaluate(act).await;
        window.wait("location.search.startsWith('?item=') && document.querySelector('.tiles')").await;
        let state = window.evaluate("[scrollY, document.activeElement.id]").await;
        assert_eq!(state, serde_json::json!([0, "main"]));
        window.back().await;
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_data_load_there_are_skeletons_and_nothing_moves_when_they_come() {
    let cloud = start().await;
    let mut window = open(&cloud, "?view=status").await;
    let slow = |path: &str| cloud.simulator().unwrap().set_fault(path, Fault::delay(Duration::from_secs(4)));
    slow("/v2/skyblock/bazaar");
    slow("/v2/resources/skyblock/election");
    slow("/v2/skyblock/firesales");
    let mut shifts = Vec::new();
    for (view, heading) in VIEWS {
        window.open(&format!("/market?view={view}")).await;
        window.wait_for("heading", heading).await;
        if view == "flips" {
            assert_eq!(window.inspect("market-loading").await, NOTHING);
            window.open("/market?view=mayor").await;
            window.open("/market?view=flips").await;
        }
        let before = window.seen().layout_shift();
        settle(&window).await;
        shifts.push((view, window.seen().layout_shift() - before));
    }
    // Browsers call up to 0.1 good. What moves depends on the order in which the responses arrive.
    println!("layout shifts: {shifts:?}");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_stage_everything_works_as_at_a_root() {
    let cloud = start().await;
    let stage = Stage::of(&cloud).await;
    let window = open_at(stage.url(), &cloud, "/?view=flips").await;
    assert_eq!(window.address().await, "/market?view=flips", "the slash at the end is gone");
    settle(&window).await;
    for (label, heading) in [("Mayor", "Mayor and election"), ("Status", "Status")] {
        window.click("link", label).await;
        window.wait_for("heading", heading).await;
        settle(&window).await;
    }
    window.reload().await;
    window.wait_for("heading", "Status").await;
    let seen = window.seen();
    let requests = seen.requests().filter(|request| !is_of_days(&request.url));
    let statuses: Vec<_> = requests.filter_map(|request| request.status).collect();
    assert!(statuses.iter().all(|status| *status < 400), "{statuses:?}");
    window.expect_clean(&[]);
}
