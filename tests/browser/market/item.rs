//! An item: its prices, its chart at every range, zoom, table and file.

use super::chart::{WATCH, data};
use super::defects::go;
use super::{NOTHING, open, settle, texts_of};
use crate::auctions::PET;
use crate::cloud::{ITEM, NAME, start_with_past, start_with_past_of_auctions};
use crate::window::{LAPTOP, Scheme, Window};

const RANGES: [&str; 7] = ["1h", "24h", "7d", "30d", "90d", "1y", "all"];

/// Waits until the chart shows all there is.
pub(super) async fn drawn(window: &Window) {
    settle(window).await;
    window.wait("document.querySelectorAll('.plots canvas').length === 2").await;
    window.wait("/\\d/.test(document.querySelector('.legend').innerText)").await;
}

/// The requests for candles, as their queries.
fn candle_requests(window: &Window) -> Vec<String> {
    let seen = window.seen();
    let requests = seen.requests_for("/v1/bazaar/candles?").into_iter();
    requests.map(|request| request.url.split_once('?').unwrap().1.to_owned()).collect()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_shown_at_every_range() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, &format!("?item={ITEM}")).await;
    window.wait_for("heading", NAME).await;
    drawn(&window).await;
    let text = window.text().await;
    for part in
        ["Best buy order", "Best sell offer", "Spread", "Sold in 7 days", "Bought in 7 days", "Order book"]
    {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let mut found = Vec::new();
    for range in RANGES {
        window.click("button", range).await;
        window.wait(&format!("location.search.includes('range={range}')")).await;
        drawn(&window).await;
        found.extend(window.inspect(&format!("market-item-{range}")).await);
    }
    assert_eq!(found, NOTHING);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn item_and_range_survive_reload_and_back() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=flips").await;
    window.open(&format!("/market?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    assert_eq!(window.title().await, format!("{NAME} – Market"));
    window.click("button", "30d").await;
    window.wait("location.search.endsWith('range=30d')").await;
    drawn(&window).await;
    window.reload().await;
    drawn(&window).await;
    let pressed =
        "[...document.querySelectorAll('.past-bar [aria-pressed=true]')].map((button) => button.innerText)";
    assert_eq!(window.evaluate(pressed).await, serde_json::json!(["30d"]));
    window.back().await;
    window.wait("document.querySelector('.past-bar [aria-pressed=true]')?.innerText === '7d'").await;
    drawn(&window).await;
    assert_eq!(window.address().await, format!("/market?item={ITEM}&range=7d"));
    window.back().await;
    window.wait_for("heading", "Flips").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dragging_zooms_and_loads_finer_data() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, &format!("?item={ITEM}&range=30d")).await;
    drawn(&window).await;
    let before = candle_requests(&window);
    assert!(before.iter().any(|query| query.contains("interval=1h")), "{before:?}");
    let [x, y, width, height] = window.place(".plots .u-over").await;
    let middle = y + height / 2.0;
    window.drag((x + width * 0.9, middle), (x + width * 0.97, middle)).await;
    window.wait("location.search.includes('from=')").await;
    drawn(&window).await;
    let finer: Vec<_> = candle_requests(&window).split_off(before.len());
    assert!(
        finer.iter().any(|query| query.contains("interval=5m") || query.contains("interval=30m")),
        "{finer:?}"
    );
    assert_eq!(window.inspect("market-item-zoomed").await, NOTHING);

    let zoomed = window.address().await;
    window.reload().await;
    drawn(&window).await;
    assert_eq!(window.address().await, zoomed, "the part is in the address");
    window.focus("button", "Reset").await;
    window.press("Enter").await;
    window.wait("!location.search.includes('from=')").await;
    drawn(&window).await;
    assert_eq!(window.evaluate("document.activeElement.innerText").await, "Reset", "the focus stays");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_without_prices_says_so() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    window
        .open(&format!("/market?item={ITEM}&range=all&from=2019-01-01T00:00:00Z&to=2019-02-01T00:00:00Z"))
        .await;
    window.wait_for_text("No prices were recorded in this time.").await;
    assert_eq!(window.evaluate("document.querySelector('.rows-bar button').disabled").await, true);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chart_is_a_table_and_a_file_too() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, &format!("?item={ITEM}&range=90d")).await;
    drawn(&window).await;
    window.click("button", "Show as a table").await;
    window.wait_for("button", "Hide the table").await;
    let rows = texts_of(&window, ".rows tbody tr").await;
    assert!((200..=300).contains(&rows.len()), "{} rows", rows.len());
    assert_eq!(window.inspect("market-item-table").await, NOTHING);

    let (name, text) = window.download(window.click("button", "Download CSV")).await;
    assert_eq!(name, "ENCHANTED_DIAMOND-90d.csv");
    let mut lines = text.lines();
    let head: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(&head[..3], ["time", "seconds", "sell_open"], "{head:?}");
    let lines: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(lines.len() >= rows.len(), "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.len() == head.len() && line[0].parse::<jiff::Timestamp>().is_ok()));
    assert!(lines.is_sorted_by_key(|line| line[0]), "oldest first");

    // The values are those of the API, digit for digit.
    let request = "fetch('v1/bazaar/candles?item_id=ENCHANTED_DIAMOND&interval=3h&limit=5&before=' + new Date(Date.now() - 864e5).toISOString(), \
        { headers: { 'X-API-Key': sessionStorage.getItem('key') } }).then((response) => response.json())";
    let response = window.evaluate(request).await;
    let candle = &response["data"]["candles"][0];
    let column = |name: &str| head.iter().position(|other| *other == name).unwrap();
    let line = lines.iter().find(|line| line[0] == candle["opened_at"] && line[1] == "10800");
    let line = line.unwrap_or_else(|| panic!("{candle} is not in the file"));
    for field in ["sell_open", "sell_high", "buy_low", "buy_close", "sell_volume", "samples"] {
        assert_eq!(line[column(field)], candle[field].to_string(), "{field}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cursor_shows_exact_values_without_moving_anything() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    let legend = async || texts_of(&window, ".legend dd").await;
    let latest = legend().await;
    // What is beside the chart can move when newer prices come.
    let places = "['.legend', '.compared', '.hours'].map((each) => [document.querySelector(each), document.querySelector('.plots')]
        .map((element) => element.getBoundingClientRect())).map(([part, plots]) => [part.top - plots.top, part.height])";
    let before = window.evaluate(places).await;
    let [x, y, width, height] = window.place(".plots .u-over").await;
    let shown =
        "JSON.stringify([...document.querySelectorAll('.legend dd')].map((value) => value.innerText))";
    for share in [0.3, 0.5, 0.7] {
        let earlier = window.evaluate(shown).await;
        window.hover(x + width * share, y + height / 2.0).await;
        window.wait(&format!("{shown} !== {earlier}")).await;
        assert!(legend().await[1].contains(','));
    }
    assert_ne!(legend().await, latest);
    assert_eq!(window.evaluate(places).await, before);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chart_comes_first_and_its_figures_are_those_of_what_it_shows() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    let candles = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=30m&limit=400")).await;
    let candles = candles["candles"].as_array().unwrap();
    let high = candles.iter().filter_map(|candle| candle["buy_high"].as_f64()).fold(f64::MIN, f64::max);
    let figures = texts_of(&window, ".summary dd").await;
    assert!(figures[0].contains('%') && figures[4].contains("of the range"), "{figures:?}");
    // The newest candle can change meanwhile; the highest price is older.
    let shown: f64 = figures[3].replace(',', "").parse().unwrap();
    assert!(shown <= high.round() && shown > high * 0.99, "{shown}, not {high}");
    let places = "['h1', '.summary', '.plots', '.tiles', '.book'].map((each) => document.querySelector(each).getBoundingClientRect())
        .map(({ top, left }) => [top, left])";
    for (size, is_beside) in [((360, 780), false), (LAPTOP, true), ((1_920, 1_080), true)] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            window.show_as(scheme, size).await;
            window.screenshot("market-item-order").await;
        }
        let places: Vec<[f64; 2]> = serde_json::from_value(window.evaluate(places).await).unwrap();
        assert!(places[..3].is_sorted_by(|one, other| one[0] < other[0]), "{places:?}");
        assert_eq!(places[3][1] > places[2][1] + 200.0, is_beside, "{places:?}");
        assert_eq!(places[3][0] > places[2][0], !is_beside, "{places:?}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn candles_are_in_the_address_and_have_the_prices_of_the_api() {
    let cloud = start_with_past_of_auctions().await;
    let mut window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    window.evaluate("window.bodies = []; void (CanvasRenderingContext2D.prototype.strokeRect = (...box) => bodies.push(box))").await;
    go(&window, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    for text in ["Buy", "Sell", "To buy", "To sell", "Open orders"] {
        window.wait(&format!("drawnTexts.includes({text:?})")).await;
    }
    assert_eq!(window.evaluate("bodies.length").await, 0);
    window.click("button", "Candles").await;
    window.wait("location.search.endsWith('&style=candles') && bodies.length > 100").await;
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
    assert_eq!(window.inspect("market-item-candles").await, NOTHING);
    window.click("button", "Candles").await;
    window.wait("location.search.endsWith('&range=7d')").await;
    window.open(&format!("/market?item={}&market=auctions&style=candles", PET.replace(';', "%3B"))).await;
    drawn(&window).await;
    assert_eq!(window.inspect("market-auction-candles").await, NOTHING);
    window.expect_clean(&[]);
}

/// The picture in the README, and the variable that has it written anew.
const PICTURE: &str = "tests/browser/market.png";
const UPDATE: &str = "UPDATE_PICTURE";

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_picture_in_the_readme_shows_the_page_and_is_small() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    window.show_as(Scheme::Light, LAPTOP).await;
    drawn(&window).await;
    let taken = window.picture((1_280, 840), 0.75).await;
    let picture = local::Options::default().template.with_file_name(PICTURE);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&picture, taken).unwrap();
    }
    let bytes = std::fs::metadata(&picture).unwrap().len();
    assert!(bytes <= 150_000, "{bytes} bytes");
    window.expect_clean(&[]);
}
