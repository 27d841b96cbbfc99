//! The model has the values of the template, the code and the page.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

use std::collections::BTreeMap;
use std::time::Duration;

use common::routes::VERSION_1;
use local::Options;
use local::template::{Document, Template};
use scale::assumptions::{AHEAD, PROFILE_FETCHES};
use scale::managed::REQUESTS_AT_A_TIME;
use scale::{AUTHORIZER, Deployment, FUNCTIONS, KINDS, LOADS, Source, parameter, prices, recommended};

fn template() -> Template {
    let document = Document::read(&Options::default().template).unwrap();
    let parameters = [("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())];
    document.evaluate(&BTreeMap::from(parameters)).unwrap()
}

fn page() -> String {
    std::fs::read_to_string(Options::default().template.with_file_name("infra/README.md")).unwrap()
}

#[test]
fn memory_and_ttls_are_those_of_the_template_and_the_routes() {
    let template = template();
    for function in FUNCTIONS.iter() {
        let deployed = template.functions.values().find(|deployed| deployed.binary == function.name);
        let deployed = deployed.unwrap_or_else(|| panic!("the template has no {}", function.name));
        assert_eq!(function.memory_mb.to_string(), deployed.memory_mb.to_string(), "{}", function.name);
        let route = VERSION_1.iter().find(|route| route.function == function.name);
        let ttl = match route {
            Some(route) => route.cache,
            None => template.api.authorizers.values().next().unwrap().reauthorize_every,
        };
        assert_eq!(Duration::from_secs_f64(function.ttl_s), ttl, "{}", function.name);
    }
    // Monitors request the status, at a rate that does not grow with the load.
    for route in VERSION_1.iter().filter(|route| route.function != "status") {
        assert!(FUNCTIONS.iter().any(|function| function.name == route.function), "{}", route.path);
        assert!(KINDS.iter().any(|kind| kind.function == route.function), "{}", route.path);
    }
    assert_eq!(FUNCTIONS.last().unwrap().name, AUTHORIZER);
}

#[test]
fn parameters_are_the_defaults_of_the_template() {
    let (model, parameters) = (Deployment::default(), template().parameters);
    let pair =
        |name: &str| ["RateLimit", "BurstLimit"].map(|kind| parameters[&format!("{name}{kind}")].clone());
    assert_eq!(model.route.map(|limit| limit.to_string()), pair("Route"));
    assert_eq!(model.key.map(|limit| limit.to_string()), pair("Pro"));
    assert_eq!(model.stage_cache_gb.to_string(), parameters["CacheSize"]);
    assert_eq!((model.stage_cache, "on"), (true, parameters["GatewayCache"].as_str()));
    assert_eq!((model.provider_reserved, "0"), (None, parameters["ProviderReservedConcurrency"].as_str()));
    for load in LOADS {
        for name in recommended(load).reserved.keys() {
            assert_eq!(parameters[&parameter(name)], "0", "{name}");
        }
    }
}

#[test]
fn the_functions_that_fetch_are_those_with_a_reservation() {
    let text = std::fs::read_to_string(Options::default().template).unwrap();
    let reserved = text.matches("!Ref ProviderReservedConcurrency, !Ref AWS::NoValue").count();
    assert_eq!(FUNCTIONS.iter().filter(|function| function.source != Source::Table).count(), reserved);
}

#[test]
fn fetches_of_profiles_keep_the_pace_of_the_code_and_of_the_page() {
    let code = Options::default().template.with_file_name("common/src/upstream/rate_limit.rs");
    let code = std::fs::read_to_string(code).unwrap();
    assert!(code.contains(&format!("const AHEAD: f64 = {AHEAD};")));
    assert!(page().contains(&format!("more than {} ahead of an even pace", PROFILE_FETCHES * AHEAD)));
}

#[test]
fn managed_instances_take_as_many_requests_at_a_time_as_the_page_configures() {
    assert!(page().contains(&format!("PerExecutionEnvironmentMaxConcurrency: {REQUESTS_AT_A_TIME}\n")));
}

#[test]
fn prices_are_those_of_the_section_on_cost() {
    let page = page();
    let section =
        page.split("\n## Cost\n").nth(1).expect("there is a section").split("\n## ").next().unwrap();
    let [_, (_, sent), ..] = prices::SENT;
    let [(_, gateway), ..] = prices::GATEWAY;
    let functions = prices::INVOCATIONS + 0.015 * 384.0 / 1_024.0 * prices::GIGABYTE_SECOND * 1e6;
    let [(_, smallest_cache), ..] = prices::STAGE_CACHE_PER_HOUR;
    let units = KINDS.iter().find(|kind| kind.name == "bazaar-history").unwrap().read_units;
    for sentence in [
        format!("API Gateway {gateway:.2}, access log of 0.6 KB each {:.2}", prices::ACCESS_LOG),
        format!("functions (15 ms at 384 MB) {functions:.2}, log of 0.7 KB each {:.2}", prices::FUNCTION_LOG),
        format!("reads {:.2} if one request in ten", prices::READ_UNITS * units / 10.0),
        format!("({units} units)"),
        format!("| stage cache of 0.5 GB, if on | {:.1} |", smallest_cache * prices::HOURS),
        format!("| per GB sent beyond the first hundred, which are free | {sent:.2} |"),
        format!("`cost = {} + ", prices::FIXED),
    ] {
        assert!(section.contains(&sentence), "the page does not say: {sentence}");
    }
}

#[test]
fn the_page_has_the_tables_of_the_command() {
    let page = page();
    for (name, table) in scale::tables() {
        let written = markdown::replace(&page, name, &table).expect("each table has a place");
        assert!(written == page, "{name}: run `cargo scale --write`");
    }
}
