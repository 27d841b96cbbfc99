//! Checks accessibility with axe-core. The debugging protocol injects the script of axe, because the policies
//! of the pages block it.

use serde_json::json;

use super::Window;

const AXE: &str = include_str!("../vendor/axe.min.js");

/// Runs all rules of axe on the visible page.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => \
    violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, html, failureSummary }) => \
    `${impact} ${id}: ${target} ${html.slice(0, 200)} ${failureSummary}`)))";

/// Waits until the page is drawn again and its animations have ended.
const DRAWN: &str = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => \
    Promise.all(document.getAnimations().filter((animation) => animation.effect.getTiming().iterations !== Infinity) \
    .map((animation) => animation.finished))).then(() => {})";

impl Window {
    /// Panics if axe finds a violation, or if the page is wider than the window. Checks the dark scheme on a
    /// narrow telephone, and the light scheme on a laptop. `state` names the page's state in the message.
    /// Resizing must not change the state.
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
