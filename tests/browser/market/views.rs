//! Every view is shown, accessible, and has an address and a title (the item's view: `item.rs`). The status
//! view says whether each feed is healthy.

use std::collections::BTreeSet;

use simulator::Fault;

use super::{open, settle, texts_of};
use crate::cloud::{ITEM, pro_key, start, start_with_past_of_auctions};
use crate::window::Window;

const UNCHANGED: &str = "Prices have not changed since ";

/// The views with the names of their links and their headings.
const VIEWS: [(&str, &str, &str); 7] = [
    ("items", "Items", "Items"),
    ("flips", "Flips", "Flips"),
    ("auctions", "Auctions", "Auctions"),
    ("watch", "Watched", "Watched items"),
    ("mayor", "Mayor", "Mayor and election"),
    ("sales", "Fire sales", "Fire sales"),
    ("status", "Status", "Status"),
];

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_view_has_an_address_and_a_title_and_can_be_used_by_everyone() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, "").await;
    window.evaluate(&format!("localStorage.setItem('watched', '[{{\"id\":\"{ITEM}\"}}]')")).await;
    window.reload().await;
    settle(&window).await;
    let headings =
        ["Watched", "Movers", "Most traded", "Most sold in auctions", "Best flips", "Mayor", "Fire sales"];
    assert_eq!(texts_of(&window, "h2").await, headings);
    window.wait("document.querySelector('[aria-labelledby=movers] td')?.innerText.endsWith('%')").await;
    window.inspect("market-overview").await;
    for (view, label, heading) in VIEWS {
        window.click("link", label).await;
        window.wait_for("heading", heading).await;
        assert_eq!(window.address().await, format!("/market?view={view}"));
        assert_eq!(window.evaluate("document.title").await, format!("{label} – Market"));
        settle(&window).await;
        window.inspect(&format!("market-{view}")).await;
    }
    window.reload().await;
    for (view, _, heading) in VIEWS.into_iter().rev() {
        window.wait_for("heading", heading).await;
        assert_eq!(window.address().await, format!("/market?view={view}"));
        window.back().await;
    }
    window.open("/market?view=nothing").await;
    window.wait_for("heading", "Not found").await;
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
    // Prices that are recorded meanwhile change the order, so only the names are compared.
    let filtered: BTreeSet<_> = texts_of(&window, "tbody th a").await.into_iter().collect();
    assert!(
        !filtered.is_empty() && filtered.iter().all(|name| name.to_lowercase().contains(&word)),
        "{filtered:?}"
    );
    window.reload().await;
    settle(&window).await;
    let reloaded: BTreeSet<_> = texts_of(&window, "tbody th a").await.into_iter().collect();
    assert_eq!(reloaded, filtered, "the filter must survive a reload");
    assert!(margins().await.is_sorted(), "the sort must survive a reload");
    window.open("/market?view=flips").await;
    for target in ["td", "a"] {
        window.wait_for("heading", "Flips").await;
        settle(&window).await;
        window.evaluate("scrollTo(0, document.body.scrollHeight)").await;
        window.evaluate(&format!("document.querySelector('tbody tr:last-child {target}').click()")).await;
        window.wait("location.search.startsWith('?item=') && document.querySelector('.tiles')").await;
        let state = window.evaluate("[scrollY, document.activeElement.id]").await;
        assert_eq!(state, serde_json::json!([0, "main"]), "the view is shown from its top");
        window.back().await;
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_feed_says_in_words_whether_it_is_healthy_and_without_a_key() {
    let cloud = start().await;
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    cloud.invoke("record-mayor", format!(r#"{{"time":"{time}","backfill":true}}"#)).await.unwrap();
    let window = Window::new(&cloud.url(), &pro_key(&cloud)).await;
    window.open("/market?view=status").await;
    window.wait_for_text("Not healthy: Bazaar prices, Candles, Fire sales, Auction prices.").await;
    let states = texts_of(&window, "[data-feed] > p").await;
    assert_eq!(states, ["✕ Not healthy", "✕ Not healthy", "✓ Healthy", "✕ Not healthy", "✕ Not healthy"]);
    assert_eq!(texts_of(&window, "[data-feed=bazaar] dd").await[..2], ["Nothing yet", "–"]);
    window.inspect("market-status-unhealthy").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prices_that_have_not_changed_for_ten_minutes_say_since_when() {
    let cloud = start().await;
    let fault = Fault { back_ms: 12 * 60_000, ..Fault::default() };
    cloud.simulator().unwrap().set_fault("/v2/skyblock/bazaar", fault);
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    cloud.invoke("record-bazaar", format!(r#"{{"time":"{time}","backfill":true}}"#)).await.unwrap();
    let window = open(&cloud, "?view=auctions").await;
    window.wait_for_text("Prices: ").await;
    assert!(!window.text().await.contains(UNCHANGED), "auctions change");
    for view in ["view=items".to_owned(), "view=flips".to_owned(), format!("item={ITEM}")] {
        window.open(&format!("/market?{view}")).await;
        window.wait_for_text(UNCHANGED).await;
    }
    window.inspect("market-item-unchanged").await;
    window.open("/market?view=status").await;
    window.wait_for_text("Not healthy: Bazaar prices,").await;
    let lines = texts_of(&window, "[data-feed] .late").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(texts_of(&window, "[data-feed=bazaar] .late").await, lines);
    window.inspect("market-status-unchanged").await;
    window.expect_clean(&[]);
}
