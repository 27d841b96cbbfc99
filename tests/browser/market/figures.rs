//! The size and the speed of the page. Figures are printed; times have bounds only for released functions on an idle machine.

use std::time::Duration;

use local::{Binaries, Options};
use serde_json::{Value, json};

use super::defects::go;
use super::item::drawn;
use super::{open, settle};
use crate::auctions::PRODUCT;
use crate::cloud::{ITEM, key, record_past, start, start_with, start_with_past_of_auctions};
use crate::window::Window;

/// The bytes of the page, its scripts and styles as they are sent.
const MOST_BYTES: f64 = 45_000.0;

/// The same with an item. The catalogue is data.
const MOST_BYTES_WITH_ITEM: f64 = 80_000.0;

/// How much larger the heap may be after 25 more changes of the item, in bytes: the cache of responses has its bound after that.
const MOST_GROWTH: f64 = 1_000_000.0;

/// Each file that the page has loaded, with its size as gzip makes it. The local cloud compresses faster and less.
const SIZES: &str = "Promise.all([location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)]\
    .filter((name) => !name.includes('/v1/')).map(async (name) => { \
    const stream = (await fetch(name)).body.pipeThrough(new CompressionStream('gzip')); \
    return [name.split('/').pop(), (await new Response(stream).arrayBuffer()).byteLength]; }))";

/// Whether the functions are released ones, and the bounds those that hold on an idle machine.
fn is_strict() -> bool {
    std::env::var_os("BROWSER_FIGURES").is_some_and(|value| value == "strict")
}

/// The functions to measure.
fn options() -> Options {
    let profile = if is_strict() { "release" } else { "test" };
    Options { binaries: Binaries::Build { profile: profile.to_owned() }, ..Options::for_tests() }
}

/// Bounds in milliseconds: of the time until one can act, of that until the first chart, of a task, and of a change of the range.
struct Bounds {
    usable: f64,
    chart: f64,
    task: f64,
    range: f64,
}

const BOUNDS: Bounds = Bounds { usable: 1_000.0, chart: 2_000.0, task: 100.0, range: 50.0 };

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_has_at_most_45_kb_without_data_and_80_kb_with_an_item() {
    let cloud = start().await;
    let key = key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open("/market").await;
    window.wait_for("heading", "Your API key").await;
    let sizes: Vec<(String, f64)> = serde_json::from_value(window.evaluate(SIZES).await).unwrap();
    let sum: f64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    println!("market page without an item: {sum} bytes, compressed: {sizes:?}");
    assert!(sum <= MOST_BYTES, "{sum} bytes: {sizes:?}");
    window.open(&format!("/market?item={ITEM}#key={key}")).await;
    window.wait("document.querySelector('.plots[aria-busy=false] canvas')").await;
    let with_item: Vec<(String, f64)> = serde_json::from_value(window.evaluate(SIZES).await).unwrap();
    let sum: f64 = with_item.iter().map(|(_, bytes)| bytes).sum();
    println!("market page with an item: {sum} bytes, compressed: {with_item:?}");
    assert!(sum <= MOST_BYTES_WITH_ITEM, "{sum} bytes: {with_item:?}");
    let seen = window.seen();
    for request in seen.requests_for("/assets/") {
        let encoding = request.response_headers.get("content-encoding");
        let is_large = sizes.iter().any(|(name, bytes)| request.url.ends_with(name) && *bytes > 1_024.0);
        assert!(!is_large || encoding.is_some_and(|encoding| encoding == "gzip"), "{request:?}");
    }
    window.expect_clean(&[]);
}

/// The bytes of the heap, the nodes and the listeners of the page, after a garbage collection.
async fn memory(window: &Window) -> [f64; 3] {
    window.call("HeapProfiler.collectGarbage", json!({})).await;
    let heap = window.call("Runtime.getHeapUsage", json!({})).await;
    let counters = window.call("Memory.getDOMCounters", json!({})).await;
    [&heap["usedSize"], &counters["nodes"], &counters["jsEventListeners"]]
        .map(|value| value.as_f64().unwrap())
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_changes_of_the_item_leave_nothing_behind() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, "?view=status").await;
    let mut used = Vec::new();
    for change in 0..=50 {
        let item = [ITEM, "COAL", PRODUCT, "INK_SACK:3"][change % 4];
        let style = ["", "&style=candles", "&with=COAL"][change % 3];
        go(&window, &format!("?item={item}&range=1h{style}")).await;
        window.wait(&format!("document.querySelector('.title code')?.innerText === {item:?}")).await;
        drawn(&window).await;
        if change % 25 == 0 {
            go(&window, "?view=status").await;
            window.wait("!document.querySelector('.plots')").await;
            settle(&window).await;
            assert_eq!(window.evaluate("uPlot.sync('item').plots.length").await, 0);
            used.push(memory(&window).await);
        }
    }
    let [_, before, mut after] = used[..] else { panic!("{used:?}") };
    // The status has some nodes more or less from one minute to the next; a change that leaves one behind would leave 25. On a busy
    // machine, the browser frees what is left of the last change later.
    let is_freed = |after: [f64; 3]| {
        after[0] - before[0] <= MOST_GROWTH && after[1] < before[1] + 25.0 && after[2] <= before[2]
    };
    for _ in 0..50 {
        if is_freed(after) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        after = memory(&window).await;
    }
    println!("market page: bytes, nodes and listeners after 0, 25 and 50 changes {used:?}, then {after:?}");
    assert!(is_freed(after), "{used:?}, then {after:?}");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_soon_usable_and_never_blocked_for_long() {
    let cloud = start_with(options()).await;
    record_past(&cloud).await;
    let window = open(&cloud, &format!("?item={ITEM}&range=24h")).await;
    window.wait("document.querySelector('.plots[aria-busy=false] canvas')").await;
    settle(&window).await;

    // The functions have started and the browser has the files: the second visit counts.
    window.reload().await;
    let begun = "performance.now()";
    window.wait("document.querySelector('#search')").await;
    let usable = window.evaluate(begun).await.as_f64().unwrap();
    window.wait("document.querySelector('.plots[aria-busy=false] canvas')").await;
    let chart = window.evaluate(begun).await.as_f64().unwrap();
    println!("market page: usable after {usable:.0} ms, first chart after {chart:.0} ms");
    settle(&window).await;

    let switch = |range: &str| {
        format!(
            "new Promise((done) => {{ const button = [...document.querySelectorAll('[aria-pressed]')]\
             .find((button) => button.innerText === '{range}'); const begun = performance.now(); button.click(); \
             const wait = () => document.querySelector('.plots[aria-busy=false]') && button.ariaPressed === 'true' \
             ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun))) : setTimeout(wait, 1); wait(); }})"
        )
    };
    for range in ["7d", "30d", "1y"] {
        window.evaluate(&switch(range)).await;
        settle(&window).await;
    }
    let mut longest: f64 = 0.0;
    for range in ["7d", "30d", "1y", "7d"] {
        let milliseconds = window.evaluate(&switch(range)).await.as_f64().unwrap();
        println!("market page: {range} from memory after {milliseconds:.0} ms");
        longest = longest.max(milliseconds);
    }
    let tasks = window.seen().tasks;
    let slowest = tasks.iter().map(|task| task.duration_ms).fold(0.0, f64::max);
    println!("market page: longest task {slowest:.0} ms of {tasks:?}");
    if is_strict() {
        assert!(usable <= BOUNDS.usable && chart <= BOUNDS.chart, "usable {usable}, chart {chart}");
        assert!(longest <= BOUNDS.range, "a range from memory takes {longest} ms");
        assert!(slowest <= BOUNDS.task, "{tasks:?}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_of_3_mb_blocks_at_most_300_ms() {
    let cloud = start_with(options()).await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    // As the page reads every response.
    let read = "fetch('v1/bazaar?mode=full', { headers: { 'X-API-Key': sessionStorage.getItem('key') } })\
        .then((response) => response.json()).then((body) => [JSON.stringify(body).length, performance.now()])";
    let before = window.evaluate("performance.now()").await.as_f64().unwrap();
    let read: Value = window.evaluate(read).await;
    let bytes = read[0].as_f64().unwrap();
    window.evaluate("new Promise((done) => setTimeout(done, 300))").await;
    let tasks = window.seen().tasks;
    let blocked: f64 = tasks.iter().filter(|task| task.start_ms > before).map(|task| task.duration_ms).sum();
    println!("market page: a response of {bytes} bytes blocks {blocked:.0} ms");
    assert!(bytes > 2_000_000.0, "{bytes} bytes");
    assert!(!is_strict() || blocked <= 300.0, "{tasks:?}");
    window.expect_clean(&[]);
}
