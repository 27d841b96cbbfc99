//! The promises of the API that only a deployment can break. Other tests cover the functions and the settings
//! in the template without a deployment. The promises here depend on AWS: which requests reach which
//! function, who may send them, which errors API Gateway generates, and how it changes headers and bodies.

use common::auth::ApiKey;
use common::routes::{BAZAAR, BAZAAR_CANDLES_ALL, ITEMS, MAYOR, MAYOR_HISTORY, PROFILE};
use conformance::{Document, JSON, Mismatch, Operation, header_text};
use futures_util::{StreamExt as _, stream};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::client::{Client, Response};
use super::keys::Keys;
use super::report::Report;

/// More requests than the largest tier accepts during the check: its burst, and the requests that its rate
/// adds.
const MOST_UNTIL_THROTTLED: usize = 600;
const CONCURRENCY: usize = 12;

type Verdict = Result<(), Mismatch>;

pub(super) struct Run<'a> {
    pub(super) client: &'a Client,
    pub(super) keys: &'a Keys,
    /// The document of this program. The deployment's document could refer to another host.
    pub(super) document: &'a Document,
    pub(super) report: &'a mut Report,
}

impl Run<'_> {
    /// Runs all checks. `unknown` is a key that was never issued. If `throttles`, the run uses up the bursts
    /// of the good key.
    pub(super) async fn check(&mut self, unknown: &ApiKey, throttles: bool) {
        for operation in self.document.operations() {
            let path = operation.path();
            let name = format!("response GET {path}");
            let example = match operation.examples(200).next() {
                Some(example) if path != BAZAAR_CANDLES_ALL.path => example,
                _ => {
                    self.report.skip(name, "a deployment has no records from the time of the example");
                    continue;
                }
            };
            let key = operation.requires_key().then_some(&self.keys.good);
            let verdict = self.respond(example.request, key, path, 200).await;
            self.report.add(name, verdict);
        }
        for operation in self.document.operations().filter(Operation::has_head) {
            let path = operation.path();
            let verdict = self.head(path).await;
            self.report.add(format!("response HEAD {path}"), verdict);
        }
        // Invalid parameters make the cheapest requests.
        let invalid = format!("{}?limit=0", MAYOR_HISTORY.path);
        let profile = PROFILE.path.replace("{username}", ",");
        let Keys { good, lapsed, revoked } = self.keys;
        for (name, target, key, path, status) in [
            ("error 400", invalid.as_str(), Some(Some(good)), MAYOR_HISTORY.path, 400),
            ("error 401 no key", MAYOR.path, Some(None), MAYOR.path, 401),
            ("error 401 unknown key", MAYOR.path, Some(Some(unknown)), MAYOR.path, 401),
            ("error 403 lapsed key", MAYOR.path, lapsed.as_ref().map(Some), MAYOR.path, 403),
            ("error 401 revoked key", MAYOR.path, revoked.as_ref().map(Some), MAYOR.path, 401),
            // The document does not describe unknown routes, but all errors have the same form.
            ("error 404 unknown route", "/v1/nothing", Some(None), BAZAAR.path, 404),
        ] {
            let Some(key) = key else {
                self.report.skip(name, "LAPSED_API_KEY or REVOKED_API_KEY is not set");
                continue;
            };
            let verdict = self.respond(target, key, path, status).await;
            self.report.add(name, verdict);
        }
        let verdict = self.cached_response().await;
        self.report.add("cached response requires a key", verdict);
        let verdict = self.preflight(MAYOR.path).await;
        self.report.add(format!("preflight OPTIONS {}", MAYOR.path), verdict);
        let verdict = self.compression(ITEMS.path).await;
        self.report.add(format!("compression GET {}", ITEMS.path), verdict);
        for (name, target, path) in [
            ("profiles have their own limit", profile, PROFILE.path),
            ("error 429", invalid, MAYOR_HISTORY.path),
        ] {
            if throttles {
                let verdict = self.exhaust(&target, path).await;
                self.report.add(name, verdict);
            } else {
                self.report.skip(name, "it uses up the key's burst; --throttle is not given");
            }
        }
    }

    fn get(&self, target: &str, key: Option<&ApiKey>) -> RequestBuilder {
        self.client.request(Method::GET, target, key)
    }

    /// Checks that the response has this status, and that it conforms to the document's description of the
    /// path.
    async fn respond(&self, target: &str, key: Option<&ApiKey>, path: &str, status: u16) -> Verdict {
        let response = self.client.send(self.get(target, key)).await?;
        self.conforms(&response, path, status)
    }

    fn conforms(&self, response: &Response, path: &str, status: u16) -> Verdict {
        expect(response, status)?;
        let operation = self.document.operation(path);
        operation
            .map_or(Ok(()), |operation| operation.check_response(status, &response.headers, &response.body))
    }

    /// Checks that `HEAD` returns no body, on a path that requires no key.
    async fn head(&self, path: &str) -> Verdict {
        let response = self.client.send(self.client.request(Method::HEAD, path, None)).await?;
        expect(&response, 200)?;
        let media_type = header_text(&response.headers, "content-type");
        if media_type == JSON && response.body.is_empty() {
            return Ok(());
        }
        Err(Mismatch::new(format!("Content-Type {JSON} and no body"), response.summary()))
    }

    /// Checks that no cache responds to a request without a key, and that no cache stores the rejection.
    async fn cached_response(&self) -> Verdict {
        let good = (Some(&self.keys.good), 200);
        for (key, status) in [good, good, (None, 401), good] {
            self.respond(MAYOR.path, key, MAYOR.path, status).await?;
        }
        Ok(())
    }

    /// Checks that a browser may send a request with a key.
    async fn preflight(&self, path: &str) -> Verdict {
        let request = self
            .client
            .request(Method::OPTIONS, path, None)
            .header("origin", "https://client.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "x-api-key");
        let response = self.client.send(request).await?;
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

    /// Checks that clients get an encoding that they accept, even if a cache has stored another encoding.
    async fn compression(&self, path: &str) -> Verdict {
        for (accepted, expected) in [("gzip", "gzip"), ("identity", "none"), ("gzip, deflate, br", "gzip")] {
            let request = self.get(path, Some(&self.keys.good)).header("accept-encoding", accepted);
            let response = self.client.send(request).await?;
            expect(&response, 200)?;
            let received = header_text(&response.headers, "content-encoding");
            let is_json = serde_json::from_str::<Value>(&response.body).is_ok();
            if received != expected || is_json != (expected == "none") {
                let text = format!("the content encoding {expected} for a client that accepts {accepted}");
                return Err(Mismatch::new(text, format!("{received}; {}", response.summary())));
            }
        }
        Ok(())
    }

    /// Repeats a request with an invalid parameter until the response is a 429, and checks the 429. The first
    /// response must be a 400.
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
