//! Promises about the pages for people.

use crate::support::mutation::{Broken, at, replaced, response, without};

/// Promises about the pages, their files and the icon.
pub(crate) fn pages() -> Vec<Broken> {
    vec![
        at("/docs", "policy of a page", &["page GET /docs"], without("content-security-policy")),
        at("/market", "strict policy of the market", &["page GET /market"], |response| {
            let policy = response.headers["content-security-policy"].to_str().unwrap();
            let weaker = policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");
            response.set("content-security-policy", &weaker);
        }),
        response("redirects", &["redirect GET /docs/", "redirect GET /market/"], |request, response| {
            if response.status == 308 {
                let location =
                    response.headers["location"].to_str().unwrap().split('?').next().unwrap().to_owned();
                response
                    .set("location", if request.path() == "/docs/" { &location } else { "/market?range=7d" });
            }
        }),
        at("/favicon.ico", "type of the icon", &["icon GET /favicon.ico"], |response| {
            response.set("content-type", "text/plain");
        }),
    ]
}

/// Promises about files. They need pages that pass.
pub(crate) fn files() -> Vec<Broken> {
    vec![
        response("files are kept", &["files of GET /docs"], |request, response| {
            if request.path().ends_with("/scalar.js") {
                response.set("cache-control", "public, max-age=300");
            }
        }),
        at("/market", "files of this version", &["files of GET /market"], replaced("assets/", "assets/0")),
    ]
}

/// Promises about pages that are there.
pub(crate) fn no_pages() -> Vec<Broken> {
    vec![response("pages", &["page GET /docs", "page GET /market"], |request, response| {
        if ["/docs", "/market"].contains(&request.path()) {
            response.replace(
                404,
                "application/json",
                r#"{"success":false,"error":{"code":"NOT_FOUND","message":"x"}}"#,
            );
        }
    })]
}
