//! A promise that the proxy breaks, and the changes that break it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use local::Keys;
use reqwest::Method;
use reqwest::header::HeaderValue;

use super::message::{Request, Response};

type OnRequest = Box<dyn Fn(&mut Request, &Keys) + Send + Sync>;
type OnResponse = Box<dyn Fn(&Request, &mut Response) + Send + Sync>;

/// A broken promise, and the checks that must fail because of it.
pub(crate) struct Broken {
    pub(crate) promise: &'static str,
    pub(crate) fails: Vec<String>,
    pub(crate) on_request: Option<OnRequest>,
    pub(crate) on_response: Option<OnResponse>,
}

/// A promise that the proxy does not break: the place behind it does.
pub(crate) fn broken(promise: &'static str, fails: &[&str]) -> Broken {
    let fails = fails.iter().map(|&name| name.to_owned()).collect();
    Broken { promise, fails, on_request: None, on_response: None }
}

/// A promise that `change` to requests breaks.
pub(crate) fn request(
    promise: &'static str,
    fails: &[&str],
    change: impl Fn(&mut Request, &Keys) + Send + Sync + 'static,
) -> Broken {
    Broken { on_request: Some(Box::new(change)), ..broken(promise, fails) }
}

/// A promise that `change` to responses breaks.
pub(crate) fn response(
    promise: &'static str,
    fails: &[&str],
    change: impl Fn(&Request, &mut Response) + Send + Sync + 'static,
) -> Broken {
    Broken { on_response: Some(Box::new(change)), ..broken(promise, fails) }
}

/// A promise that `change` to successful responses to `GET target` breaks.
pub(crate) fn at(
    target: &'static str,
    promise: &'static str,
    fails: &[&str],
    change: impl Fn(&mut Response) + Send + Sync + 'static,
) -> Broken {
    response(promise, fails, move |request, response| {
        let is_at = target == request.path() || target == request.target;
        if is_at && response.status == 200 && request.method == Method::GET {
            change(response);
        }
    })
}

/// A promise that `change` to errors with this status breaks, if their target begins with `prefix`.
pub(crate) fn error(
    status: u16,
    prefix: &'static str,
    promise: &'static str,
    fails: &[&str],
    change: impl Fn(&mut Response) + Send + Sync + 'static,
) -> Broken {
    response(promise, fails, move |request, response| {
        if response.status == status && request.target.starts_with(prefix) {
            change(response);
        }
    })
}

/// A promise that is broken if requests whose target `matches` get the response to `other` instead.
pub(crate) fn instead(
    promise: &'static str,
    fails: &[&str],
    matches: impl Fn(&str) -> bool + Send + Sync + 'static,
    other: &'static str,
) -> Broken {
    request(promise, fails, move |request, _| {
        if matches(&request.target) {
            other.clone_into(&mut request.target);
        }
    })
}

/// A promise that is broken if requests that `matches` are accepted as if they had a good key.
pub(crate) fn accepted(
    promise: &'static str,
    fails: &[&str],
    matches: impl Fn(&Request, &Keys) -> bool + Send + Sync + 'static,
) -> Broken {
    request(promise, fails, move |request, keys| {
        if matches(request, keys) {
            request.headers.insert("x-api-key", HeaderValue::from_str(keys.pro.expose()).unwrap());
        }
    })
}

/// Removes a header.
pub(crate) fn without(name: &'static str) -> impl Fn(&mut Response) + Send + Sync {
    move |response| {
        response.headers.remove(name);
    }
}

/// Sends a header twice.
pub(crate) fn twice(name: &'static str, value: &'static str) -> impl Fn(&mut Response) + Send + Sync {
    move |response| {
        response.headers.append(name, HeaderValue::from_static(value));
    }
}

/// Replaces text in the body.
pub(crate) fn replaced(from: &'static str, to: &'static str) -> impl Fn(&mut Response) + Send + Sync {
    move |response| response.edit_text(|text| text.replace(from, to))
}

/// Replaces the message of an error by a useless one.
pub(crate) fn useless_message(response: &mut Response) {
    response.edit_json(|body| body["error"]["message"] = "Something is wrong.".into());
}

/// Applies the change to every second response.
pub(crate) fn every_second(
    change: impl Fn(&mut Response) + Send + Sync,
) -> impl Fn(&mut Response) + Send + Sync {
    let count = AtomicUsize::new(0);
    move |response| {
        if count.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            change(response);
        }
    }
}

/// Makes each response look as if its data were fetched at another time and had not expired.
pub(crate) fn fetched_at_another_time() -> impl Fn(&mut Response) + Send + Sync {
    let count = AtomicUsize::new(0);
    move |response| {
        let age = count.fetch_add(1, Ordering::Relaxed) * 30 % 70;
        let fetched_at = SystemTime::now() - Duration::from_secs(age.try_into().unwrap());
        let date = |time: SystemTime| httpdate::fmt_http_date(time);
        response.set("last-modified", &date(fetched_at));
        response.set("expires", &date(fetched_at + Duration::from_mins(10)));
    }
}
