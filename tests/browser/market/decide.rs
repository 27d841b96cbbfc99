//! The tables of products and flips have the right figures, obey the limits in the address, and show the code
//! of their requests.

use serde_json::{Value, json};

use super::defects::{go, replace, stop_clock};
use super::item::download;
use super::{open, settle, texts_of};
use crate::cloud::start;
use crate::window::Window;

/// A product with these best orders, averages and weekly instant sales. Its weekly instant purchases are
/// twice those sales.
pub(super) fn product(id: &str, [order, offer]: [f64; 2], [sell, buy]: [f64; 2], week: u32) -> Value {
    json!({
        "id": id, "topBuyOrder": order, "topSellOffer": offer, "sellPrice": sell, "buyPrice": buy,
        "sellVolume": 1, "buyVolume": 1, "sellMovingWeek": week, "buyMovingWeek": week * 2,
    })
}

/// Replaces the products of the bazaar.
async fn trade(window: &Window, products: &[Value]) {
    let data = json!({"lastUpdated": 0, "count": products.len(), "items": products});
    replace(window, "mode=prices", &format!("success({data})")).await;
}

/// The texts of the cells of each row, the name first.
async fn rows(window: &Window) -> Vec<Vec<String>> {
    let script = "[...document.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => (cell.querySelector('a') ?? cell).innerText.trim()))";
    serde_json::from_value(window.evaluate(script).await).unwrap()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_products_have_a_row_with_prices_margin_volume_and_changes() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    // The candles of the day that has just ended are not written yet.
    stop_clock(&window, "2026-11-28T00:30:00Z").await;
    let csv = |close: u32| {
        let text = format!("item_id,samples,sell_offer_close\\nCOAL,1440,{close}\\nICE,1440,\\n");
        format!("new Response('{text}', {{ headers: {{ 'content-type': 'text/csv' }} }})")
    };
    let mut ice = product("ICE", [100.0, 104.0], [100.0, 104.0], 7);
    ice["topSellOffer"] = Value::Null;
    let products = json!({"items": [ice, product("COAL", [100.0, 120.0], [100.0, 110.0], 7_000_000)]});
    let response = format!(
        "path.includes('mode=prices') ? success({products}) : path.includes('1h&opened_at=2026-11-27T00:00:00Z') ? {}
         : path.includes('1d&opened_at=2026-11-19T00:00:00Z') ? {} : path.includes('all?') ? {} : new Promise(() => {{}})",
        csv(100),
        csv(60),
        csv(999)
    );
    replace(&window, "v1/", &response).await;
    go(&window, "?view=items").await;
    window.wait("document.querySelectorAll('tbody td:is(:nth-child(8), :nth-child(9))').length === 4").await;
    window.wait("[...document.querySelectorAll('tbody tr:first-child td')].slice(-2).every(({ innerText }) => innerText.endsWith('%'))").await;
    // A day has a million sales at 100 coins and two million purchases at 120 coins. Without a side, the
    // trade has no price.
    let coal = [
        "Coal",
        "100.00",
        "120.00",
        "20.00%",
        "18.50%",
        "340M\n340,000,000",
        "21M\n21,000,000",
        "+20.0%",
        "+100.0%",
    ];
    let ice = ["Ice", "100.00", "–", "–", "–", "–", "21", "–", "–"];
    assert_eq!(rows(&window).await, [coal, ice]);
    assert_eq!(texts_of(&window, "thead th").await[7..], ["24 hours", "1 week"]);
    window.wait_for_text("has changed since 27 Nov 2026, 01:00 and since 20 Nov 2026, 00:00.").await;
    window.inspect("market-items-computed").await;
    for (query, names) in [
        ("&coins=340m&apart=19.9", vec!["Coal"]),
        ("&coins=341m", vec![]),
        ("&apart=20.1", vec![]),
        ("&sort=traded", vec!["Coal", "Ice"]),
    ] {
        go(&window, &format!("?view=items{query}")).await;
        let shown: Vec<_> = rows(&window).await.into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(shown, names, "{query}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flips_bring_a_profit_after_tax_within_the_limits_of_the_address() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let products = [
        product("COAL", [100.0, 110.0], [100.0, 110.0], 168_000),
        product("DIAMOND", [1_000_000.0, 1_200_000.0], [1_000_000.0, 1_200_000.0], 1_680),
        // The tax takes more than the difference.
        product("EMERALD", [100.0, 101.0], [100.0, 101.0], 168_000),
        // The average buy order is far below the best one. The name is short, so that axe's rule for links
        // inside longer texts applies.
        product("ICE", [100.0, 104.0], [90.0, 104.0], 168_000),
    ];
    trade(&window, &products).await;
    go(&window, "?view=flips").await;
    settle(&window).await;
    let row = |name: &str, cells: &[&str]| {
        [&[name], cells].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let diamond = row(
        "Diamond",
        &["1,850,000", "185,000", "18.50%", "1,000,000", "1,200,000", "10", "816M\n816,000,000", "–"],
    );
    let coal = row("Coal", &["8,625", "8.63", "8.63%", "100.00", "110.00", "1,000", "7,680,000", "–"]);
    let ice = row("Ice", &["2,700", "2.70", "2.70%", "100.00", "104.00", "1,000", "7,392,000", "–"]);
    assert_eq!(rows(&window).await, [&diamond, &coal, &ice].map(Clone::clone));
    assert_eq!(texts_of(&window, ".unsure").await, ["≠ averages"]);
    assert!(texts_of(&window, "thead th").await[1].starts_with("Coins per hour, all players"));
    window.inspect("market-flips-computed").await;

    for (query, expected) in [
        ("&least=200", vec![&coal, &ice]),
        ("&most=0.5m", vec![&coal, &ice]),
        ("&tax=20", vec![]),
        ("&sort=margin", vec![&ice, &coal, &diamond]),
    ] {
        go(&window, &format!("?view=flips{query}")).await;
        let ids: Vec<_> = expected.into_iter().cloned().collect();
        assert_eq!(rows(&window).await, ids, "{query}");
    }
    // The budget pays for fewer items per hour.
    go(&window, "?view=flips&budget=20k&filter=coal").await;
    assert_eq!(rows(&window).await[0][1..=6], ["1,725", "8.63", "8.63%", "100.00", "110.00", "200"]);
    window.focus("textbox", "Tax, %").await;
    window.type_text("0").await;
    window.wait("location.search.includes('tax=0')").await;
    window.wait("document.querySelector('tbody td:nth-child(3)').innerText === '10.00'").await;
    let (name, text) = download(&window, "Download CSV").await;
    assert_eq!(name, "flips.csv");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "id,name,coinsPerHour,profit,margin,sell,buy,perHour,traded",
            "COAL,Coal,2000,10,10,100,110,200,7680000"
        ]
    );
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flips_in_auctions_are_resold_at_the_median_of_sales_or_the_second_price_after_fees() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let listed = [
        ("A", 800_000, None),
        ("B", 8_000_000, Some(21_000_000)),
        ("C", 990_000, None),
        ("D", 1, None),
        // The second offer leaves a small profit, and then none.
        ("E", 485_000_000, Some(503_000_000)),
        ("F", 485_000_000, Some(485_600_000)),
    ];
    let sold = [
        ("A", 1_000_000, 5),
        ("B", 20_000_000, 7),
        ("C", 1_000_000, 9),
        ("D", 100, 4),
        ("E", 1_730_000_000, 8),
        ("F", 1_730_000_000, 8),
        // The sale of a cake whose year is not listed.
        ("NEW_YEAR_CAKE+486", 5_000_000, 1),
    ];
    // Ids of copies with any level, year or colour, which have separate ids. A perfect copy does not exclude
    // the others.
    let mixed = ["SHEEP;4", "GOLDEN_DRAGON;4", "NEW_YEAR_CAKE", "BALLOON_HAT_2024", "CAKE_HAT_2026"];
    let parts = [
        "SHEEP;4+100",
        "GOLDEN_DRAGON;4+200",
        "BALLOON_HAT_2024_PINK",
        "GLACITE_BOOTS",
        "GLACITE_BOOTS+PERFECT",
        "WOLF;3",
    ];
    let cheap = mixed.into_iter().chain(parts).map(|id| (id, 100, None));
    let listed = listed.into_iter().chain(cheap).map(
        |(id, lowest, second): (_, _, Option<u32>)| json!({"id": id, "lowest": lowest, "second": second, "listings": 3}),
    );
    let sold = sold
        .into_iter()
        .chain(mixed.into_iter().chain(parts).map(|id| (id, 1_000, 6)))
        .map(|(id, median, sales)| json!({"id": id, "lowest": null, "sale_median": median, "sales": sales}));
    let [prices, averages] =
        [listed.collect::<Value>(), sold.collect()].map(|items| json!({"lastUpdated": 0, "items": items}));
    let response = format!("success(path.includes('prices') ? {prices} : {averages})");
    replace(&window, "v1/auctions/", &response).await;
    go(&window, "?view=flips&market=auctions").await;
    settle(&window).await;
    // The fees of B are 2 % for the listing and 1 % for collecting, of E 2.5 % and 1 %, of A 1 %. C brings no
    // profit, and D is sold too rarely.
    let expected = [
        ["B", "11.4M", "142.50%", "8,000,000", "20M", "7", "3"],
        ["E", "395,000", "0.08%", "485M", "503M", "8", "3"],
        ["A", "190,000", "23.75%", "800,000", "1,000,000", "5", "3"],
    ];
    let shown: Vec<Vec<String>> = rows(&window)
        .await
        .into_iter()
        .map(|row| row.into_iter().map(|cell| cell.lines().next().unwrap_or("").to_owned()).collect())
        .collect();
    assert_eq!(shown[..3], expected);
    let ids = "[...document.querySelectorAll('tbody th a')].map((link) => new URL(link.href).searchParams.get('item')).slice(3).sort()";
    let mut parts = parts;
    parts.sort_unstable();
    assert_eq!(window.evaluate(ids).await, json!(parts));
    window.inspect("market-flips-auctions").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_sells_to_an_npc_costs_less_than_the_npc_pays_and_no_other_view_requests_it() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    settle(&window).await;
    let products = [("COAL", 10.0), ("WHEAT", 5.7), ("DIAMOND", 8.0), ("ICE", 1.0)]
        .map(|(id, offer)| product(id, [0.1, offer], [0.1, offer], 7));
    let without_offers = json!({
        "id": "X", "topBuyOrder": 1.0, "topSellOffer": null, "sellPrice": 1.0, "buyPrice": 0.0, "sellVolume": 1,
        "buyVolume": 0, "sellMovingWeek": 1, "buyMovingWeek": 1,
    });
    let market =
        json!({"lastUpdated": 0, "items": products.into_iter().chain([without_offers]).collect::<Value>()});
    let paid = [("COAL", 14.5), ("WHEAT", 6.0), ("DIAMOND", 8.0), ("X", 3.0)];
    let items = paid.map(|(id, npc)| json!({"id": id, "npc_sell_price": npc}));
    let items = json!({"items": items.into_iter().chain([json!({"id": "ICE"})]).collect::<Value>()});
    let response = format!(
        "path.includes('mode=prices') ? success({market}) : path.includes('items?mode=full') ? success({items}) : pass()"
    );
    replace(&window, "v1/", &response).await;
    go(&window, "?view=items").await;
    window.wait("document.querySelectorAll('tbody tr').length > 10").await;
    assert_eq!(window.evaluate("asked.filter(([path]) => path.includes('items?')).length").await, 0);
    go(&window, "?view=flips").await;
    window.focus("link", "To an NPC").await;
    window.press("Enter").await;
    window.wait("document.querySelectorAll('tbody th a').length === 2").await;
    assert_eq!(window.address().await, "/market?view=flips&market=npc");
    let expected =
        [["Coal", "4.50", "45.00%", "10.00", "14.50", "1"], ["Wheat", "0.30", "5.26%", "5.70", "6.00", "1"]];
    assert_eq!(rows(&window).await, expected);
    window.inspect("market-flips-npc").await;
    window.click("link", "Coal").await;
    window.wait_for_text("An NPC pays").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_names_its_requests_without_the_key_until_that_is_asked_for() {
    let cloud = start().await;
    let key = crate::cloud::pro_key(&cloud);
    let window = open(&cloud, "?view=items").await;
    settle(&window).await;
    window.evaluate("document.querySelector('.requests summary').click()").await;
    let text = async || window.evaluate("document.querySelector('.requests pre').innerText").await;
    let address = format!("{}/v1/bazaar?mode=prices", cloud.url());
    for (language, part) in
        [("Python", "requests.get("), ("Sheets", "UrlFetchApp.fetch("), ("curl", "curl -H")]
    {
        window.click("button", language).await;
        let shown = text().await.to_string();
        assert!(shown.contains(part) && shown.contains(&address) && !shown.contains(&key), "{shown}");
    }
    window.click("checkbox", "With my key").await;
    assert_eq!(text().await, format!("curl -H 'X-API-Key: {key}' '{address}'"));
    window.expect_clean(&[]);
}
