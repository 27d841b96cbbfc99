//! Every promise of the API that only a deployment can break, as one list. Other tests cover the functions and the settings
//! in the template without a deployment. These promises depend on AWS: which requests reach which function, which parameters
//! belong to the cache key, which errors API Gateway generates, and how it changes headers and bodies.

use common::auth::ApiKey;
use common::request::parameters::Username;
use common::routes::{
    BAZAAR, BAZAAR_CANDLES_ALL, BAZAAR_HISTORY, DOCS, FAVICON, INDEX, ITEMS, MARKET, MAYOR, MAYOR_HISTORY,
    OPENAPI, PROFILE, STATUS,
};
use conformance::{Document, Mismatch, Operation};
use reqwest::Method;

use super::document;
use super::judge::{self, Verdict};
use super::keys::{Keys, NO_LAPSED_KEY, NO_REVOKED_KEY};
use super::promise::{Ask, Promise};
use super::request::{GZIP, KEY_HEADER, Request};
use super::response::{Response, at};
use crate::error::Error;

/// A value that no parameter allows, except for `id`, which no item has.
const WRONG_VALUE: &str = "check,,none";
/// The player and the item of the examples.
const PLAYER: &str = "Notch";
const ITEM: &str = "INK_SACK:3";
/// The encodings that browsers accept.
const OF_BROWSERS: &str = "gzip, deflate, br";
const NO_EXAMPLE: &str = "the OpenAPI document has no example";
const NOT_RECORDED: &str = "a deployment has not recorded the time of the example";
const PAGES_ARE_OFF: &str = "the pages are switched off";
const NO_THROTTLE: &str = "it uses up the burst of the key; --throttle is not given";

/// What the list of promises depends on.
pub(super) struct Subject<'a> {
    /// The document that the deployment serves.
    pub(super) document: &'a Document,
    pub(super) keys: &'a Keys,
    /// The player to request instead of the one in the examples.
    pub(super) player: Option<&'a Username>,
    /// Whether the operator has switched the pages off.
    pub(super) pages_are_off: bool,
    /// Whether the limits of the key may be exceeded.
    pub(super) throttles: bool,
}

/// Every promise, in the order in which they are checked.
///
/// # Errors
/// If the system has no random source.
pub(super) fn promises<'a>(subject: &Subject<'a>) -> Result<Vec<Promise<'a>>, Error> {
    let unknown_key = ApiKey::generate(getrandom::fill).map_err(Error::Random)?;
    let mut promises =
        vec![Promise::new("OpenAPI document is that of this version", [get(OPENAPI.path)], |[response]| {
            document::of_this_version(response)
        })];
    for operation in subject.document.operations() {
        promises.extend(subject.of_operation(operation, &unknown_key));
    }
    promises.extend(subject.of_keys(&unknown_key));
    promises.extend(of_unknown_routes());
    promises.extend(subject.of_parameters()?);
    promises.extend(subject.of_encodings());
    promises.extend(subject.of_pages());
    // An invalid parameter makes the cheapest request.
    let request = subject.keyed(format!("{}?limit=0", MAYOR_HISTORY.path));
    let until_throttled = |request, others| {
        if subject.throttles { Ok(Ask::UntilThrottled(request, others)) } else { Err(NO_THROTTLE) }
    };
    let profile = subject.keyed(PROFILE.path.replace("{username}", WRONG_VALUE));
    let ask = until_throttled(profile, vec![request.clone()]);
    promises.push(Promise::of("limit of profiles is their own", ask, |responses| match responses {
        [profile, other] => judge::error(profile, 429).and_then(|_| judge::error(other, 400)).map(drop),
        _ => Err(Mismatch::new("a 429, and then a response of another route", "no response")),
    }));
    promises.push(Promise::of(
        "error 429",
        until_throttled(request, Vec::new()),
        |responses| match responses {
            [response] => judge::error(response, 429).map(drop),
            _ => Err(Mismatch::new("a 429", "no response")),
        },
    ));
    Ok(promises)
}

impl<'a> Subject<'a> {
    /// What each operation promises: it responds as described, only with a key unless it requires none, to scripts in browsers,
    /// and each of its parameters belongs to the cache key.
    fn of_operation(&self, operation: Operation<'a>, unknown_key: &ApiKey) -> Vec<Promise<'a>> {
        let path = operation.path();
        let preflight = Request::anonymous(path.replace("{username}", PLAYER))
            .method(Method::OPTIONS)
            .header("origin", "https://client.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "x-api-key");
        let mut promises =
            vec![Promise::new(format!("preflight OPTIONS {path}"), [preflight], |[response]| {
                judge::preflight(response)
            })];
        let examples = self.examples(&operation);
        let is_recorded = path != BAZAAR_CANDLES_ALL.path;
        let Some(example) = examples.first().filter(|_| is_recorded) else {
            let reason = if is_recorded { NO_EXAMPLE } else { NOT_RECORDED };
            promises.push(Promise::skipped(format!("response GET {path}"), reason));
            return promises;
        };
        let request = if operation.requires_key() { self.keyed(example) } else { get(example) };
        promises.push(Promise::new(format!("response GET {path}"), [request], move |[response]| {
            judge::example(&operation, response)
        }));
        promises.push(if operation.requires_key() {
            Promise::new(format!("error 401 no key GET {path}"), [get(example)], |[response]| {
                judge::error(response, 401).map(drop)
            })
        } else {
            let request = Request::with_key(example, unknown_key);
            Promise::new(format!("no key required GET {path}"), [request], move |[response]| {
                judge::example(&operation, response)
            })
        });
        let names = operation.parameters().iter().filter_map(|parameter| at(parameter, "/name").as_str());
        for name in names {
            let title = format!("cache key GET {path} {name}");
            let requests =
                examples.iter().find_map(|example| Some([example.clone(), wrong(path, example, name)?]));
            promises.push(match requests {
                Some(requests) => {
                    Promise::new(title, requests.map(|request| self.keyed(request)), |[stored, other]| {
                        judge::success(stored)?;
                        let status = if other.status == 404 { 404 } else { 400 };
                        judge::error_about(other, status, &[WRONG_VALUE])
                    })
                }
                None => Promise::skipped(title, NO_EXAMPLE),
            });
        }
        promises
    }

    /// What is promised about keys, wherever a response comes from and however the header is spelled.
    fn of_keys(&self, unknown_key: &ApiKey) -> Vec<Promise<'a>> {
        let good = self.keys.good.expose();
        let refused = |name: &str, request: Request, status| {
            Promise::new(format!("error {status} {name}"), [request], move |[response]| {
                judge::error(response, status).map(drop)
            })
        };
        let other_key = |name: &str, key: &Option<ApiKey>, status, reason| match key {
            Some(key) => refused(name, Request::with_key(MAYOR.path, key), status),
            None => Promise::skipped(format!("error {status} {name}"), reason),
        };
        let cached = self.keyed(MAYOR.path);
        let [without_key, with_unknown_key] = [get(MAYOR.path), Request::with_key(MAYOR.path, unknown_key)];
        vec![
            refused("empty key", get(MAYOR.path).header(KEY_HEADER, ""), 401),
            refused("two keys", get(MAYOR.path).header(KEY_HEADER, good).header(KEY_HEADER, good), 401),
            refused("unknown key", with_unknown_key.clone(), 401),
            other_key("lapsed key", &self.keys.lapsed, 403, NO_LAPSED_KEY),
            other_key("revoked key", &self.keys.revoked, 401, NO_REVOKED_KEY),
            Promise::new("key in the header X-Api-Key", [cached.clone().in_title_case()], |[response]| {
                judge::success(response).map(drop)
            }),
            Promise::new(
                "cached response requires a key",
                [cached.clone(), cached.clone(), without_key, with_unknown_key, cached],
                |[first, second, without_key, with_unknown_key, last]| {
                    for rejected in [without_key, with_unknown_key] {
                        judge::error(rejected, 401)?;
                    }
                    // The rejections must not be in the cache.
                    [first, second, last]
                        .into_iter()
                        .try_for_each(|response| judge::success(response).map(drop))
                },
            ),
        ]
    }

    /// What is promised about parameters and paths, however they are written. AWS does not document which value of a repeated
    /// parameter belongs to the cache key, so functions reject such requests. The errors about unknown items repeat the id.
    fn of_parameters(&self) -> Result<Vec<Promise<'a>>, Error> {
        let number = getrandom::u64().map_err(Error::Random)? % (1 << 44);
        let id = |index: u64| format!("CHECK_{:012X}", number + index);
        let items = |ids: &[&str]| {
            let query: Vec<String> = ids.iter().map(|id| format!("id={id}")).collect();
            self.keyed(format!("{}?mode=item&{}", BAZAAR.path, query.join("&")))
        };
        let [whole, first, second, third] = [0, 1, 2, 3].map(id);
        let success = |name: &str, target: String| {
            Promise::new(name, [self.keyed(target)], |[response]| judge::success(response).map(drop))
        };
        let separators = [
            items(&[&whole]),
            self.keyed(format!("{}?mode=item%26id={whole}", BAZAAR.path)),
            items(&[&format!("{whole}%26limit%3D1")]),
            items(&[&whole]),
        ];
        // The first response to a request is cached: true if the functions expect a stage cache.
        let probe = self.keyed(format!("{}?item_id={whole}", BAZAAR_HISTORY.path));
        let repeated = [[&first, &second], [&second, &first]];
        let [forwards, backwards] = repeated.map(|ids| items(&ids.map(String::as_str)));
        Ok(vec![
            success("trailing slash is ignored", format!("{}/", MAYOR.path)),
            success("unknown parameter is ignored", format!("{}?unknown=1", MAYOR.path)),
            Promise::new("parameters are kept apart", separators, move |[before, joined, longer, after]| {
                judge::error_about(joined, 400, &["mode"])?;
                judge::error_about(longer, 404, &[&format!("'{whole}&limit=1'")])?;
                [before, after].into_iter().try_for_each(|response| about(response, &whole))
            }),
            Promise::new(
                "repeated parameter is rejected",
                [probe, forwards.clone(), backwards.clone()],
                |[probe, forwards, backwards]| {
                    judge::success(probe)?;
                    for response in [forwards, backwards] {
                        // A stored 400 could reach a client that sends only one of the values.
                        if probe.is_cached() == Some(true) {
                            judge::error(response, 500)?;
                        } else {
                            judge::error_about(response, 400, &["id"])?;
                        }
                    }
                    Ok(())
                },
            ),
            Promise::new(
                "repeated parameter does not affect other requests",
                [forwards, backwards, items(&[&first]), items(&[&second])],
                move |[_, _, of_first, of_second]| {
                    about(of_first, &first)?;
                    about(of_second, &second)
                },
            ),
            Promise::new(
                "parameter that is repeated with the same value is accepted",
                [items(&[&third, &third])],
                move |[response]| about(response, &third),
            ),
        ])
    }

    /// What is promised about encodings, of bodies and of parameters, and about cached responses.
    fn of_encodings(&self) -> Vec<Promise<'a>> {
        let compression = |request: Request| {
            let requests = [GZIP, "identity", OF_BROWSERS].map(|encoding| request.clone().encoding(encoding));
            Promise::new(format!("compression GET {}", request.target), requests, judge::compression)
        };
        // Items are large and change only once an hour.
        let items = self.keyed(ITEMS.path);
        let repeated = Ok(Ask::Each(vec![items.clone(); 4]));
        let mut promises = vec![
            Promise::of(format!("cache GET {}", ITEMS.path), repeated, judge::replay),
            compression(get(OPENAPI.path)),
            compression(items),
        ];
        let player = self.player.map_or(PLAYER, Username::as_str);
        for (name, path, value, field) in [
            ("escaped path parameter has the response of the plain one", "/v1/profile/", player, "/username"),
            (
                "escaped query parameter has the response of the plain one",
                "/v1/bazaar?mode=item&id=",
                ITEM,
                "/id",
            ),
        ] {
            let escaped = value.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02x}"));
            let requests = [value, &escaped].map(|value| self.keyed(format!("{path}{value}")));
            promises.push(Promise::new(name, requests, move |[plain, escaped]| {
                judge::same(plain, escaped, field)
            }));
        }
        promises
    }

    /// What is promised about the pages for people.
    fn of_pages(&self) -> Vec<Promise<'a>> {
        let ask = |ask| if self.pages_are_off { Err(PAGES_ARE_OFF) } else { Ok(ask) };
        let icon = ask(Ask::Each(vec![get(FAVICON.path)]));
        let mut promises = vec![Promise::of(format!("icon GET {}", FAVICON.path), icon, |responses| {
            responses.iter().try_for_each(judge::file)
        })];
        for path in [DOCS.path, MARKET.path] {
            promises.push(Promise::of(format!("page GET {path}"), ask(Ask::Page(get(path))), judge::page));
            let redirected = ask(Ask::Each(vec![get(format!("{path}/?range=7d"))]));
            promises.push(Promise::of(format!("redirect GET {path}/"), redirected, move |responses| {
                let location = format!("..{path}?range=7d");
                responses.iter().try_for_each(|response| judge::redirect(response, &location))
            }));
        }
        promises
    }

    /// `GET target` with the good key.
    fn keyed(&self, target: impl Into<String>) -> Request {
        Request::authorized(target, &self.keys.good)
    }

    /// The requests of the operation's examples, for the player to request.
    fn examples(&self, operation: &Operation<'_>) -> Vec<String> {
        let prefix = operation.path().split_once("{username}").map(|(prefix, _)| prefix);
        let request = |example: &str| match (self.player, prefix) {
            (Some(player), Some(prefix)) => format!("{prefix}{}", player.as_str()),
            _ => example.to_owned(),
        };
        operation.examples(200).map(|example| request(example.request)).collect()
    }
}

/// What is promised about routes and methods that do not exist. They require no key.
fn of_unknown_routes<'a>() -> Vec<Promise<'a>> {
    let mut promises = Vec::new();
    for (method, path) in [
        (Method::GET, "/nothing"),
        (Method::GET, "/v1/nothing"),
        (Method::GET, "/v1/profile"),
        (Method::GET, "/v2/mayor"),
        (Method::POST, MAYOR.path),
        (Method::DELETE, STATUS.path),
        (Method::POST, INDEX.path),
    ] {
        let name = format!("error 404 {method} {path}");
        promises.push(Promise::new(name, [get(path).method(method.clone())], move |[response]| {
            judge::error_about(response, 404, &[method.as_str(), path, "GET /"])
        }));
    }
    let head = get(MAYOR.path).method(Method::HEAD);
    promises.push(Promise::new(format!("error 404 HEAD {}", MAYOR.path), [head], |[response]| {
        judge::status(response, 404)
    }));
    promises
}

/// `GET target` without a key.
fn get(target: impl Into<String>) -> Request {
    Request::anonymous(target)
}

/// Judges an error about an item with this id.
fn about(response: &Response, id: &str) -> Verdict {
    judge::error_about(response, 404, &[&format!("'{id}'")])
}

/// The request with a value that the parameter does not allow; `None` if the request does not have the parameter.
fn wrong(path: &str, request: &str, name: &str) -> Option<String> {
    let placeholder = format!("{{{name}}}");
    if path.contains(&placeholder) {
        return Some(path.replace(&placeholder, WRONG_VALUE));
    }
    let (path, query) = request.split_once('?')?;
    let start = format!("{name}=");
    let pairs = query
        .split('&')
        .map(|pair| if pair.starts_with(&start) { format!("{start}{WRONG_VALUE}") } else { pair.to_owned() });
    let changed = format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"));
    (changed != request).then_some(changed)
}
