//! The page's modules compute the right requests, points and gaps of a chart, and the right figures, labels and search results.

use serde_json::{Value, json};

use crate::cloud::{ITEM, pro_key, start, start_with_past};
use crate::window::Window;

/// Runs the body of an asynchronous function in the page. The body can use `module` (the exports of `file`), `BAZAAR` and `AUCTIONS` (the
/// markets), and the value as `given`.
pub(super) async fn run(window: &Window, file: &str, given: &Value, body: &str) -> Value {
    let expression = format!(
        "(async (given) => {{
          const {{ src }} = document.querySelector('script[type=module]');
          const module = await import(src.replace('market.js', {file}));
          const {{ BAZAAR, AUCTIONS }} = await import(src.replace('market.js', 'markets.js'));
          {body}
        }})({given})",
        file = json!(file),
    );
    window.evaluate(&expression).await
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn coarser_candles_fill_what_finer_ones_do_not_have_and_gaps_stay_gaps() {
    let cloud = start_with_past().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open("/market").await;
    // The product has 3-hour candles of 30 days and daily candles of two years. Each of these intervals lacks twelve candles in a row.
    let found = run(
        &window,
        "series.js",
        &json!({"item": ITEM, "key": key}),
        "const asked = [];
         const load = async (path) => {
           asked.push(new URLSearchParams(path.split('?')[1]).get('interval'));
           const response = await fetch(path, { headers: { 'X-API-Key': given.key } });
           return (await response.json()).data;
         };
         const now = Date.now();
         const source = module.rangeSource(BAZAAR, given.item, '90d');
         const data = await load(source.path);
         const from = now - 90 * 86400000;
         const { rows, failure } = await module.collect({ market: BAZAAR, item: given.item, source, from, to: now, data, now, load });
         const { data: columns, rowAt } = module.columns(BAZAAR, rows);
         const isAscending = columns[0].every((time, index) => !index || time > columns[0][index - 1]);
         const gaps = columns[0].filter((time, index) => !rowAt[index]);
         const lengths = gaps.map((gap) => {
           const index = columns[0].indexOf(gap);
           return Math.round((columns[0][index + 1] - columns[0][index - 1]) / 3600000);
         });
         const covers = rows[0].start <= from + 86400000 && rows.at(-1).time > now - 3 * 3600000;
         const steps = [...new Set(rows.map(({ step }) => step / 3600000))];
         const hasNulls = gaps.every((gap) => columns.slice(1).every((column) => column[columns[0].indexOf(gap)] === null));
         return { failure, isAscending, lengths, covers, steps, hasNulls, asked };",
    )
    .await;
    let expected = json!({
        "failure": null, "isAscending": true, "lengths": [13 * 24, 13 * 3], "covers": true, "steps": [24, 3], "hasNulls": true,
        "asked": ["3h", "1d"],
    });
    assert_eq!(found, expected);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modules_do_what_their_views_rely_on() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &pro_key(&cloud)).await;
    window.open("/market").await;
    a_part_of_a_range_comes_from_the_finest_candles_that_are_kept(&window).await;
    a_long_range_shows_all_that_a_young_deployment_has(&window).await;
    a_price_of_zero_is_no_price_in_the_chart_and_exact_in_the_file(&window).await;
    labels_of_an_axis_are_exact_and_differ_however_small_the_part_that_is_shown(&window).await;
    the_search_shows_the_best_match_first(&window).await;
    figures_of_a_range_and_places_of_labels_are_exact(&window).await;
    hours_are_medians_of_prices_relative_to_the_average_of_their_local_day(&window).await;
}

async fn a_part_of_a_range_comes_from_the_finest_candles_that_are_kept(window: &Window) {
    let parts = json!([
        [0.03, 0.0],
        [1.0, 0.9],
        [29.0, 28.0],
        [12.0, 2.0],
        [31.0, 30.5],
        [200.0, 195.0],
        [400.0, 390.0],
        [1200.0, 1100.0]
    ]);
    let found = run(
        window,
        "series.js",
        &parts,
        "const now = Date.parse('2026-11-22T15:30:00Z');
         return given.map(([from, to]) => {
           const day = 86400000;
           const { path } = module.partSource(BAZAAR, 'COAL', { from: now - from * day, to: now - to * day }, now);
           const query = new URLSearchParams(path.split('?')[1]);
           return [query.get('range') ?? query.get('interval'), Number(query.get('limit')) <= 502];
         });",
    )
    .await;
    let expected = ["1h", "5m", "5m", "30m", "30m", "1h", "3h", "1d"].map(|name| json!([name, true]));
    assert_eq!(found, json!(expected));
}

/// For each age of a deployment in days, the long ranges show at least as many prices as the shortest range that covers the age, and
/// begin no later.
async fn a_long_range_shows_all_that_a_young_deployment_has(window: &Window) {
    let ages = json!([[0.5, "24h"], [3, "7d"], [20, "30d"], [80, "90d"]]);
    let found = run(
        window,
        "series.js",
        &ages,
        "const day = 86400000;
         const now = Date.parse('2026-11-22T15:30:00Z');
         const steps = { '5m': 300000, '30m': 1800000, '1h': 3600000, '3h': 10800000, '1d': day };
         const lengths = { '1h': [day / 24, 60000], '24h': [day, 300000], '7d': [7 * day, 1800000], '30d': [30 * day, 3600000], '90d': [90 * day, 10800000] };
         const service = (age) => async (path) => {
           const query = new URLSearchParams(path.split('?')[1]);
           const slots = (step, from, to) => Array.from({ length: Math.max(Math.ceil(to / step) - Math.floor(from / step), 0) },
             (_, index) => new Date((Math.floor(from / step) + index) * step).toISOString());
           const price = { sell_price: 1, buy_price: 2, sell_close: 1, buy_close: 2 };
           if (query.has('range')) {
             const [length, step] = lengths[query.get('range')];
             return { history: slots(step, now - Math.min(length, age * day), now).map((time) => ({ ...price, recorded_at: time })) };
           }
           const before = Date.parse(query.get('before') ?? new Date(now).toISOString());
           const candles = slots(steps[query.get('interval')], now - age * day, Math.min(before, now));
           return { candles: candles.slice(-query.get('limit')).map((time) => ({ ...price, opened_at: time })), next_before: null };
         };
         const rowsAt = async (load, range) => {
           const source = module.rangeSource(BAZAAR, 'COAL', range);
           const from = now - BAZAAR.ranges[range].length;
           const { rows, failure } = await module.collect({ market: BAZAAR, item: 'COAL', source, from, to: now, data: await load(source.path), now, load });
           if (failure) throw failure;
           return rows;
         };
         const shortfalls = [];
         for (const [age, range] of given) {
           const load = service(age);
           const expected = await rowsAt(load, range);
           for (const long of ['1y', 'all']) {
             const rows = await rowsAt(load, long);
             if (rows.length < expected.length || rows[0].start > expected[0].start) shortfalls.push([age, long, rows.length, expected.length]);
           }
         }
         return shortfalls;",
    )
    .await;
    assert_eq!(found, json!([]), "age in days, range, its prices, prices of the shorter range");
}

async fn a_price_of_zero_is_no_price_in_the_chart_and_exact_in_the_file(window: &Window) {
    let candle = |opened_at: &str, close: f64, low: f64| {
        json!({
            "opened_at": opened_at, "sell_open": 7.25, "sell_high": 8.5, "sell_low": low, "sell_close": close,
            "buy_open": 9, "buy_high": 9.75, "buy_low": 9, "buy_close": 9.5, "sell_volume": 3, "buy_volume": 4,
            "samples": 5, "complete": true,
        })
    };
    let candles = [candle("2026-11-22T15:00:00Z", 7.5, 0.0), candle("2026-11-22T15:05:00Z", 0.0, 0.0)];
    let found = run(
        window,
        "series.js",
        &json!({"candles": candles}),
        "const rows = module.rowsOf(BAZAAR, given, 300000, Date.parse('2026-11-22T15:30:00Z'));
         return [rows.map(({ sell, sellLow, sellHigh, buyLow }) => [sell, sellLow, sellHigh, buyLow]), module.csv(BAZAAR, rows)];",
    )
    .await;
    let lines = [
        "time,seconds,sell_open,sell_high,sell_low,sell_close,buy_open,buy_high,buy_low,buy_close,sell_volume,buy_volume,samples",
        "2026-11-22T15:00:00Z,300,7.25,8.5,0,7.5,9,9.75,9,9.5,3,4,5",
        "2026-11-22T15:05:00Z,300,7.25,8.5,0,0,9,9.75,9,9.5,3,4,5",
        "",
    ];
    assert_eq!(found, json!([[[7.5, 7.25, 8.5, 9], [null, null, null, 9]], lines.join("\r\n")]));
}

async fn labels_of_an_axis_are_exact_and_differ_however_small_the_part_that_is_shown(window: &Window) {
    let axes = json!([
        [0, 0.05],
        [359.5, 0.01],
        [57_900, 20],
        [52_500, 2_500],
        [1_039_000, 500],
        [1_039_000, 250],
        [2_000_000_000_i64, 1_000_000]
    ]);
    let body = "return given.map(([from, distance]) => module.labels([0, 1, 2, 3].map((index) => from + index * distance), distance));";
    let found = run(window, "chart.js", &axes, body).await;
    let expected = json!([
        ["0", "0.05", "0.10", "0.15"],
        ["359.50", "359.51", "359.52", "359.53"],
        ["57.90K", "57.92K", "57.94K", "57.96K"],
        ["52.5K", "55.0K", "57.5K", "60.0K"],
        ["1.0390M", "1.0395M", "1.0400M", "1.0405M"],
        ["1.03900M", "1.03925M", "1.03950M", "1.03975M"],
        ["2.000B", "2.001B", "2.002B", "2.003B"],
    ]);
    assert_eq!(found, expected);
}

async fn the_search_shows_the_best_match_first(window: &Window) {
    let ids = [
        "ENCHANTMENT_FIRE_ASPECT_10",
        "ENCHANTMENT_FIRE_ASPECT_2",
        "RED_DIAMOND",
        "DIAMOND_BLOCK",
        "DIAMOND",
        "XDIAMONDX",
        "COAL",
        "INK_SACK:3",
    ];
    let items = ids.map(|id| json!({"id": id}));
    let found = run(
        window,
        "search.js",
        &json!({"list": {"items": items}, "catalogue": {"items": [{"id": "INK_SACK:3", "name": "§aCocoa Beans"}]}}),
        "const items = module.searchable(given.list, undefined, given.catalogue);
         const texts = ['DiaMond', 'fire aspect', 'asp fire', 'beans', 'ink_sack:3', 'nothing', ' ', 'fire aspct', 'Dimaond blok',
           'enchantment aspect x', 'ink beans', 'cool', 'coil x', 'col'];
         return texts.map((text) => module.matches(items, text).map(({ id }) => id));",
    )
    .await;
    let levels = json!(["ENCHANTMENT_FIRE_ASPECT_2", "ENCHANTMENT_FIRE_ASPECT_10"]);
    let expected = json!([
        ["DIAMOND", "DIAMOND_BLOCK", "RED_DIAMOND", "XDIAMONDX"],
        levels,
        levels,
        ["INK_SACK:3"],
        ["INK_SACK:3"],
        [],
        [],
        levels,
        ["DIAMOND_BLOCK"],
        ["ENCHANTMENT_FIRE_ASPECT_10"],
        ["INK_SACK:3"],
        ["COAL"],
        [],
        [],
    ]);
    assert_eq!(found, expected);
}

async fn figures_of_a_range_and_places_of_labels_are_exact(window: &Window) {
    let rows = json!([[null, 60], [100, 60], [140, 30], [120, 30], [null, 60]]);
    let body = "const rows = given.map(([buy, step]) => ({ buy, buyLow: buy && buy - 5, step }));
        const { low, high, average, coins, change, place } = module.summaryOf(rows, 'buy');
        return [[low, high, average, coins, Math.round(change), Math.round(place)], module.summaryOf([], 'buy')];";
    // The last price, 120, is 25 above the lowest, 95. The highest price is 45 above the lowest: 25 / 45 is 56 %.
    assert_eq!(run(window, "summary.js", &rows, body).await, json!([[95, 140, 115, 20, 20, 56], null]));
    let places = json!([[50, 52, 10], [98, 99, 97], [-5, -6]]);
    let body = "return given.map((wanted) => module.spread(wanted, 10, 0, 100));";
    let expected = json!([[50, 60, 10], [90, 100, 80], [10, 0]]);
    assert_eq!(run(window, "paint.js", &places, body).await, expected);
}

async fn hours_are_medians_of_prices_relative_to_the_average_of_their_local_day(window: &Window) {
    // Tokyo is nine hours ahead of UTC.
    window.call("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
    let body = "const rows = Array.from({ length: given * 24 }, (_, index) => {
          const buy = index % 24 === 19 ? 97.6 : 100;
          return { start: Date.parse('2026-11-02T00:00:00Z') + index * 3600000, buy, source: { buy_open: buy } };
        });
        const { days, hours, week } = module.hoursOf(rows, 'buy');
        const lowest = Math.min(...hours, ...week.flat());
        return [days, hours.indexOf(lowest), lowest.toFixed(3), new Set(week.map((day) => day[4].toFixed(3))).size];";
    let found = run(window, "hours.js", &json!(14), body).await;
    // The last day has only nine hours and is left out. 97.6 is 2.302 % below the average of 99.9.
    assert_eq!(found, json!([14, 4, "-2.302", 1]));
}
