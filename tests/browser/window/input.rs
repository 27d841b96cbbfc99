//! Keyboard and mouse.

use std::time::Duration;

use serde_json::json;

use super::Window;

impl Window {
    /// Presses and releases a key, such as `Enter`, `ArrowDown` or `/`.
    pub(crate) async fn press(&self, key: &str) {
        let (code, number, text) = match key {
            "ArrowDown" => (key, 40, None),
            "ArrowUp" => (key, 38, None),
            "Enter" => (key, 13, Some("\r")),
            "Escape" => (key, 27, None),
            "Tab" => (key, 9, None),
            "/" => ("Slash", 191, Some(key)),
            other => panic!("add the codes of the key {other} here"),
        };
        let event =
            |kind: &str| json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number});
        let mut down = event(if text.is_some() { "keyDown" } else { "rawKeyDown" });
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down).await;
        self.call("Input.dispatchKeyEvent", event("keyUp")).await;
    }

    /// Types the text into the focused field.
    pub(crate) async fn type_text(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text})).await;
    }

    /// Clicks at this point of the window.
    pub(crate) async fn click_at(&self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, false).await;
        self.mouse("mousePressed", x, y, true).await;
        self.mouse("mouseReleased", x, y, false).await;
    }

    /// Moves the mouse to this point.
    pub(crate) async fn hover(&self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, false).await;
    }

    /// Drags the mouse from one point to another, in steps as a hand does.
    pub(crate) async fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from.0, from.1, false).await;
        self.mouse("mousePressed", from.0, from.1, true).await;
        for step in 1..=8 {
            let share = f64::from(step) / 8.0;
            let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            self.mouse("mouseMoved", x, y, true).await;
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
        self.mouse("mouseReleased", to.0, to.1, false).await;
    }

    async fn mouse(&self, kind: &str, x: f64, y: f64, is_down: bool) {
        let is_button = kind != "mouseMoved";
        let event = json!({
            "type": kind, "x": x, "y": y, "clickCount": u8::from(is_button),
            "button": if is_button || is_down { "left" } else { "none" },
            "buttons": u8::from(is_down),
        });
        self.call("Input.dispatchMouseEvent", event).await;
    }
}
