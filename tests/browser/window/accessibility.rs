//! Checks with axe-core. It is injected through the debugging protocol, because the policies of the pages block its script.

use serde_json::Value;

use super::{LAPTOP, PHONE, Scheme, Window, takes_pictures};

const AXE: &str = include_str!("../vendor/axe.min.js");

/// Runs all rules of axe on what is shown.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => \
    violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, html, failureSummary }) => \
    `${impact} ${id}: ${target} ${html.slice(0, 200)} ${failureSummary}`)))";

impl Window {
    /// Returns what axe finds wrong with the state, dark on a phone and light on a laptop. Where pictures are wanted, it is shown in all
    /// four ways. The page must stay in its state when it is resized.
    pub(crate) async fn inspect(&mut self, state: &str) -> Vec<String> {
        if takes_pictures() {
            return self.inspect_whole(state, PHONE).await;
        }
        self.inspect_as(state, &[(Scheme::Dark, PHONE), (Scheme::Light, LAPTOP)]).await
    }

    /// The same in both schemes on this phone and on a laptop. It takes twice as long, so it is for views as a whole.
    pub(crate) async fn inspect_whole(&mut self, state: &str, phone: (u32, u32)) -> Vec<String> {
        let looks = [phone, LAPTOP].map(|size| [(Scheme::Dark, size), (Scheme::Light, size)]);
        self.inspect_as(state, looks.as_flattened()).await
    }

    async fn inspect_as(&mut self, state: &str, looks: &[(Scheme, (u32, u32))]) -> Vec<String> {
        let mut found = Vec::new();
        for (scheme, size) in looks {
            self.show_as(*scheme, *size).await;
            // Two frames: the page has drawn itself anew.
            let frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
            self.evaluate(frames).await;
            self.evaluate("Promise.all(document.getAnimations().filter((animation) => \
                animation.effect.getTiming().iterations !== Infinity).map((animation) => animation.finished)).then(() => {})").await;
            self.screenshot(state).await;
            let place = format!("{state}, {scheme:?}, {} px", size.0);
            found
                .extend(self.violations().await.into_iter().map(|violation| format!("{place}: {violation}")));
            let width = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            let beyond = self.evaluate(width).await.as_f64().unwrap();
            if beyond > 0.0 {
                found.push(format!("{place}: the page is {beyond} px wider than the window"));
            }
        }
        found
    }

    /// What axe finds wrong with what is shown.
    async fn violations(&self) -> Vec<String> {
        if self.evaluate("typeof axe").await == "undefined" {
            self.evaluate(&format!("{AXE}; void 0")).await;
        }
        let found = self.evaluate(RUN).await;
        let Value::Array(found) = found else { panic!("axe has returned {found}") };
        found.iter().map(|violation| violation.as_str().unwrap().to_owned()).collect()
    }
}
