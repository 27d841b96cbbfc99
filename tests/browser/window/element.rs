//! Elements as people find them: by role and name, as a screen reader announces them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PATIENCE, Window};

impl Window {
    /// The ids of the elements with this role and exactly this name. Hidden elements have no role.
    async fn find(&self, role: &str, name: &str) -> Vec<Value> {
        let document = json!({"expression": "document"});
        let Ok(document) = self.page.try_call("Runtime.evaluate", document).await else { return Vec::new() };
        let object = &document["result"]["objectId"];
        let mut query = json!({"objectId": object, "role": role});
        if !name.is_empty() {
            query["accessibleName"] = json!(name);
        }
        let Ok(found) = self.page.try_call("Accessibility.queryAXTree", query).await else {
            return Vec::new();
        };
        let nodes = found["nodes"].as_array().cloned().unwrap_or_default();
        let nodes = nodes.into_iter().filter(|node| node["ignored"] != true);
        nodes.map(|node| node["backendDOMNodeId"].clone()).collect()
    }

    /// Waits for an element with this role and name.
    pub(crate) async fn wait_for(&self, role: &str, name: &str) {
        self.first(role, name).await;
    }

    async fn first(&self, role: &str, name: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(node) = self.find(role, name).await.into_iter().next() {
                return node;
            }
            if begun.elapsed() > PATIENCE {
                self.give_up(&format!("{role} {name:?} is shown")).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Clicks on the first element with this role and name, as soon as there is one.
    pub(crate) async fn click(&self, role: &str, name: &str) {
        let node = self.first(role, name).await;
        self.call("DOM.scrollIntoViewIfNeeded", json!({"backendNodeId": node})).await;
        let quads = self.call("DOM.getContentQuads", json!({"backendNodeId": node})).await;
        let corners: Vec<_> =
            quads["quads"][0].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let middle = |one: f64, other: f64| f64::midpoint(one, other);
        self.click_at(middle(corners[0], corners[4]), middle(corners[1], corners[5])).await;
    }

    /// Focuses the first element with this role and name.
    pub(crate) async fn focus(&self, role: &str, name: &str) {
        let node = self.first(role, name).await;
        self.call("DOM.focus", json!({"backendNodeId": node})).await;
    }

    /// The left, top, width and height of the first element that matches the selector, in the window.
    pub(crate) async fn place(&self, selector: &str) -> [f64; 4] {
        self.wait(&format!("document.querySelector({})", json!(selector))).await;
        let expression = format!(
            "(() => {{ const element = document.querySelector({}); element.scrollIntoView({{ block: 'center' }}); \
             const {{ x, y, width, height }} = element.getBoundingClientRect(); return [x, y, width, height]; }})()",
            json!(selector)
        );
        serde_json::from_value(self.evaluate(&expression).await).unwrap()
    }
}
