//! Checks with axe-core. It is injected through the debugging protocol, because the policies of the pages block its script.

use serde_json::json;

use super::Window;

const AXE: &str = include_str!("../vendor/axe.min.js");

/// Runs all rules of axe on what is shown.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => \
    violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, html, failureSummary }) => \
    `${impact} ${id}: ${target} ${html.slice(0, 200)} ${failureSummary}`)))";

/// Waits until the page has drawn itself anew, and what appears slowly is there.
const DRAWN: &str = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => \
    Promise.all(document.getAnimations().filter((animation) => animation.effect.getTiming().iterations !== Infinity) \
    .map((animation) => animation.finished))).then(() => {})";

impl Window {
    /// Panics if axe finds fault with the state, dark on a narrow telephone or light on a laptop, or if the page is wider than the
    /// window. The page must stay in its state when it is resized.
    pub(crate) async fn inspect(&self, state: &str) {
        if self.evaluate("typeof axe").await == "undefined" {
            self.evaluate(&format!("{AXE}; void 0")).await;
        }
        for (scheme, width, height) in [("dark", 360, 740), ("light", 1_280, 900)] {
            let is_phone = scheme == "dark";
            let metrics =
                json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
            self.call("Emulation.setDeviceMetricsOverride", metrics).await;
            let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
            self.call("Emulation.setEmulatedMedia", json!({"features": features})).await;
            self.evaluate(DRAWN).await;
            let found = self.evaluate(RUN).await;
            assert_eq!(found, json!([]), "{state}, {scheme}, {width} px: {found:#}");
            let beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(self.evaluate(beyond).await, 0, "{state}, {scheme}: wider than {width} px");
        }
    }
}
