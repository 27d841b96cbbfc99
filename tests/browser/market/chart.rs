//! An item's chart draws exactly the prices, gaps and volumes of the API, with the names of mayors.

use serde_json::{Value, json};

use super::defects::go;
use super::{open, settle};
use crate::cloud::{ITEM, start_with_past};
use crate::window::Window;

/// Collects the page's plots in `plots`, and the texts that they draw in `drawnTexts`.
pub(super) const WATCH: &str = "
    window.plots = [];
    window.drawnTexts = [];
    let Watched;
    Object.defineProperty(window, 'uPlot', {
      configurable: true,
      get: () => Watched,
      set(library) {
        Watched = class extends library {
          constructor(...parameters) {
            super(...parameters);
            plots.push(this);
          }
        };
      },
    });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawnTexts.push(text);
      return fillText.call(this, text, ...place);
    };
    undefined";

/// Waits until the chart is complete.
pub(super) async fn drawn(window: &Window) {
    settle(window).await;
    window.wait("document.querySelectorAll('.plots canvas').length === 2").await;
    window.wait("/\\d/.test(document.querySelector('.legend').innerText)").await;
}

/// Fetches the `data` of the API's response at this path.
pub(super) async fn data(window: &Window, path: &str) -> Value {
    let request = format!(
        "fetch({path:?}, {{ headers: {{ 'X-API-Key': sessionStorage.getItem('key') }} }}).then((response) => response.json())"
    );
    window.evaluate(&request).await["data"].take()
}

/// Checks that the newest plot has a bar for the trade of each day whose week before is known, by the formula
/// of the reference.
async fn expect_bars(window: &Window) {
    let days = data(window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=1d&limit=16")).await;
    let days = days["candles"].as_array().unwrap();
    let traded = |end: usize, field: &str| {
        let week = |before: usize| days[end - before][field].as_f64().unwrap();
        let left = (week(7) - week(8)) / 2.0 + (week(7) + week(8)) / 14.0;
        (week(0) - week(1) + left).round()
    };
    let bar = |(day, candle): (usize, &Value)| {
        let is_known = day >= 8 && candle["complete"] == true;
        is_known.then(|| traded(day, "sell_moving_week") + traded(day, "buy_moving_week"))
    };
    let expected: Vec<_> = days.iter().enumerate().map(bar).collect();
    assert_eq!((expected.len(), expected.iter().flatten().count()), (16, 7), "{expected:?}");
    let shown: Vec<Option<f64>> =
        serde_json::from_value(window.evaluate("plots.at(-1).data[1]").await).unwrap();
    assert_eq!(shown, expected);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chart_draws_prices_with_bands_gaps_volumes_and_names_of_mayors() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    // The averages, and then the best orders.
    go(&window, &format!("?item={ITEM}&range=7d&prices=averages")).await;
    drawn(&window).await;
    let candles = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=30m&limit=5")).await;
    let candle = &candles["candles"][1];
    // A candle's point is at the end of its interval.
    let column = format!(
        "(() => {{ const [prices, volumes] = plots; const at = prices.data[0].indexOf(Date.parse({}) + 1800000);
           return [...prices.data.slice(1), ...volumes.data.slice(1)].map((values) => values[at]); }})()",
        candle["opened_at"]
    );
    let fields = [
        "sell_close",
        "sell_low",
        "sell_high",
        "buy_close",
        "buy_low",
        "buy_high",
        "sell_volume",
        "buy_volume",
    ];
    let expected: Vec<_> = fields.iter().map(|field| candle[field].as_f64()).collect();
    let shown: Vec<Option<f64>> = serde_json::from_value(window.evaluate(&column).await).unwrap();
    assert_eq!(shown, expected, "{fields:?}");

    assert_eq!(window.evaluate("plots[0].bands.map(({ series }) => series)").await, json!([[3, 2], [6, 5]]));
    let gaps = "plots.flatMap((plot) => plot.series.slice(1)).every((series) => !series.spanGaps)";
    assert_eq!(window.evaluate(gaps).await, true);
    assert_eq!(window.evaluate("plots[0].data[1].includes(null)").await, true, "the history has a gap");

    go(&window, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    window.wait("plots.length === 4 && plots.at(-1).data[1].length > 9").await;
    let column = column.replace("= plots;", "= plots.slice(-2);").replace(", ...volumes.data.slice(1)", "");
    let fields = [
        "buy_order_close",
        "buy_order_low",
        "buy_order_high",
        "sell_offer_close",
        "sell_offer_low",
        "sell_offer_high",
    ];
    let expected: Vec<_> = fields.iter().map(|field| candle[field].as_f64()).collect();
    let shown: Vec<Option<f64>> = serde_json::from_value(window.evaluate(&column).await).unwrap();
    assert_eq!(shown, expected, "{fields:?}");
    expect_bars(&window).await;

    let mayors = data(&window, "v1/mayor/history?limit=1").await;
    window.wait(&format!("drawnTexts.includes({})", mayors["history"][0]["name"])).await;
    go(&window, "?view=status").await;
    window.wait("!document.querySelector('.plots')").await;
    assert_eq!(window.evaluate("uPlot.sync('item').plots.length").await, 0, "no chart may be left behind");
    window.expect_clean(&[]);
}
