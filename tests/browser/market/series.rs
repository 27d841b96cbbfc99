//! The page's modules compute the right requests, points and gaps of a chart, and the right figures of hours.

use serde_json::{Value, json};

use crate::cloud::{ITEM, pro_key, start, start_with_past};
use crate::window::Window;

/// Runs the body of an asynchronous function in the page. The body can use `module` (the exports of `file`),
/// `BAZAAR`, `AVERAGES` and `AUCTIONS` (the markets), and the value as `given`.
pub(super) async fn run(window: &Window, file: &str, given: &Value, body: &str) -> Value {
    let expression = format!(
        "(async (given) => {{
          const {{ src }} = document.querySelector('script[type=module]');
          const module = await import(src.replace('market.js', {file}));
          const {{ BAZAAR, BAZAAR_AVERAGES: AVERAGES, AUCTIONS }} = await import(src.replace('market.js', 'markets.js'));
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
    // The product has 3-hour candles of 30 days and daily candles of two years. Each of these intervals lacks
    // twelve candles in a row.
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

/// These functions need a browser, because Node.js 20 has no `Map.groupBy`.
#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn complete_hours_and_medians_of_hours_are_exact() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &pro_key(&cloud)).await;
    window.open("/market").await;
    a_history_names_its_begin_and_its_first_complete_hour(&window).await;
    hours_are_medians_of_prices_relative_to_the_average_of_their_local_day(&window).await;
}

async fn a_history_names_its_begin_and_its_first_complete_hour(window: &Window) {
    let body = "const minute = 60000;
         const rows = given.map(([start, step, buy]) => ({ start: start * minute, step: step * minute, buy, source: { complete: start + step <= 300 } }));
         const times = [module.beginOf(BAZAAR, rows, { from: 0, to: 300 * minute }), module.firstHourOf(rows)];
         return times.map((time) => time === undefined ? null : time / minute);";
    let row = |start: i64, step: i64| json!([start, step, 5]);
    let parts: Vec<_> = (0..14).map(|part| row(130 + part * 5, 5)).collect();
    let halves = |from: i64| vec![json!([from, 30, null]), row(from + 30, 30), row(from + 60, 30)];
    for (rows, expected) in [
        (vec![], [None, None]),
        // From 130 on, the hour that begins at 180 is not complete before 240.
        (parts[..13].to_vec(), [Some(130), None]),
        (
            parts.into_iter().chain((0..10).map(|part| row(200 + part * 5, 5))).collect(),
            [Some(130), Some(180)],
        ),
        (halves(120), [Some(150), Some(120)]),
        (vec![row(30, 60)], [None, Some(0)]),
        (vec![row(270, 60)], [Some(270), None]),
    ] {
        assert_eq!(run(window, "series.js", &json!(rows), body).await, json!(expected), "{rows:?}");
    }
}

async fn hours_are_medians_of_prices_relative_to_the_average_of_their_local_day(window: &Window) {
    // Tokyo is nine hours ahead of UTC.
    window.call("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
    let body = "const rows = Array.from({ length: given * 24 }, (_, index) => {
          const buy = index % 24 === 19 ? 97.6 : 100;
          return { start: Date.parse('2026-11-02T00:00:00Z') + index * 3600000, buy, buyOpen: buy };
        });
        const { days, hours, week } = module.hoursOf(rows, 'buy');
        const lowest = Math.min(...hours, ...week.flat());
        return [days, hours.indexOf(lowest), lowest.toFixed(3), new Set(week.map((day) => day[4].toFixed(3))).size];";
    let found = run(window, "hours.js", &json!(14), body).await;
    // The last day has only nine hours and is left out. 97.6 is 2.302 % below the average of 99.9.
    assert_eq!(found, json!([14, 4, "-2.302", 1]));
}
