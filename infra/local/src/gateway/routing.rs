//! Finds the route of a request as API Gateway does. An exact segment takes precedence over a parameter, and
//! a parameter over a greedy parameter; on the same path, an exact method takes precedence over `ANY`. A path
//! without the requested method does not match, so a wrong method on a known path falls through to the greedy
//! path.
//!
//! The values of path parameters stay as the client wrote them. Events that `LocalStack` recorded on AWS show
//! this (`tests/aws/services/apigateway/test_apigateway_lambda.snapshot.json`): `%2B` stays `%2B` and `+`
//! stays `+` in `path`, `requestContext.path` and `pathParameters`, while the parameters of the query are
//! decoded.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use crate::template::Route;

/// The method that stands for all others of a path.
const ANY: &str = "ANY";

/// In the order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Exact(String),
    Parameter(String),
    Greedy(String),
}

/// The routes of an API, in the order of precedence.
#[derive(Debug)]
pub(super) struct Routing(Vec<(Vec<Segment>, Route)>);

/// Values of the parameters in a path, by name, as the client wrote them.
pub(super) type PathParameters = BTreeMap<String, String>;

impl Routing {
    pub(super) fn new(routes: &[Route]) -> Self {
        let segments = |route: &Route| split(&route.path).into_iter().map(segment).collect();
        let mut sorted: Vec<(Vec<Segment>, Route)> =
            routes.iter().map(|route| (segments(route), route.clone())).collect();
        sorted.sort_by_cached_key(|(segments, route)| (segments.clone(), route.method == ANY));
        Self(sorted)
    }

    /// The route for a method and a path, and the values of the path's parameters.
    pub(super) fn find(&self, method: &str, path: &str) -> Option<(&Route, PathParameters)> {
        let given = split(path);
        let mut of_method = self.0.iter().filter(|(_, route)| route.method == method || route.method == ANY);
        of_method.find_map(|(segments, route)| Some((route, matches(segments, &given)?)))
    }
}

/// The segments of a path; a trailing slash is ignored.
fn split(path: &str) -> Vec<&str> {
    let rest = path.strip_prefix('/').unwrap_or(path);
    let segments = rest.strip_suffix('/').unwrap_or(rest);
    if segments.is_empty() { Vec::new() } else { segments.split('/').collect() }
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

    #[test]
    fn the_most_exact_path_wins_and_a_wrong_method_falls_through_to_the_greedy_one() {
        let routes = [
            "ANY /{proxy+}",
            "OPTIONS /{proxy+}",
            "GET /v1/profile/{username}",
            "GET /v1/profile/me",
            "GET /v1/mayor",
            "GET /",
            "ANY /",
        ];
        let routing = Routing::new(&routes.map(|route| {
            let (method, path) = route.split_once(' ').unwrap();
            Route { method: method.to_owned(), path: path.to_owned(), ..Route::default() }
        }));
        for (request, expected, parameters) in [
            ("GET /v1/mayor", "GET /v1/mayor", vec![]),
            ("GET /v1/mayor/", "GET /v1/mayor", vec![]),
            ("GET /v1/may%6fr", "GET /v1/mayor", vec![]),
            ("HEAD /v1/mayor", "ANY /{proxy+}", vec!["v1/mayor"]),
            ("GET /v1/Mayor", "ANY /{proxy+}", vec!["v1/Mayor"]),
            ("GET /v1//mayor", "ANY /{proxy+}", vec!["v1//mayor"]),
            ("GET /v1/profile/me", "GET /v1/profile/me", vec![]),
            ("GET /v1/profile/a%20b%2Fc+%FF%", "GET /v1/profile/{username}", vec!["a%20b%2Fc+%FF%"]),
            ("GET /v1/profile/", "ANY /{proxy+}", vec!["v1/profile"]),
            ("GET /v1/profile//", "ANY /{proxy+}", vec!["v1/profile/"]),
            ("GET /v1/profile/a/b", "ANY /{proxy+}", vec!["v1/profile/a/b"]),
            ("GET /", "GET /", vec![]),
            ("GET ", "GET /", vec![]),
            ("DELETE /", "ANY /", vec![]),
            ("OPTIONS *", "OPTIONS /{proxy+}", vec!["*"]),
        ] {
            let (method, path) = request.split_once(' ').unwrap();
            let (route, found) = routing.find(method, path).unwrap();
            assert_eq!(format!("{} {}", route.method, route.path), expected, "{request}");
            assert_eq!(found.into_values().collect::<Vec<_>>(), parameters, "{request}");
        }
    }
}
