//! The stage's cache: what a function answered is answered again, byte for byte, to everybody who asks the same. Two
//! requests ask the same when method, path and declared parameters are the same; nothing else counts, neither who asks nor
//! `Cache-Control` of either side.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderMap;
use hyper::{Response, StatusCode};
use lru::LruCache;
use simulator::Clock;

use super::event::{Arrival, Matched};
use crate::template::{Api, CacheKey};

/// Larger answers are not kept.
const MAX_BODY_BYTES: usize = 1_048_576;
/// What an entry takes beside its texts, roughly.
const ENTRY_BYTES: usize = 256;

/// What is asked, as far as it tells answers apart. The values stand in the order in which the route declares them; one
/// that is not given is another question than an empty one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Question {
    method: String,
    resource: String,
    values: Vec<Option<String>>,
}

/// A question that the cache may answer, and for how long an answer to it is kept.
#[derive(Debug)]
pub(super) struct Cacheable {
    question: Question,
    ttl: Duration,
}

struct Entry {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    since_ms: i64,
    ttl: Duration,
    bytes: usize,
}

struct Entries {
    by_question: LruCache<Question, Entry>,
    /// Of all entries together.
    bytes: usize,
}

pub(super) struct StageCache {
    entries: Mutex<Entries>,
    capacity: usize,
    clock: Clock,
}

impl StageCache {
    /// The cache of the API's stage, if it has one.
    pub(super) fn of(api: &Api, clock: Clock) -> Option<Self> {
        let capacity = usize::try_from(api.cache_bytes).unwrap_or(usize::MAX);
        api.cache_enabled.then(|| Self::new(capacity, clock))
    }

    fn new(capacity: usize, clock: Clock) -> Self {
        let entries = Entries { by_question: LruCache::unbounded(), bytes: 0 };
        Self { entries: Mutex::new(entries), capacity, clock }
    }

    /// The answer to the question, unless none is kept or its time is over.
    pub(super) fn get(&self, cacheable: &Cacheable) -> Option<Response<Bytes>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.by_question.get(&cacheable.question)?;
        if !super::is_fresh(entry.since_ms, entry.ttl, self.clock.now_ms()) {
            entries.remove(&cacheable.question);
            return None;
        }
        let mut response = Response::new(entry.body.clone());
        *response.status_mut() = entry.status;
        *response.headers_mut() = entry.headers.clone();
        Some(response)
    }

    /// Keeps what a function answered, whatever its status. The least recently used answers make room.
    pub(super) fn put(&self, cacheable: Cacheable, response: &Response<Bytes>) {
        if response.body().len() > MAX_BODY_BYTES {
            return;
        }
        let entry = Entry {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.body().clone(),
            since_ms: self.clock.now_ms(),
            ttl: cacheable.ttl,
            bytes: cacheable.question.bytes() + bytes_of(response),
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.remove(&cacheable.question);
        entries.bytes += entry.bytes;
        entries.by_question.put(cacheable.question, entry);
        while entries.bytes > self.capacity
            && let Some((_, oldest)) = entries.by_question.pop_lru()
        {
            entries.bytes -= oldest.bytes;
        }
    }
}

impl Entries {
    fn remove(&mut self, question: &Question) {
        if let Some(entry) = self.by_question.pop(question) {
            self.bytes -= entry.bytes;
        }
    }
}

impl Cacheable {
    /// What is asked, if answers of the route are kept. Of a parameter that is given several times the last value counts,
    /// as it does for the function.
    pub(super) fn of(arrival: &Arrival<'_>, matched: &Matched<'_>) -> Option<Self> {
        let route = matched.route;
        let ttl = route.cache_ttl.filter(|ttl| route.caching && !ttl.is_zero())?;
        let value = |key: &CacheKey| match key {
            CacheKey::Path(name) => matched.path_parameters.get(name).cloned(),
            CacheKey::Query(name) => matched.query.get(name)?.last().cloned(),
            CacheKey::Header(name) => {
                let value = arrival.request.headers.get_all(name.as_str()).iter().next_back()?;
                Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
            }
        };
        let question = Question {
            method: arrival.request.method.as_str().to_owned(),
            resource: route.path.clone(),
            values: route.cache_keys.iter().map(value).collect(),
        };
        Some(Self { question, ttl })
    }
}

impl Question {
    fn bytes(&self) -> usize {
        let values = self.values.iter().flatten().map(String::len);
        self.method.len() + self.resource.len() + values.sum::<usize>() + ENTRY_BYTES
    }
}

fn bytes_of(response: &Response<Bytes>) -> usize {
    let headers = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    response.body().len() + headers.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use hyper::header::HeaderValue;

    use super::super::event;
    use super::*;
    use crate::template::Route;

    const TTL: Duration = Duration::from_mins(5);

    fn route() -> Route {
        Route {
            method: "GET".to_owned(),
            path: "/v1/{kind}".to_owned(),
            caching: true,
            cache_ttl: Some(TTL),
            cache_keys: vec![
                CacheKey::Query("a".to_owned()),
                CacheKey::Query("b".to_owned()),
                CacheKey::Path("kind".to_owned()),
                CacheKey::Header("X-Language".to_owned()),
            ],
            ..Route::default()
        }
    }

    fn asked_with(request: hyper::http::request::Builder, route: &Route) -> Option<Cacheable> {
        let (request, ()) = request.body(()).unwrap().into_parts();
        let kind = request.uri.path().rsplit('/').next().unwrap().to_owned();
        let matched = Matched {
            route,
            path_parameters: [("kind".to_owned(), kind)].into(),
            query: event::query(request.uri.query().unwrap_or_default()),
        };
        Cacheable::of(&Arrival::for_tests(&request), &matched)
    }

    fn asked(target: &str) -> Cacheable {
        asked_with(Request::get(target), &route()).unwrap()
    }

    fn answer(body: impl Into<Bytes>) -> Response<Bytes> {
        let mut response = Response::new(body.into());
        response.headers_mut().append("x-twice", HeaderValue::from_static("one"));
        response.headers_mut().append("x-twice", HeaderValue::from_static("two"));
        response
    }

    fn cache() -> (StageCache, Clock) {
        let clock = Clock::system();
        (StageCache::new(1_000_000_000, clock.clone()), clock)
    }

    #[test]
    fn what_is_declared_tells_questions_apart_and_nothing_else_does() {
        for (one, other) in [
            ("/v1/x?a=1&b=2", "/v1/x?b=2&a=1"),
            ("/v1/x?a=1", "/v1/x?a=0&a=1"),
            ("/v1/x?a=1", "/v1/x?a=1&unread=2"),
            ("/v1/x?a=a+b", "/v1/x?a=%61%20b"),
        ] {
            assert_eq!(asked(one).question, asked(other).question, "{one} {other}");
        }
        for (one, other) in [
            ("/v1/x?a=1&b=2", "/v1/x?a=1%26b=2"),
            ("/v1/x?a=1", "/v1/x?b=1"),
            ("/v1/x?a=", "/v1/x"),
            ("/v1/x?a=&b", "/v1/x?b"),
            ("/v1/x?a=1", "/v1/x?A=1"),
            ("/v1/x?a=1", "/v1/x?a=1&a=2"),
            ("/v1/x", "/v1/y"),
            ("/v1/x", "/v1/X"),
        ] {
            assert_ne!(asked(one).question, asked(other).question, "{one} {other}");
        }
        let spoken = |language: &str| {
            asked_with(Request::get("/v1/x").header("x-language", language), &route()).unwrap().question
        };
        assert_ne!(spoken("de"), spoken("en"));
        let posted = asked_with(Request::post("/v1/x"), &route()).unwrap();
        assert_ne!(posted.question, asked("/v1/x").question);
        let private = Request::get("/v1/x").header("x-api-key", "k").header("cache-control", "no-store");
        assert_eq!(asked_with(private, &route()).unwrap().question, asked("/v1/x").question);
    }

    #[test]
    fn a_route_without_caching_has_no_questions() {
        let ask = |route: Route| asked_with(Request::get("/v1/x"), &route);
        assert!(ask(Route { caching: false, ..route() }).is_none());
        assert!(ask(Route { cache_ttl: Some(Duration::ZERO), ..route() }).is_none());
    }

    #[test]
    fn an_answer_is_replayed_whole_until_its_time_is_over() {
        let (cache, clock) = cache();
        assert!(cache.get(&asked("/v1/x")).is_none());
        let mut given = answer("body\0");
        *given.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        cache.put(asked("/v1/x"), &given);
        clock.advance(Duration::from_secs(290));
        let replayed = cache.get(&asked("/v1/x")).unwrap();
        assert_eq!((replayed.status(), replayed.headers()), (given.status(), given.headers()));
        assert_eq!(replayed.body(), given.body());
        clock.advance(Duration::from_secs(10));
        assert!(cache.get(&asked("/v1/x")).is_none());
        assert_eq!(cache.entries.lock().unwrap().bytes, 0);
    }

    #[test]
    fn an_answer_from_the_future_is_not_replayed() {
        let (cache, clock) = cache();
        clock.advance(TTL);
        cache.put(asked("/v1/x"), &answer("body"));
        clock.set(Clock::system().now_ms());
        assert!(cache.get(&asked("/v1/x")).is_none());
    }

    #[test]
    fn a_body_larger_than_a_megabyte_is_not_kept() {
        let (cache, _) = cache();
        cache.put(asked("/v1/fits"), &answer(vec![b'x'; MAX_BODY_BYTES]));
        cache.put(asked("/v1/large"), &answer(vec![b'x'; MAX_BODY_BYTES + 1]));
        assert_eq!(cache.get(&asked("/v1/fits")).unwrap().body().len(), 1_048_576);
        assert!(cache.get(&asked("/v1/large")).is_none());
    }

    #[test]
    fn the_least_recently_used_answers_make_room() {
        let cache = StageCache::new(3_500, Clock::system());
        let answer = answer(vec![b'x'; 700]);
        for kind in ["/v1/a", "/v1/b", "/v1/c", "/v1/a"] {
            cache.put(asked(kind), &answer);
        }
        assert!(cache.get(&asked("/v1/b")).is_some());
        cache.put(asked("/v1/d"), &answer);
        let kept = ["/v1/a", "/v1/b", "/v1/c", "/v1/d"].map(|kind| cache.get(&asked(kind)).is_some());
        assert_eq!(kept, [true, true, false, true]);
        let bytes = cache.entries.lock().unwrap().bytes;
        assert!((3 * 700..=3_500).contains(&bytes), "{bytes}");
    }
}
