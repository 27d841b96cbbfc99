//! Wheel, fingers and keys zoom the chart, and each gesture adds one address to the tab's history.

use serde_json::json;

use super::chart::drawn;
use super::{open, texts_of};
use crate::cloud::{ITEM, NAME, start_with_past};
use crate::window::Window;

/// The number of addresses in the tab's history, and the length of the address's time range in milliseconds,
/// if it has one.
async fn state(window: &Window) -> [Option<f64>; 2] {
    let expression = "[history.length, (({ from, to }) => Date.parse(to) - Date.parse(from))(\
        Object.fromEntries(new URLSearchParams(location.search)))]";
    let state = window.evaluate(expression).await;
    [state[0].as_f64(), state[1].as_f64()]
}

/// Waits until the tab's history has more addresses than in `before`, and returns the new state.
async fn next(window: &Window, before: [Option<f64>; 2]) -> [Option<f64>; 2] {
    window.wait(&format!("history.length > {}", before[0].unwrap())).await;
    drawn(window).await;
    let after = state(window).await;
    assert_eq!(after[0], before[0].map(|entries| entries + 1.0), "each gesture must add one address");
    after
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wheel_and_two_fingers_zoom_and_mouse_and_keys_move_the_cursor() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    let zoomed_out = turn_the_wheel(&window).await;
    zoom_with_two_fingers(&window, zoomed_out).await;
    move_the_cursor(&window).await;
    window.expect_clean(&[]);
}

/// Zooms with the wheel, in and out again. Returns the last state, which shows the whole range.
async fn turn_the_wheel(window: &Window) -> [Option<f64>; 2] {
    let wheel = async |delta: f64, modifiers: u8| {
        let [x, y, width, height] = window.place(".plots .u-over").await;
        let event = json!({
            "type": "mouseWheel", "x": x + width / 2.0, "y": y + height / 2.0, "deltaX": 0, "deltaY": delta, "modifiers": modifiers,
        });
        window.call("Input.dispatchMouseEvent", event).await;
    };
    let whole = state(window).await;
    let top = window
        .evaluate("document.querySelector('.plots .u-over').scrollIntoView({ block: 'center' }), scrollY")
        .await;
    wheel(60.0, 0).await;
    window.wait(&format!("scrollY > {top}")).await;
    assert_eq!(state(window).await, whole);
    wheel(-100.0, 2).await;
    let by_ctrl = next(window, whole).await;
    window.focus("application", "").await;
    wheel(-100.0, 0).await;
    let by_focus = next(window, by_ctrl).await;
    assert!(by_focus[1] < by_ctrl[1] && by_ctrl[1] < Some(6.0 * 86_400_000.0), "{by_ctrl:?}, {by_focus:?}");
    // Zooms out to the whole range, which needs no times in the address.
    let turns = "for (let turn = 0; turn < 9; turn += 1) document.querySelector('.plots')
        .dispatchEvent(new WheelEvent('wheel', { deltaY: 100, cancelable: true }))";
    window.evaluate(turns).await;
    let zoomed_out = next(window, by_focus).await;
    assert_eq!(zoomed_out[1], None);
    zoomed_out
}

async fn zoom_with_two_fingers(window: &Window, whole: [Option<f64>; 2]) {
    let [x, y, width, height] = window.place(".plots .u-over").await;
    let touch = async |kind: &str, shares: &[f64]| {
        let point = |(id, share)| json!({"x": x + width * share, "y": y + height / 2.0, "id": id});
        let points: Vec<_> = (0..).zip(shares).map(|(id, share): (i32, &f64)| point((id, share))).collect();
        window.call("Input.dispatchTouchEvent", json!({"type": kind, "touchPoints": points})).await;
    };
    touch("touchStart", &[0.4]).await;
    touch("touchStart", &[0.4, 0.6]).await;
    for step in [0.05, 0.1, 0.2] {
        touch("touchMove", &[0.4 - step, 0.6 + step]).await;
    }
    assert_eq!(state(window).await, whole, "the gesture has not ended");
    touch("touchEnd", &[0.2]).await;
    touch("touchEnd", &[]).await;
    // The fingers were a fifth of the week apart and are now three fifths of the chart apart, so the chart
    // shows a third of the week.
    let share = next(window, whole).await[1].unwrap() / (7.0 * 86_400_000.0);
    assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
}

/// Moves the cursor with keys and mouse, and zooms with keys.
async fn move_the_cursor(window: &Window) {
    let label = format!(
        "Prices of {NAME}. The table below the chart has the same data. Arrow keys move the cursor, plus and minus zoom."
    );
    window.click("button", "7d").await;
    drawn(window).await;
    window.focus("application", &label).await;
    let time = "document.querySelector('.legend dd').innerText";
    let latest = texts_of(window, ".legend dd").await;
    window.press("ArrowLeft").await;
    window.press("ArrowLeft").await;
    window.wait(&format!("{time} !== {}", json!(latest[0]))).await;
    let earlier = texts_of(window, ".legend dd").await;
    window.press("ArrowRight").await;
    window.wait(&format!("{time} === {}", json!(latest[0]))).await;
    assert_ne!(earlier[1], latest[1]);
    let whole = state(window).await;
    window.press("+").await;
    let part = next(window, whole).await;
    window.press("-").await;
    assert_eq!(
        [part[1], next(window, part).await[1]],
        [Some(302_400_000.0), None],
        "half of the week, then all of it"
    );
    let [x, y, width, height] = window.place(".plots .u-over").await;
    window.mouse("mouseMoved", x + width * 0.3, y + height / 2.0).await;
    window.wait(&format!("{time} !== {}", json!(latest[0]))).await;
}
