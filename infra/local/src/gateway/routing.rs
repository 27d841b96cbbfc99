//! Finds the route of a request as API Gateway does. An exact segment takes precedence over a parameter, and a parameter
//! over a greedy one; on the same path, an exact method takes precedence over `ANY`. A path without the requested method
//! does not match, so a wrong method on a known path falls through to the greedy path.
//!
//! The values of parameters stay as the client wrote them. Events that `LocalStack` recorded on AWS show that
//! (`tests/aws/services/apigateway/test_apigateway_lambda.snapshot.json`): `%2B` stays `%2B` and `+` stays `+` in `path`,
//! `requestContext.path` and `pathParameters`, while the parameters of the query are decoded.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use crate::template::Route;

/// In the order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Exact(String),
    Parameter(String),
    Greedy(String),
}

#[derive(Debug)]
struct Resource {
    segments: Vec<Segment>,
    /// By method.
    routes: BTreeMap<String, Route>,
}

/// The routes of an API.
#[derive(Debug)]
pub(super) struct Routing {
    /// In the order of precedence.
    resources: Vec<Resource>,
}

/// Values of the parameters in a path, by name, as the client wrote them.
pub(super) type PathParameters = BTreeMap<String, String>;

impl Routing {
    pub(super) fn new(routes: &[Route]) -> Self {
        let mut resources = BTreeMap::<Vec<Segment>, Resource>::new();
        for route in routes {
            let segments: Vec<_> = split(&route.path).into_iter().map(segment).collect();
            let resource = resources
                .entry(segments.clone())
                .or_insert_with(|| Resource { segments, routes: BTreeMap::new() });
            resource.routes.insert(route.method.clone(), route.clone());
        }
        Self { resources: resources.into_values().collect() }
    }

    /// The route for a method and a path, and the values of the path's parameters.
    pub(super) fn find(&self, method: &str, path: &str) -> Option<(&Route, PathParameters)> {
        self.matching(path).find_map(|(resource, parameters)| {
            let route = resource.routes.get(method).or_else(|| resource.routes.get("ANY"))?;
            Some((route, parameters))
        })
    }

    fn matching(&self, path: &str) -> impl Iterator<Item = (&Resource, PathParameters)> {
        let given = split(path);
        self.resources
            .iter()
            .filter_map(move |resource| Some((resource, matches(&resource.segments, &given)?)))
    }
}

/// The segments of a path; a trailing slash is ignored.
fn split(path: &str) -> Vec<&str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() { Vec::new() } else { path.split('/').collect() }
}

fn segment(text: &str) -> Segment {
    match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        None => Segment::Exact(text.to_owned()),
        Some(name) => match name.strip_suffix('+') {
            None => Segment::Parameter(name.to_owned()),
            Some(name) => Segment::Greedy(name.to_owned()),
        },
    }
}

fn matches(segments: &[Segment], given: &[&str]) -> Option<PathParameters> {
    let mut parameters = PathParameters::new();
    let mut rest = given;
    for segment in segments {
        let (first, others) = rest.split_first()?;
        match segment {
            Segment::Exact(text) if *text == percent_decode_str(first).decode_utf8_lossy() => {}
            Segment::Parameter(name) if !first.is_empty() => {
                parameters.insert(name.clone(), (*first).to_owned());
            }
            Segment::Greedy(name) => {
                parameters.insert(name.clone(), rest.join("/"));
                return Some(parameters);
            }
            Segment::Exact(_) | Segment::Parameter(_) => return None,
        }
        rest = others;
    }
    rest.is_empty().then_some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routing(routes: &[(&str, &str)]) -> Routing {
        let routes: Vec<_> = routes
            .iter()
            .map(|(method, path)| Route {
                method: (*method).to_owned(),
                path: (*path).to_owned(),
                ..Route::default()
            })
            .collect();
        Routing::new(&routes)
    }

    fn service() -> Routing {
        routing(&[
            ("ANY", "/{proxy+}"),
            ("OPTIONS", "/{proxy+}"),
            ("GET", "/v1/profile/{username}"),
            ("GET", "/v1/profile/me"),
            ("GET", "/v1/mayor"),
            ("GET", "/"),
            ("ANY", "/"),
        ])
    }

    #[test]
    fn the_most_exact_path_wins_and_a_wrong_method_falls_through_to_the_greedy_one() {
        for (method, path, expected_method, expected_path) in [
            ("GET", "/v1/mayor", "GET", "/v1/mayor"),
            ("GET", "/v1/mayor/", "GET", "/v1/mayor"),
            ("GET", "/v1/may%6fr", "GET", "/v1/mayor"),
            ("HEAD", "/v1/mayor", "ANY", "/{proxy+}"),
            ("POST", "/v1/mayor", "ANY", "/{proxy+}"),
            ("GET", "/v1/Mayor", "ANY", "/{proxy+}"),
            ("GET", "/v1//mayor", "ANY", "/{proxy+}"),
            ("GET", "/v1/profile/me", "GET", "/v1/profile/me"),
            ("GET", "/v1/profile/you", "GET", "/v1/profile/{username}"),
            ("GET", "/v1/profile/", "ANY", "/{proxy+}"),
            ("GET", "/v1/profile//", "ANY", "/{proxy+}"),
            ("GET", "/v1/profile/a/b", "ANY", "/{proxy+}"),
            ("GET", "/", "GET", "/"),
            ("GET", "", "GET", "/"),
            ("DELETE", "/", "ANY", "/"),
            ("OPTIONS", "/v1/mayor", "OPTIONS", "/{proxy+}"),
            ("OPTIONS", "*", "OPTIONS", "/{proxy+}"),
        ] {
            let routing = service();
            let (route, _) = routing.find(method, path).unwrap();
            assert_eq!(
                (route.method.as_str(), route.path.as_str()),
                (expected_method, expected_path),
                "{path}"
            );
        }
    }

    #[test]
    fn parameters_stay_as_the_client_wrote_them() {
        let routing = service();
        let (_, parameters) = routing.find("GET", "/v1/profile/a%20b%2Fc+%FF%fF%").unwrap();
        assert_eq!(parameters["username"], "a%20b%2Fc+%FF%fF%");
        let (_, parameters) = routing.find("GET", "/any/test%2Balias@example.com/test+alias/").unwrap();
        assert_eq!(parameters["proxy"], "any/test%2Balias@example.com/test+alias");
    }
}
