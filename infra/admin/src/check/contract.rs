//! The promises of the API that only a deployment can break. Other tests cover the functions and the settings in the template
//! without a deployment. These promises depend on AWS: which requests reach which function, who may send them, which errors
//! API Gateway generates, and how it changes headers and bodies.

use common::auth::ApiKey;
use common::request::parameters::Username;
use common::routes::{BAZAAR, BAZAAR_CANDLES_ALL, INDEX, ITEMS, MAYOR, MAYOR_HISTORY, OPENAPI, PROFILE};
use conformance::{Document, Mismatch, header_text};
use futures_util::{StreamExt as _, stream};
use reqwest::{Method, RequestBuilder};

use super::client::{Client, Response};
use super::keys::Keys;
use super::report::Report;

/// More than the burst of the largest tier, and what its rate adds meanwhile.
const MOST_UNTIL_THROTTLED: usize = 600;
const CONCURRENCY: usize = 12;

/// The outcome of a judgement.
type Verdict = Result<(), Mismatch>;

/// A run of the checks.
pub(super) struct Run<'a> {
    pub(super) client: &'a Client,
    pub(super) keys: &'a Keys,
    /// The document of this program. That of the deployment could lead to another host.
    pub(super) document: &'a Document,
    pub(super) report: &'a mut Report,
}

impl Run<'_> {
    /// Checks that each operation responds as described, and only with a key unless it requires none.
    pub(super) async fn check_operations(&mut self, player: Option<&Username>) {
        for operation in self.document.operations() {
            let (path, name) = (operation.path(), format!("response GET {}", operation.path()));
            let Some(example) = operation.examples(200).next().filter(|_| path != BAZAAR_CANDLES_ALL.path)
            else {
                self.report.skip(name, "a deployment has not recorded the time of the example");
                continue;
            };
            let player = player.filter(|_| path == PROFILE.path);
            let target = player.map(|player| path.replace("{username}", player.as_str()));
            let target = target.as_deref().unwrap_or(example.request);
            let key = operation.requires_key().then_some(&self.keys.good);
            self.check(name, target, key, path, 200).await;
            if key.is_some() {
                self.check(format!("error 401 no key GET {path}"), target, None, path, 401).await;
            }
        }
    }

    /// Checks that only valid keys are accepted. `unknown` has not been issued.
    pub(super) async fn check_keys(&mut self, unknown: &ApiKey) {
        let (lapsed, revoked) = (self.keys.lapsed.as_ref(), self.keys.revoked.as_ref());
        for (name, key, status, reason) in [
            ("error 401 unknown key", Some(unknown), 401, ""),
            ("error 403 lapsed key", lapsed, 403, "neither --lapsed-key-file nor LAPSED_API_KEY is given"),
            (
                "error 401 revoked key",
                revoked,
                401,
                "neither --revoked-key-file nor REVOKED_API_KEY is given",
            ),
        ] {
            match key {
                Some(_) => self.check(name, MAYOR.path, key, MAYOR.path, status).await,
                None => self.report.skip(name, reason),
            }
        }
        let verdict = self.cached_response().await;
        self.report.add("cached response requires a key", verdict);
    }

    /// Checks the errors of a function, and those of API Gateway about unknown routes.
    pub(super) async fn check_errors(&mut self) {
        let target = format!("{}?limit=0", MAYOR_HISTORY.path);
        self.check("error 400", &target, Some(&self.keys.good), MAYOR_HISTORY.path, 400).await;
        for (method, path) in [(Method::GET, "/v1/nothing"), (Method::POST, MAYOR.path)] {
            let name = format!("error 404 {method} {path}");
            let response = self.client.send(self.client.request(method, path, None)).await;
            // The document describes no unknown routes, but all errors look alike.
            let verdict = response.and_then(|response| self.conforms(&response, BAZAAR.path, 404));
            self.report.add(name, verdict);
        }
    }

    /// Checks what browsers need, and the encodings.
    pub(super) async fn check_browsers(&mut self) {
        for path in [INDEX.path, MAYOR.path] {
            let verdict = self.preflight(path).await;
            self.report.add(format!("preflight OPTIONS {path}"), verdict);
        }
        for (path, key) in [(OPENAPI.path, None), (ITEMS.path, Some(&self.keys.good))] {
            let verdict = self.compression(path, key).await;
            self.report.add(format!("compression GET {path}"), verdict);
        }
    }

    /// Checks the limits of the key, which uses up its bursts.
    pub(super) async fn check_limits(&mut self, is_allowed: bool) {
        // Invalid parameters make the cheapest requests.
        let (profile, history) =
            (PROFILE.path.replace("{username}", ","), format!("{}?limit=0", MAYOR_HISTORY.path));
        for (name, target, path) in [
            ("limit of profiles is their own", profile, PROFILE.path),
            ("error 429", history, MAYOR_HISTORY.path),
        ] {
            if is_allowed {
                let verdict = self.exhaust(&target, path).await;
                self.report.add(name, verdict);
            } else {
                self.report.skip(name, "it uses up the burst of the key; --throttle is not given");
            }
        }
    }

    fn get(&self, target: &str, key: Option<&ApiKey>) -> RequestBuilder {
        self.client.request(Method::GET, target, key)
    }

    /// Checks that the response to a request has this status, and is as the document describes it for this path.
    async fn check(
        &mut self,
        name: impl Into<String>,
        target: &str,
        key: Option<&ApiKey>,
        path: &str,
        status: u16,
    ) {
        let response = self.client.send(self.get(target, key)).await;
        self.report.add(name, response.and_then(|response| self.conforms(&response, path, status)));
    }

    fn conforms(&self, response: &Response, path: &str, status: u16) -> Verdict {
        expect(response, status)?;
        let operation = self.document.operation(path);
        operation
            .map_or(Ok(()), |operation| operation.check_response(status, &response.headers, &response.text()))
    }

    /// Judges that no cache responds to a request without a key, or stores the rejection.
    async fn cached_response(&self) -> Verdict {
        let good = (Some(&self.keys.good), 200);
        for (key, status) in [good, good, (None, 401), good] {
            let response = self.client.send(self.get(MAYOR.path, key)).await?;
            self.conforms(&response, MAYOR.path, status)?;
        }
        Ok(())
    }

    /// Judges that a browser may send a request with a key.
    async fn preflight(&self, path: &str) -> Verdict {
        let request = self.client.request(Method::OPTIONS, path, None);
        let request = request.header("origin", "https://client.example");
        let request = request.header("access-control-request-method", "GET");
        let request = request.header("access-control-request-headers", "x-api-key");
        let response = self.client.send(request).await?;
        if response.status != 204 {
            expect(&response, 200)?;
        }
        for (name, expected) in [
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", "get"),
            ("access-control-allow-headers", "x-api-key"),
        ] {
            let received = header_text(&response.headers, name);
            if !received.to_ascii_lowercase().split(',').any(|value| value.trim() == expected) {
                return Err(Mismatch::new(format!("{expected} in the header {name}"), received));
            }
        }
        Ok(())
    }

    /// Judges that clients get an encoding that they accept, even if a cache has stored another.
    async fn compression(&self, path: &str, key: Option<&ApiKey>) -> Verdict {
        for (accepted, expected) in [("gzip", "gzip"), ("identity", "none"), ("gzip, deflate, br", "gzip")] {
            let request = self.get(path, key).header("accept-encoding", accepted);
            let response = self.client.send(request).await?;
            expect(&response, 200)?;
            let received = header_text(&response.headers, "content-encoding");
            let is_json = serde_json::from_slice::<serde_json::Value>(&response.body).is_ok();
            if received != expected || is_json != (expected == "none") {
                let text = format!("the content encoding {expected} for a client that accepts {accepted}");
                return Err(Mismatch::new(text, format!("{received}; {}", response.summary())));
            }
        }
        Ok(())
    }

    /// Repeats the request until its response is a 429, which must not be the first one, and judges that.
    async fn exhaust(&self, target: &str, path: &str) -> Verdict {
        let request = |_| self.client.send_now(self.get(target, Some(&self.keys.good)));
        expect(&request(0).await?, 400)?;
        let mut responses = stream::iter(0..MOST_UNTIL_THROTTLED).map(request).buffer_unordered(CONCURRENCY);
        while let Some(response) = responses.next().await.transpose()? {
            if response.status == 429 {
                return self.conforms(&response, path, 429);
            }
        }
        Err(Mismatch::new("a 429", format!("{MOST_UNTIL_THROTTLED} other responses")))
    }
}

fn expect(response: &Response, status: u16) -> Verdict {
    if response.status == status {
        Ok(())
    } else {
        Err(Mismatch::new(format!("the status {status}"), response.summary()))
    }
}
