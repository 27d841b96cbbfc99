//! The item page: instant prices and the spread come from the best orders, averages are labelled, and an
//! empty side has no price.

use serde_json::json;

use super::defects::{go, replace};
use super::{open, settle, texts_of};
use crate::cloud::{ITEM, start};
use crate::window::Window;

/// The best orders of a real product, with a spread of 23 %.
const BEST: [f64; 2] = [206_236.0, 253_670.3];

/// The averages of the same product, with a spread of 262 %.
const AVERAGES: [f64; 2] = [70_201.4, 254_128.9];

/// The time of all prices in these tests, in Unix milliseconds.
const LAST_UPDATED: i64 = 1_795_325_498_613;

/// Shows the item with these best orders and averages. A side without a best order is empty.
async fn show(window: &Window, id: &str, best: [Option<f64>; 2], averages: [f64; 2]) {
    let orders = |price: Option<f64>| -> Vec<_> {
        price.iter().map(|price| json!({"price": price, "amount": 7, "orders": 1})).collect()
    };
    let book = json!({
        "id": id, "lastUpdated": LAST_UPDATED, "topBuyOrder": best[0], "topSellOffer": best[1],
        "buyOrders": orders(best[0]), "sellOffers": orders(best[1]), "sellPrice": averages[0], "buyPrice": averages[1],
    });
    let item = json!({
        "id": id, "sellPrice": averages[0], "buyPrice": averages[1], "sellVolume": 4, "buyVolume": 7,
        "spread": averages[1] - averages[0], "spreadPercent": 0.0,
        "sellMovingWeek": 1_584_797_717, "buyMovingWeek": 31_317,
    });
    replace(
        window,
        "v1/bazaar?",
        &format!("path.includes('mode=book') ? success({book}) : path.includes('mode=item') ? success({item}) : pass()"),
    )
    .await;
    go(window, "?view=status").await;
    go(window, &format!("?item={id}")).await;
    window.wait("document.querySelector('.tiles')").await;
    settle(window).await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instant_prices_and_the_spread_are_those_of_the_best_orders() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    show(&window, ITEM, BEST.map(Some), AVERAGES).await;
    let figures = texts_of(&window, ".tiles .tile").await;
    for (figure, parts) in figures.iter().zip([
        ["Best buy order", "206,236"],
        ["Best sell offer", "253,670"],
        ["47,434", "23.00%"],
    ]) {
        assert!(parts.iter().all(|part| figure.contains(part)), "{parts:?}: {figure}");
    }
    let age = window.evaluate("document.querySelector('.late').innerText").await;
    assert!(age.as_str().is_some_and(|age| age.starts_with('⚠') && age.ends_with(" ago")), "{age}");
    for (count, expected) in figures[4..8].iter().zip(["4", "7", "1.58B", "31,317"]) {
        assert!(count.contains(expected), "{count}");
    }
    for (side, price) in [("first", "206,236"), ("second", "253,670.3")] {
        let cells = texts_of(&window, &format!(".book table.{side} tbody tr:first-child td")).await;
        assert!(cells[0].starts_with(price) && cells[1..] == ["7", "1"], "{cells:?}");
    }
    for (average, price) in figures[8..].iter().zip(["70,201", "254,129"]) {
        assert!(average.contains(price) && average.contains("best 2 % of the volume"), "{average}");
    }
    window.inspect("market-item-prices").await;
    // 1e15 is in the future of every clock.
    let response = "pass().then((response) => response.json()).then(({ data }) => success({ ...data, lastUpdated: 1e15 }))";
    replace(&window, "mode=book", response).await;
    go(&window, "?item=COAL").await;
    window.wait_for_text("0 s ago").await;
    assert_eq!(window.evaluate("document.querySelectorAll('.late').length").await, 0);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_side_has_no_price_and_no_spread() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let sentences = ["No buy orders", "No sell offers"];
    for (id, full) in [("COAL", [false, false]), ("DIAMOND", [false, true]), (ITEM, [true, false])] {
        let of = |side: usize| full[side].then_some(BEST[side]);
        show(&window, id, [of(0), of(1)], [of(0).unwrap_or(0.0), of(1).unwrap_or(0.0)]).await;
        let text = texts_of(&window, ".now .tile, [aria-labelledby=prices]").await.concat();
        for side in [0, 1] {
            assert_eq!(text.contains(sentences[side]), !full[side], "{text}");
        }
        assert!(!text.replace("best 2 % of", "").contains('%'), "only the averages name a share: {text}");
        assert!(!text.split_whitespace().any(|word| word == "0.00"), "{text}");
    }
    window.inspect("market-item-without-offers").await;
    window.expect_clean(&[]);
}
