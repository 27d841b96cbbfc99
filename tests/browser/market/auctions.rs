//! One search and one page per item serve both markets. The page of an item in auctions has its prices, a
//! chart and its last sales, and a table lists all items in auctions.

use serde_json::{Value, json};

use super::chart::{WATCH, data, drawn};
use super::defects::{go, replace};
use super::item::download;
use super::{open, settle, texts_of};
use crate::auctions::{BOOK, PET, PRODUCT};
use crate::cloud::{ITEM, start, start_with_past_of_auctions};
use crate::window::Window;

fn address(id: &str) -> String {
    format!("?item={}&market=auctions", id.replace(';', "%3B").replace('+', "%2B"))
}

async fn tabs(window: &Window) -> Vec<String> {
    texts_of(window, ".tabs a").await
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_search_finds_the_items_of_both_markets() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    let search = async |text: &str, first: [&str; 3]| {
        window.press("/").await;
        window.type_text(text).await;
        window
            .wait(&format!("document.querySelector('[role=option]')?.innerText.includes({:?})", first[1]))
            .await;
        let option = &texts_of(&window, "[role=option]").await[0];
        assert_eq!(option.split('\n').map(str::trim).collect::<Vec<_>>(), first);
    };
    search("golden drag", ["Golden Dragon (Legendary)", PET, "Auctions"]).await;
    window.press("Enter").await;
    window.wait_for("heading", "Golden Dragon (Legendary)").await;
    assert_eq!(window.address().await, format!("/market{}", address(PET)));
    search("growth v", ["Growth V", PRODUCT, "Bazaar Auctions"]).await;
    let ids = texts_of(&window, "[role=option] small:first-of-type").await;
    assert!(!ids.contains(&BOOK.to_owned()), "both markets must share an entry: {ids:?}");
    window.press("Enter").await;
    window.wait_for("heading", "Growth V").await;
    assert_eq!(window.address().await, format!("/market?item={PRODUCT}"));
    window.press("/").await;
    window.type_text("golden").await;
    window.wait("document.querySelector('[role=option]')").await;
    window.inspect("market-search-both").await;

    window.open("/market?view=status").await;
    window.wait_for("button", "Key").await;
    replace(&window, "v1/auctions/prices", "new Response('{}', { status: 503 })").await;
    search("growth v", ["Growth V", PRODUCT, "Bazaar"]).await;
    window.wait_for_text("The service has a problem at the moment.").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_are_there_only_where_both_markets_have_the_item() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, &format!("?item={PRODUCT}&range=7d")).await;
    drawn(&window).await;
    window.wait("document.querySelector('.tabs')").await;
    assert_eq!(tabs(&window).await, ["Bazaar", "Auctions"]);
    window.inspect("market-item-tabs").await;
    // Clicks by selector, because the navigation also has a link named "Auctions".
    window.evaluate("document.querySelector('.tabs a:last-child').click()").await;
    for label in ["Auctions", "Bazaar"] {
        window
            .wait(&format!("document.querySelector('.tabs [aria-current=page]')?.innerText === '{label}'"))
            .await;
        drawn(&window).await;
        assert_eq!(texts_of(&window, "h1").await, ["Growth V"]);
        window.evaluate("document.querySelector('.tabs a:first-child').click()").await;
    }
    for (query, id) in [(address(PRODUCT), BOOK), (format!("?item={}", BOOK.replace(';', "%3B")), BOOK)] {
        window.open(&format!("/market{query}")).await;
        window.wait("document.querySelector('.tabs [aria-current=page]')?.innerText === 'Auctions'").await;
        assert_eq!(texts_of(&window, ".title code").await, [id]);
    }
    for query in [format!("?item={ITEM}"), address(PET)] {
        window.open(&format!("/market{query}")).await;
        drawn(&window).await;
        assert_eq!(tabs(&window).await, [""; 0], "{query}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_in_auctions_has_its_prices_and_a_chart_at_every_range() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    go(&window, &address(PET)).await;
    drawn(&window).await;
    settle(&window).await;
    let averages = data(&window, "v1/auctions/averages?ids=GOLDEN_DRAGON%3B4").await["items"][0].take();
    let tiles = texts_of(&window, ".tiles .tile").await;
    let parts = [
        ["Lowest price", "219,000,0", "of 41 listed"],
        ["Second lowest", "219,010,000", "buy it now"],
        ["Median of sales", "221,000,000", "average"],
        ["Sold a day", &averages["sold"].to_string(), "sales, 1 d recorded"],
        ["Age of the prices", " s", "of "],
    ];
    for (tile, parts) in tiles.iter().zip(parts) {
        assert!(parts.iter().all(|part| tile.contains(part)), "{parts:?}: {tile}");
    }
    window.wait_for_text("All variants mixed").await;
    window
        .wait_for_text(&format!("{} of {} sales were clean", averages["sales_clean"], averages["sales"]))
        .await;
    window.evaluate("void (navigator.clipboard.writeText = async (text) => { window.copied = text; })").await;
    window.click("button", "Copy the command for 219,000,000").await;
    window.wait_for_text("Copied.").await;
    assert_eq!(window.evaluate("copied").await, "/viewauction c6d2267d-73a0-4f2f-9d0c-5b1e8f6a4b32");

    let candles = data(&window, "v1/auctions/candles?id=GOLDEN_DRAGON%3B4&interval=1h&limit=3").await;
    let candle = &candles["candles"][1];
    let column = "(([prices, sales], start) => [prices.data[0].indexOf(start + 3600000), sales.data[0].indexOf(start + 1800000)]
        .flatMap((at, index) => [prices, sales][index].data.slice(1).map((values) => values[at])))";
    let shown = window.evaluate(&format!("{column}(plots, Date.parse({}))", candle["opened_at"])).await;
    let fields =
        ["lowest_close", "lowest_low", "lowest_high", "sale_median", "sale_low", "sale_high", "sales"];
    assert_eq!(numbers(&shown), numbers(&json!(fields.map(|field| candle[field].clone()))));

    expect_last_sales(&window).await;
    expect_running_auctions(&window).await;

    for range in ["24h", "7d", "30d", "90d", "1y", "all"] {
        window.click("button", range).await;
        window.wait(&format!("location.search.includes('range={range}')")).await;
        drawn(&window).await;
    }
    window.click("button", "Candles").await;
    window.wait("location.search.endsWith('&style=candles')").await;
    drawn(&window).await;
    window.inspect("market-auction").await;
    let requests = window.requests("/v1/auctions/candles?id=GOLDEN_DRAGON%3B4&interval=");
    let mut intervals: Vec<_> = requests
        .iter()
        .map(|request| request.url.split("interval=").nth(1).unwrap()[..2].to_owned())
        .collect();
    intervals.dedup();
    assert_eq!(intervals, ["1h", "1d"], "a week needs hourly candles, longer ranges daily ones");
    window.expect_clean(&[]);
}

/// Checks that the last sales of the pet are in a table, in a file and in the chart.
async fn expect_last_sales(window: &Window) {
    let sales = data(window, "v1/auctions/sales?id=GOLDEN_DRAGON%3B4").await;
    assert!(sales["count"].as_u64() > Some(60), "{sales}");
    window.wait_for_text("Dots are the last sales.").await;
    let dots = "(([plot], sales) => {
        const { data, width } = plot.ctx.getImageData(0, 0, plot.ctx.canvas.width, plot.ctx.canvas.height);
        const place = (value, axis) => Math.floor(plot.valToPos(value, axis, true));
        return sales.filter(({ sold_at: time, price }) => data[4 * (place(price, 'y') * width + place(Date.parse(time), 'x')) + 3]).length;
    })";
    let drawn_sales = window.evaluate(&format!("{dots}(plots, {})", sales["sales"])).await;
    assert_eq!(drawn_sales, sales["count"], "every sale must be a dot");
    let newest = &sales["sales"][0];
    let rows = texts_of(window, "[aria-labelledby=last-sales] tbody tr").await;
    assert_eq!(rows.len(), 20);
    let note = if newest["clean"] == true { "clean" } else { "" };
    assert!(rows[0].trim_end().ends_with(note) && rows[0].contains("219,000,000"), "{} {newest}", rows[0]);
    let (name, file) = download(window, "Download sales").await;
    assert_eq!(name, "GOLDEN_DRAGON_4-sales.csv");
    assert_eq!(file.lines().count(), 1 + sales["sales"].as_array().unwrap().len(), "{file}");
    assert!(file.starts_with("sold_at,price,amount,bin,clean\r\n"), "{file}");
}

/// Checks that the running auctions have pages, filters and commands.
async fn expect_running_auctions(window: &Window) {
    let rows = "[aria-labelledby=running] tbody tr";
    window.wait_for_text("25 running, cheapest first").await;
    let shown = texts_of(window, rows).await;
    assert_eq!(shown.len(), 20);
    let details = "level 177, pet item lucky clover";
    assert!(shown[1].contains("219,010,000") && shown[1].contains(details), "{}", shown[1]);
    window.click("button", "Copy the command for 219,010,000").await;
    window.wait("copied === '/viewauction c6d2267d-73a0-4f2f-9d0c-5b1e8f6a4b33'").await;
    window.click("button", "More expensive").await;
    window.wait(&format!("document.querySelectorAll('{rows}').length === 5")).await;
    window.click("button", "Cheapest").await;
    window.wait(&format!("document.querySelectorAll('{rows}').length === 20")).await;
    window.focus("textbox", "Level from").await;
    window.type_text("190").await;
    window.focus("textbox", "Price up to").await;
    window.type_text("219.2m").await;
    window.evaluate("void (document.querySelector('[name=clean]').value = 'true')").await;
    window.click("button", "Filter").await;
    window.wait_for_text("4 running, cheapest first").await;
    let requests = window.requests("/v1/auctions/listings?id=GOLDEN_DRAGON%3B4&clean=true");
    assert!(
        requests[0].url.ends_with("&clean=true&min_level=190&max_price=219200000"),
        "{}",
        requests[0].url
    );
}

fn numbers(values: &Value) -> Vec<Option<f64>> {
    values.as_array().unwrap().iter().map(Value::as_f64).collect()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_without_a_history_says_so_and_can_have_no_listing() {
    let cloud = start().await;
    let window = open(&cloud, &address(PET)).await;
    window.wait_for_text("No history yet.").await;
    settle(&window).await;
    window.inspect("market-auction-new").await;
    window.open(&format!("/market{}", address("SHEEP;0+100"))).await;
    // It has no price, so it has no name.
    window.wait_for("heading", "Sheep 0 100").await;
    window.wait_for_text("Not listed").await;
    window.wait_for_text("0 running, cheapest first").await;
    assert!(!window.text().await.contains("variants"));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_items_are_in_a_table_that_is_sorted_filtered_and_has_pages() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, "?view=auctions").await;
    settle(&window).await;
    // Until the names have come, items are shown by the words of their ids.
    window.wait_for_text("Golden Dragon (Legendary)").await;
    let first = texts_of(&window, "tbody tr:first-child > *").await;
    let averages = data(&window, "v1/auctions/averages?ids=GOLDEN_DRAGON%3B4").await["items"][0].take();
    let prices = data(&window, "v1/auctions/prices?ids=GOLDEN_DRAGON%3B4").await["items"][0].take();
    let change = (prices["lowest"].as_f64().unwrap() / averages["lowest"].as_f64().unwrap() - 1.0) * 100.0;
    assert_eq!(first[0], "☆Golden Dragon (Legendary)", "the item with the most sales must come first");
    assert_eq!(first[2..4], [format!("{change:+.1}%"), averages["sales"].to_string()]);
    window.wait_for_text("650 items.").await;
    window.wait_for_text("Page 1 of 7").await;
    assert_eq!(texts_of(&window, "tbody tr").await.len(), 100);
    window.inspect("market-auctions").await;

    window.click("button", "Next").await;
    window.wait_for_text("Page 2 of 7").await;
    assert_eq!(window.address().await, "/market?view=auctions&page=2");
    window.reload().await;
    window.wait_for_text("Page 2 of 7").await;
    window.click("button", "Lowest now").await;
    window.wait_for_text("Page 1 of 7").await;
    let shown = texts_of(&window, "tbody td:nth-child(2)").await;
    let number = |text: &String| text.lines().last().unwrap().replace(',', "").parse().unwrap();
    let lowest: Vec<f64> = shown.iter().map(number).collect();
    assert!(lowest.is_sorted_by(|one, other| one >= other), "{lowest:?}");
    window.click("button", "Lowest now vs. 1-day average").await;
    window.wait("document.querySelector('tbody td:nth-child(3)')?.innerText.endsWith('%')").await;
    window.click("button", "Lowest now vs. 1-day average").await;
    window.wait("document.querySelector('[aria-sort=ascending]')").await;
    let changes = texts_of(&window, "tbody td:nth-child(3)").await;
    assert!(changes[0].ends_with('%') && changes[2] == "–", "rows without a value come last: {changes:?}");

    window.focus("searchbox", "Filter by name").await;
    window.type_text("growth").await;
    window.wait_for_text("1 of 650 items match.").await;
    window.click("link", "Growth V").await;
    window.wait("document.querySelector('.tabs [aria-current=page]')?.innerText === 'Auctions'").await;
    window.expect_clean(&[]);
}
