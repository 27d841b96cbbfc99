//! Finds elements by role and name, as a screen reader announces them, and acts with keyboard and mouse.

use std::time::Instant;

use serde_json::{Value, json};

use super::Window;

impl Window {
    /// The first element with this role and exactly this name, if there is one. Hidden elements have no role.
    async fn find(&self, role: &str, name: &str) -> Option<Value> {
        let document = self.tab.call("Runtime.evaluate", json!({"expression": "document"})).await.ok()?;
        let mut query = json!({"objectId": document["result"]["objectId"], "role": role});
        if !name.is_empty() {
            query["accessibleName"] = json!(name);
        }
        let found = self.tab.call("Accessibility.queryAXTree", query).await.ok()?;
        let node = found["nodes"].as_array()?.iter().find(|node| node["ignored"] != true)?;
        Some(node["backendDOMNodeId"].clone())
    }

    async fn first(&self, role: &str, name: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(node) = self.find(role, name).await {
                return node;
            }
            self.pause(begun, &format!("{role} {name:?} is shown")).await;
        }
    }

    pub(crate) async fn wait_for(&self, role: &str, name: &str) {
        self.first(role, name).await;
    }

    /// Clicks on the first element with this role and name, as soon as there is one.
    pub(crate) async fn click(&self, role: &str, name: &str) {
        let node = self.first(role, name).await;
        self.call("DOM.scrollIntoViewIfNeeded", json!({"backendNodeId": node})).await;
        let quads = self.call("DOM.getContentQuads", json!({"backendNodeId": node})).await;
        let corners: Vec<_> =
            quads["quads"][0].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        self.click_at(f64::midpoint(corners[0], corners[4]), f64::midpoint(corners[1], corners[5])).await;
    }

    /// Focuses the first element with this role and name.
    pub(crate) async fn focus(&self, role: &str, name: &str) {
        let node = self.first(role, name).await;
        self.call("DOM.focus", json!({"backendNodeId": node})).await;
    }

    /// The left, top, width and height in the window of the first element that matches the selector.
    pub(crate) async fn place(&self, selector: &str) -> [f64; 4] {
        let element = format!("document.querySelector({})", json!(selector));
        self.wait(&element).await;
        self.evaluate(&format!("{element}.scrollIntoView({{ block: 'center' }})")).await;
        let place = format!(
            "(({{ x, y, width, height }}) => [x, y, width, height])({element}.getBoundingClientRect())"
        );
        serde_json::from_value(self.evaluate(&place).await).unwrap()
    }

    /// Presses and releases a key, such as `Enter`, `ArrowDown` or `/`.
    pub(crate) async fn press(&self, key: &str) {
        // Chromium acts on the code, and types the text.
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "/" => (191, key),
            _ => (0, ""),
        };
        for (kind, text) in [("keyDown", text), ("keyUp", "")] {
            let event = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event).await;
        }
    }

    /// Types the text into the focused field.
    pub(crate) async fn type_text(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text})).await;
    }

    pub(crate) async fn click_at(&self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y).await;
        }
    }

    /// Sends an event of the mouse at this point: `mouseMoved`, `mousePressed` or `mouseReleased`.
    pub(crate) async fn mouse(&self, kind: &str, x: f64, y: f64) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event).await;
    }
}
