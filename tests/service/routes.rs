//! The table of routes in `common`, the template, the folders of the functions and the sample events agree.

use std::collections::BTreeSet;

use common::routes::{self, ASSETS, DOCS, INDEX, Location, PAGES, Reads, VERSION_1};
use local::Options;
use local::template::{CacheKey, Template};
use serde_json::{Value, json};

use crate::support::{
    ACCOUNTS, AUTHORIZER, KEY_HEADER, RECORDERS, deployed_template, expect_clean_logs, in_repository, invoke,
    record_prices, start_with, template_with, with_parameters,
};

/// The function that changes accounts when Stripe reports payments.
const PAYMENTS: &str = "payments";

const WITH_PAYMENTS: &[(&str, &str)] = &[
    ("StripeEventSource", "aws.partner/stripe.com/ed_test_Sample"),
    ("StripeTestMode", "on"),
    ("PriceTiers", "price_pro=pro"),
];

/// The names of the entries of a folder in the repository, without the README and the clients' examples.
fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(in_repository(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !["README.md", "examples"].contains(&name.as_str())).collect()
}

#[track_caller]
fn binary<'a>(template: &'a Template, logical_id: &str) -> &'a str {
    &template.functions[logical_id].binary
}

#[test]
fn the_template_gives_each_route_its_function_and_its_ttl() {
    let template = deployed_template();
    assert!(template.api.cache_enabled);
    for route in VERSION_1 {
        let of_path = template.api.routes.iter().filter(|declared| declared.path == route.path);
        let declared: Vec<_> = of_path.filter(|declared| declared.method != "HEAD").collect();
        let [declared] = declared.as_slice() else { panic!("{}: {declared:?}", route.path) };
        assert_eq!(declared.method, "GET", "{}", route.path);
        assert_eq!(binary(&template, &declared.function), route.function, "{}", route.path);
        assert!(declared.caching, "{}", route.path);
        assert_eq!(declared.cache_ttl, Some(route.cache), "CacheTtlInSeconds of {}", route.path);
        assert!(!route.cache.is_zero(), "{}", route.path);
    }
}

#[test]
fn the_template_gives_the_pages_one_function_and_no_cache() {
    let template = deployed_template();
    let of_assets =
        template.api.routes.iter().filter(|route| binary(&template, &route.function) == ASSETS.function);
    let declared: BTreeSet<_> = of_assets
        .filter(|route| route.method != "HEAD")
        .map(|route| (route.method.as_str(), route.path.as_str(), route.caching))
        .collect();
    assert_eq!(declared, PAGES.map(|page| ("GET", page.path, false)).into());
    for page in PAGES {
        assert_eq!((page.function, page.cache.is_zero()), (ASSETS.function, true), "{}", page.path);
    }
}

#[test]
fn the_template_has_head_where_the_table_of_routes_does() {
    let template = deployed_template();
    let methods = ["HEAD", "ANY"];
    let of_method = template.api.routes.iter().filter(|declared| methods.contains(&&*declared.method));
    let with_head: BTreeSet<_> = of_method
        .filter(|declared| declared.path != "/{proxy+}")
        .map(|route| (&*route.path, binary(&template, &route.function), route.caching))
        .collect();
    let expected = routes::all().filter(|route| route.answers_head);
    assert_eq!(with_head, expected.map(|route| (route.path, route.function, false)).collect());
    assert_eq!(with_head.len(), 7);
}

#[test]
fn the_template_requires_a_key_and_the_authorizer_where_the_table_of_routes_does() {
    let template = deployed_template();
    for declared in &template.api.routes {
        let route = routes::all().find(|route| route.path == declared.path);
        // Unknown paths require no key.
        let requires_key = route.is_some_and(|route| route.requires_key);
        assert_eq!(declared.key_required, requires_key, "{} {}", declared.method, declared.path);
        assert_eq!(declared.authorizer.is_some(), requires_key, "{} {}", declared.method, declared.path);
    }
    let open: Vec<_> =
        VERSION_1.into_iter().filter(|route| !route.requires_key).map(|route| route.path).collect();
    assert_eq!(open, ["/v1/status"]);
}

/// Without one of the parameters, different requests would share a response, and without the key, different
/// accounts. An additional parameter would only split the cache.
#[test]
fn the_cache_key_of_a_route_is_exactly_its_parameters_and_the_key_if_it_reads_the_account() {
    let template = deployed_template();
    for route in VERSION_1 {
        let declared = template.api.routes.iter().find(|declared| declared.path == route.path).unwrap();
        let mut keys = declared.cache_keys.clone();
        keys.sort();
        let mut parameters: Vec<_> = route
            .parameters
            .iter()
            .map(|parameter| match parameter.location {
                Location::Path => CacheKey::Path(parameter.name.to_owned()),
                Location::Query => CacheKey::Query(parameter.name.to_owned()),
            })
            .collect();
        if route.reads == Reads::Account {
            parameters.push(CacheKey::Header(KEY_HEADER.to_owned()));
        }
        parameters.sort();
        assert_eq!(keys, parameters, "{}", route.path);
        let in_path: Vec<_> =
            route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let path_parameters: Vec<_> = route
            .parameters
            .iter()
            .filter(|parameter| parameter.location == Location::Path)
            .map(|parameter| parameter.name)
            .collect();
        assert_eq!(in_path, path_parameters, "{}", route.path);
    }
}

#[test]
fn the_template_gives_each_function_what_its_route_reads_and_nothing_else() {
    let template = deployed_template();
    let of_route = VERSION_1.into_iter().chain([&INDEX, &DOCS]);
    for route in of_route {
        let function =
            template.functions.values().find(|function| function.binary == route.function).unwrap();
        let has = |name: &str| function.environment.contains_key(name);
        let variables = ["HISTORY_TABLE", "ACCESS_TABLE", "HYPIXEL_BASE_URL"];
        let expected =
            [route.reads == Reads::History, route.reads == Reads::Account, !route.reads.paths().is_empty()];
        assert_eq!(variables.map(has), expected, "{}: {variables:?}", route.function);
    }
}

#[test]
fn only_the_routes_of_version_1_are_cached() {
    let template = deployed_template();
    for declared in &template.api.routes {
        let in_table = VERSION_1.iter().any(|route| route.path == declared.path);
        let is_get = declared.method == "GET";
        assert_eq!(declared.caching, in_table && is_get, "{} {}", declared.method, declared.path);
        let others = [INDEX.function, ASSETS.function];
        let is_other = others.contains(&binary(&template, &declared.function));
        assert_eq!(is_other, !in_table, "{} {}", declared.method, declared.path);
    }
}

#[test]
fn the_index_gets_the_root_preflight_requests_and_every_unknown_method_and_path() {
    let template = deployed_template();
    let mut declared: Vec<_> = template
        .api
        .routes
        .iter()
        .filter(|declared| binary(&template, &declared.function) == INDEX.function)
        .map(|declared| (declared.path.as_str(), declared.method.as_str()))
        .collect();
    declared.sort_unstable();
    let of_index = routes::all().filter(|route| route.function == INDEX.function);
    let of_index = of_index.flat_map(|route| [(route.path, "GET"), (route.path, "HEAD")]);
    let others = [("/", "ANY"), ("/{proxy+}", "ANY"), ("/{proxy+}", "OPTIONS")];
    // `ANY` includes the root's `HEAD`.
    let mut expected: Vec<_> = of_index.filter(|route| *route != ("/", "HEAD")).chain(others).collect();
    expected.sort_unstable();
    assert_eq!(declared, expected);
    assert_eq!(INDEX.path, "/");
}

#[test]
fn the_template_and_the_folder_functions_have_the_same_functions() {
    let mut in_table: BTreeSet<String> =
        VERSION_1.into_iter().chain([&INDEX]).map(|route| route.function.to_owned()).collect();
    assert_eq!(in_table.len(), VERSION_1.len() + 1, "each route must have its own function");
    in_table.extend(RECORDERS.map(str::to_owned));
    in_table.extend([ACCOUNTS, AUTHORIZER, ASSETS.function, PAYMENTS].map(str::to_owned));
    let template = template_with(WITH_PAYMENTS);
    let in_template: Vec<String> =
        template.functions.values().map(|function| function.binary.clone()).collect();
    // Two functions have the binary `accounts`.
    assert_eq!(in_template.len(), in_table.len() + 1, "{in_template:?}");
    assert_eq!(in_template.into_iter().collect::<BTreeSet<_>>(), in_table);
    assert_eq!(names_in("functions"), in_table);
    assert_eq!(deployed_template().functions.len(), in_table.len(), "only `payments` may be missing");
}

#[tokio::test]
async fn every_function_has_a_sample_event_that_it_responds_to() {
    let cloud = start_with(with_parameters(Options::for_tests(), WITH_PAYMENTS)).await;
    // All sample events have this time.
    record_prices(&cloud, 1_794_830_400_000).await;
    let mut missing: BTreeSet<&str> = VERSION_1
        .into_iter()
        .chain([&INDEX, &DOCS])
        .map(|route| route.function)
        .chain(RECORDERS)
        .chain([ACCOUNTS, AUTHORIZER, PAYMENTS])
        .collect();
    for file in names_in("events") {
        let function = file.strip_suffix(".json").unwrap_or_else(|| panic!("events/{file} is not an event"));
        let text = std::fs::read_to_string(in_repository("events").join(&file)).unwrap();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        if RECORDERS.contains(&function) {
            let invoked = invoke(&cloud, function, text).await;
            assert_eq!(invoked.json()["tick"], parsed["time"], "{file}: {}", invoked.text);
            missing.remove(function);
            continue;
        }
        if function == ACCOUNTS {
            let invoked = invoke(&cloud, function, text).await;
            assert_eq!(invoked.json()["result"]["status"], 401, "{file}");
            missing.remove(function);
            continue;
        }
        if function == PAYMENTS {
            let invoked = invoke(&cloud, function, text).await;
            assert_eq!(invoked.json(), json!({"outcome": "applied", "account": "sample"}), "{file}");
            missing.remove(function);
            continue;
        }
        if function == AUTHORIZER {
            let invoked = invoke(&cloud, function, text).await;
            // The event's key is not issued.
            assert_eq!(invoked.json()["errorMessage"], "Unauthorized", "{file}");
            missing.remove(function);
            continue;
        }
        let found = VERSION_1.into_iter().chain([&INDEX, &DOCS]).find(|route| route.function == function);
        let route = found.unwrap_or_else(|| panic!("events/{file} is for no function"));
        assert_eq!(parsed["httpMethod"], "GET", "{file}");
        assert_eq!(parsed["resource"], route.path, "{file}");

        let invoked = invoke(&cloud, function, text).await;
        assert_eq!(invoked.status, 200, "{file}");
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{file}: {}", invoked.text);
        let response = invoked.json();
        assert_eq!(response["isBase64Encoded"], false, "{file}");
        assert_eq!(response["statusCode"], 200, "{file}: {response}");
        missing.remove(function);
        if file == "page.json" {
            assert_eq!(response["headers"]["Content-Type"], "text/html; charset=utf-8", "{file}");
            continue;
        }
        assert_eq!(response["headers"]["Content-Type"], "application/json", "{file}");
        let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
        assert_eq!(body["success"], true, "{file}: {body}");
    }
    assert!(missing.is_empty(), "these functions have no sample event: {missing:?}");
    expect_clean_logs(&cloud);
}
