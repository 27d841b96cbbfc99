//! An item's page has its prices, a chart at every range with zoom, and the chart's data as a table and a
//! file.

use super::chart::{WATCH, data, drawn};
use super::defects::go;
use super::{open, texts_of};
use crate::cloud::{ITEM, NAME, start_with_past};
use crate::window::Window;

const RANGES: [&str; 7] = ["1h", "24h", "7d", "30d", "90d", "1y", "all"];

/// The intervals of the requests for candles.
fn intervals(window: &Window) -> Vec<String> {
    let requests = window.requests("/v1/bazaar/candles?").into_iter();
    requests
        .map(|request| request.url.split("interval=").nth(1).unwrap().split('&').next().unwrap().to_owned())
        .collect()
}

/// Clicks on the button with this label, which saves a file. Returns the name and the text of the file.
pub(super) async fn download(window: &Window, label: &str) -> (String, String) {
    let watch = "URL.createObjectURL = (file) => { window.saved = file; return 'blob:'; };
        HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };
        undefined";
    window.evaluate(watch).await;
    window.click("button", label).await;
    window.wait("window.savedAs").await;
    serde_json::from_value(window.evaluate("saved.text().then((text) => [savedAs, text])").await).unwrap()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_shown_at_every_range_which_survives_reload_and_back() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=flips").await;
    window.open(&format!("/market?item={ITEM}")).await;
    window.wait_for("heading", NAME).await;
    assert_eq!(window.evaluate("document.title").await, format!("{NAME} – Market"));
    for range in RANGES {
        window.click("button", range).await;
        window.wait(&format!("location.search.includes('range={range}')")).await;
        drawn(&window).await;
    }
    window.inspect("market-item").await;
    window.reload().await;
    drawn(&window).await;
    let pressed = ".past-bar [aria-pressed=true]";
    assert_eq!(texts_of(&window, pressed).await, ["all"]);
    window.back().await;
    window.wait(&format!("document.querySelector('{pressed}')?.innerText === '1y'")).await;
    window.click("button", "7d").await;
    drawn(&window).await;
    let candles = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=30m&limit=400")).await;
    let candles = candles["candles"].as_array().unwrap();
    let high =
        candles.iter().filter_map(|candle| candle["sell_offer_high"].as_f64()).fold(f64::MIN, f64::max);
    let figures = texts_of(&window, ".summary dd").await;
    assert!(figures[3].contains("of the range"), "{figures:?}");
    assert!(texts_of(&window, ".now dd").await[2].contains("%\n"));
    // The newest candle can change meanwhile, but the highest price is older.
    let shown: f64 = figures[2].replace(',', "").parse().unwrap();
    assert!(shown <= high.round() && shown > high * 0.99, "{shown}, not {high}");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dragging_zooms_and_loads_finer_data() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=30d")).await;
    drawn(&window).await;
    let before = intervals(&window);
    assert!(before.contains(&"1h".to_owned()), "{before:?}");
    let [x, y, width, height] = window.place(".plots .u-over").await;
    for (kind, share) in [
        ("mouseMoved", 0.9),
        ("mousePressed", 0.9),
        ("mouseMoved", 0.93),
        ("mouseMoved", 0.97),
        ("mouseReleased", 0.97),
    ] {
        window.mouse(kind, x + width * share, y + height / 2.0).await;
    }
    window.wait("location.search.includes('from=')").await;
    drawn(&window).await;
    let finer = intervals(&window).split_off(before.len());
    assert!(finer.iter().any(|interval| ["5m", "30m"].contains(&interval.as_str())), "{finer:?}");
    let zoomed = window.address().await;
    window.reload().await;
    drawn(&window).await;
    assert_eq!(window.address().await, zoomed, "the address must keep the zoomed times");
    window.focus("button", "Reset").await;
    window.press("Enter").await;
    window.wait("!location.search.includes('from=')").await;
    drawn(&window).await;
    assert_eq!(window.evaluate("document.activeElement.innerText").await, "Reset", "the focus must stay");

    window.open(&format!("/market?item={ITEM}&from=2019-01-01T00:00:00Z&to=2019-02-01T00:00:00Z")).await;
    window.wait_for_text("No prices were recorded in this time.").await;
    assert_eq!(window.evaluate("document.querySelector('.rows-bar button').disabled").await, true);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chart_is_a_table_and_a_file_too() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=90d")).await;
    drawn(&window).await;
    window.click("button", "Show as a table").await;
    window.wait_for("button", "Hide the table").await;
    let rows = texts_of(&window, ".rows tbody tr").await;
    assert!((200..=300).contains(&rows.len()), "{} rows", rows.len());
    window.inspect("market-item-table").await;

    let (name, text) = download(&window, "Download CSV").await;
    assert_eq!(name, "ENCHANTED_DIAMOND-90d.csv");
    let mut lines = text.lines();
    let head: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(&head[..3], ["time", "seconds", "sell_open"], "{head:?}");
    let lines: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(lines.len() >= rows.len(), "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.len() == head.len() && line[0].parse::<jiff::Timestamp>().is_ok()));
    assert!(lines.is_sorted_by_key(|line| line[0]), "oldest first");

    // The file has exactly the digits of the API.
    let candles = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=3h&limit=5")).await;
    let candle = &candles["candles"][0];
    let column = |name: &str| head.iter().position(|other| *other == name).unwrap();
    let line = lines.iter().find(|line| line[0] == candle["opened_at"] && line[1] == "10800");
    let line = line.unwrap_or_else(|| panic!("{candle} is not in the file"));
    for field in [
        "sell_open",
        "sell_high",
        "buy_low",
        "buy_close",
        "sell_volume",
        "samples",
        "buy_order_high",
        "sell_offer_close",
        "sell_moving_week",
    ] {
        assert_eq!(line[column(field)], candle[field].to_string(), "{field}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn candles_are_in_the_address_and_have_the_prices_of_the_api() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    window.evaluate("window.bodies = []; void (CanvasRenderingContext2D.prototype.strokeRect = (...box) => bodies.push(box))").await;
    go(&window, &format!("?item={ITEM}&range=7d&prices=averages")).await;
    drawn(&window).await;
    for text in ["Buy", "Sell", "To buy", "To sell", "Open orders"] {
        window.wait(&format!("drawnTexts.includes({text:?})")).await;
    }
    assert_eq!(window.evaluate("bodies.length").await, 0);
    window.click("button", "Candles").await;
    window
        .wait("location.search.endsWith('&prices=averages&range=7d&style=candles') && bodies.length > 100")
        .await;
    let candle = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=30m&limit=5")).await;
    let [open, close] = ["buy_open", "buy_close"].map(|field| candle["candles"][1][field].as_f64().unwrap());
    let body = format!(
        "bodies.some(([left, top, width, height]) => {{
           const y = (value) => Math.round(plots.at(-2).valToPos(value, 'y', true));
           return top === y({}) && height === Math.max(y({}) - top, devicePixelRatio);
         }})",
        open.max(close),
        open.min(close)
    );
    assert_eq!(window.evaluate(&body).await, true, "from {open} to {close}");
    window.reload().await;
    drawn(&window).await;
    window.inspect("market-item-candles").await;
    window.click("button", "Candles").await;
    window.wait("location.search.endsWith('&range=7d')").await;
    window.expect_clean(&[]);
}
