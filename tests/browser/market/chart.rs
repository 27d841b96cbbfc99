//! An item's figures and its chart have the values of the API.

use serde_json::{Value, json};

use super::item::drawn;
use super::{open, texts_of};
use crate::cloud::{ITEM, start_with_past};
use crate::window::Window;

/// Keeps the plots that the page makes in `plots`, and the texts that it draws in `drawnTexts`.
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

/// The data of the API at this path.
pub(super) async fn data(window: &Window, path: &str) -> Value {
    let request = format!(
        "fetch({path:?}, {{ headers: {{ 'X-API-Key': sessionStorage.getItem('key') }} }}).then((response) => response.json())"
    );
    window.evaluate(&request).await["data"].take()
}

/// Shows the item at this range without loading the page.
async fn go(window: &Window, range: &str) {
    let query = format!("?item={ITEM}&range={range}");
    window
        .evaluate(&format!(
            "history.pushState(null, '', {query:?}); dispatchEvent(new PopStateEvent('popstate'))"
        ))
        .await;
    window.wait_for("heading", crate::cloud::NAME).await;
    drawn(window).await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prices_and_orders_are_those_of_the_api() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=1h")).await;
    drawn(&window).await;
    // Prices can move a little between the requests of the page and these.
    let item = data(&window, &format!("v1/bazaar?mode=item&id={ITEM}")).await;
    let book = data(&window, &format!("v1/bazaar?mode=book&id={ITEM}")).await;
    let number = |text: &str| text.replace([',', '%'], "").parse::<f64>().unwrap();
    // The notes below the figures are of another element.
    let shown = "[...document.querySelectorAll('.tiles dd')].map((figure) => figure.firstChild.textContent)";
    let mut shown: Vec<String> = serde_json::from_value(window.evaluate(shown).await).unwrap();
    let age = shown.remove(3);
    assert!(age.ends_with(" ago"), "{age}");
    let [order, offer] = ["topBuyOrder", "topSellOffer"].map(|field| book[field].as_f64().unwrap());
    let fields = ["sellVolume", "buyVolume", "sellMovingWeek", "buyMovingWeek", "sellPrice", "buyPrice"];
    let fields = fields.map(|field| (field, item[field].as_f64().unwrap()));
    let figures = [("order", order), ("offer", offer), ("spread", offer - order)];
    assert_eq!(shown.len(), figures.len() + fields.len());
    for (text, (field, expected)) in shown.iter().zip(figures.into_iter().chain(fields)) {
        assert!(
            (number(text) - expected).abs() < 0.006 + expected / 100.0,
            "{field}: {text}, not {expected}"
        );
    }
    assert!(number(&shown[0]) < number(&shown[1]), "{shown:?}");
    for (side, field) in [("first", "buyOrders"), ("second", "sellOffers")] {
        let cells = texts_of(&window, &format!(".book table.{side} tbody tr:first-child td")).await;
        let expected = book[field][0]["price"].as_f64().unwrap();
        assert!((number(&cells[0]) - expected).abs() < 0.006 + expected / 100.0, "{field}: {cells:?}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chart_draws_prices_with_bands_gaps_volumes_and_names_of_mayors() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    go(&window, "7d").await;
    let candles = data(&window, &format!("v1/bazaar/candles?item_id={ITEM}&interval=30m&limit=5")).await;
    let candle = &candles["candles"][1];
    // A candle is drawn at its end.
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
    assert_eq!(window.evaluate("plots[0].data[1].includes(null)").await, true, "the gap of the past");

    let mayors = data(&window, "v1/mayor/history?limit=1").await;
    window.wait(&format!("drawnTexts.includes({})", mayors["history"][0]["name"])).await;
    window.expect_clean(&[]);
}
