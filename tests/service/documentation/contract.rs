//! The page for clients shows real responses, and its tables have the values of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::request::parameters::Allowed;
use common::routes::{DOCS_MARKDOWN, LLMS, OPENAPI, STATUS, VERSION_1};
use hyper::Method;
use serde_json::Value;
use tables::bazaar::{INTERVALS, RANGES};

use super::page::{MarkdownPage, read};
use super::{CONTRACT, OPERATIONS};
use crate::support::{get, limits, record_prices, send, start, template};

/// How much older than its TTL a cached response may become while refreshes fail: this many TTLs …
const STALE_TTLS: u32 = 10;
/// … and at most this.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// A duration as the pages write it.
fn written(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// The OpenAPI document, which other tests compare with the code.
fn openapi() -> Value {
    serde_json::from_str(&read("functions/index/openapi.json")).unwrap()
}

/// A `curl` command on a page.
struct Example<'page> {
    command: &'page str,
    /// Path and query.
    request: &'page str,
    output: String,
}

/// The examples on the page whose output is shown.
fn examples(page: &MarkdownPage) -> Vec<Example<'_>> {
    let mut examples = Vec::<Example<'_>>::new();
    for line in page.consoles.iter().flat_map(|console| console.lines()) {
        if let Some(command) = line.strip_prefix("$ curl ") {
            let request = ["$BASE", "127.0.0.1:3000"].iter().find_map(|base| command.split_once(base));
            let (_, request) = request.unwrap_or_else(|| panic!("{command} has another server"));
            let request = request.split(['"', '\'', ' ']).next().unwrap();
            examples.push(Example { command, request, output: String::new() });
        } else if !line.starts_with("$ ") {
            examples.last_mut().unwrap().output.push_str(line);
        }
    }
    examples
}

#[tokio::test]
async fn the_examples_show_real_responses() {
    let cloud = start().await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let pages = ["README.md", CONTRACT].map(MarkdownPage::read);
    let mut requested = BTreeSet::new();
    for Example { command, request, output } in pages.iter().flat_map(examples) {
        let has_key = command.contains("X-API-Key: $KEY");
        let response =
            if has_key { get(&cloud, request).await } else { send(&cloud.url(), Method::GET, request).await };
        requested.insert(request.split('?').next().unwrap());
        if command.contains("grep") {
            assert!(response.text.contains(&output), "{command}: {output}");
        } else if output.starts_with(r#"{"success":false"#) {
            assert_eq!(response.text, output, "{command}");
        } else {
            // The game moves on, so only the shape can be compared: up to the first field of `data`.
            let start = r#"{"success":true,"data":{""#;
            let name = output.strip_prefix(start).and_then(|rest| rest.split('"').next());
            let name = name.unwrap_or_else(|| panic!("{command} shows {output}"));
            assert!(
                response.text.starts_with(&format!("{start}{name}\"")),
                "{command}: {:.200}",
                response.text
            );
            if let Ok(Value::Object(shown)) = serde_json::from_str(&output) {
                let fields =
                    |data: &Value| data.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
                assert_eq!(fields(&shown["data"]), fields(&response.data()), "{command}");
            }
        }
    }
    let routes = VERSION_1.iter().map(|route| route.path.split('{').next().unwrap());
    for path in routes {
        assert!(requested.iter().any(|request| request.starts_with(path)), "there is no example of {path}");
    }
}

#[test]
fn the_table_of_routes_has_the_routes_and_their_ttls() {
    let page = MarkdownPage::read(CONTRACT);
    let expected: Vec<_> =
        VERSION_1.iter().map(|route| (format!("GET {}", route.path), written(route.cache))).collect();
    let rows = page.rows("Routes", 0).iter().map(|row| (row[0].text.clone(), row[2].text.clone()));
    let rows: Vec<_> = rows.filter(|(route, _)| route.starts_with("GET /v1/")).collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_table_of_ages_follows_from_the_ttls() {
    let page = MarkdownPage::read(CONTRACT);
    let rows = page.by_first_cell("Caching", 0);
    assert_eq!(rows.len(), VERSION_1.len());
    for route in VERSION_1 {
        let ttl = route.cache;
        // An old status could hide that a recorder has stopped.
        let is_stale = route.function != STATUS.function;
        let failing = if is_stale { ttl + (ttl * STALE_TTLS).min(LONGEST_STALE) } else { ttl };
        // A stage cache may store a response just before it expires.
        let expected = [ttl, 2 * ttl, failing, failing + ttl].map(written);
        assert_eq!(rows[route.path], expected, "{}", route.path);
    }
}

#[test]
fn the_table_of_parameters_has_every_parameter_with_its_bounds_and_default() {
    let page = MarkdownPage::read(CONTRACT);
    let document = openapi();
    let rows = page.rows("Parameters", 0);
    let mut expected = Vec::new();
    for route in VERSION_1 {
        let described = document["paths"][route.path]["get"]["parameters"].as_array();
        for (parameter, described) in route.parameters.iter().zip(described.into_iter().flatten()) {
            assert_eq!(described["name"], parameter.name);
            expected.push((route.path, parameter, &described["schema"]));
        }
    }
    assert_eq!(rows.len(), expected.len());
    for (row, (path, parameter, schema)) in rows.iter().zip(expected) {
        let [route, name, allowed, default] = row.as_slice() else { panic!("four cells") };
        assert_eq!((route.text.as_str(), name.text.as_str()), (path, parameter.name));
        let context = format!("{path} {}", parameter.name);
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<_> = values.iter().map(|value| value.as_str().unwrap()).collect();
            assert_eq!(allowed.codes, values, "{context}");
        } else if let Some(pattern) = schema["pattern"].as_str() {
            let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
            assert_eq!(allowed.text, pattern, "{context}");
        } else if schema["type"] == "integer" {
            assert_eq!(allowed.text, format!("{} to {}", schema["minimum"], schema["maximum"]), "{context}");
        }
        if let Allowed::Time { default: absent } = parameter.allowed {
            assert_eq!(allowed.text, parameter.allowed.to_string(), "{context}");
            assert_eq!(default.text, absent.unwrap_or("required"), "{context}");
            continue;
        }
        match &schema["default"] {
            Value::Null => {
                let is_all = parameter.meaning.ends_with(&format!(", {} if absent", default.text));
                assert!(default.text.starts_with("required") || is_all, "{context}");
            }
            Value::String(text) => assert_eq!(&default.text, text, "{context}"),
            other => assert_eq!(default.text, other.to_string(), "{context}"),
        }
    }
}

#[test]
fn the_table_of_errors_has_every_status_with_its_code() {
    let page = MarkdownPage::read(CONTRACT);
    let rows: BTreeSet<_> =
        page.rows("Errors", 0).iter().map(|row| (row[0].text.clone(), row[1].text.clone())).collect();
    let document = openapi();
    let mut described = BTreeSet::new();
    for operation in document["paths"].as_object().unwrap().values() {
        for (status, response) in operation["get"]["responses"].as_object().unwrap() {
            let reference = response["$ref"].as_str();
            let response =
                reference.map_or(response, |place| document.pointer(place.trim_start_matches('#')).unwrap());
            let examples = response["content"]["application/json"]["examples"].as_object().unwrap();
            let codes = examples.values().filter_map(|example| example["value"]["error"]["code"].as_str());
            described.extend(codes.map(|code| (status.clone(), code.to_owned())));
        }
    }
    assert_eq!(rows, described);
}

#[test]
fn the_table_of_limits_has_the_defaults_of_the_template() {
    let page = MarkdownPage::read(CONTRACT);
    let parameters = template().parameters;
    let rows = page.by_first_cell("Limits", 0).into_iter();
    let rows: BTreeMap<_, Vec<_>> = rows
        .map(|(tier, limits)| (tier, limits.iter().map(|limit| limit.replace(',', "")).collect()))
        .collect();
    let expected = BTreeMap::from([("starter", "Starter"), ("pro", "Pro")].map(|(tier, prefix)| {
        let limit = |name: &str| parameters[&format!("{prefix}{name}")].clone();
        (tier, ["RateLimit", "BurstLimit", "MonthlyQuota"].map(limit).to_vec())
    }));
    assert_eq!(rows, expected);
}

#[test]
fn the_pages_state_the_limits_for_all_clients_together() {
    let parameters = template().parameters;
    let (rate, burst) = (&parameters["RouteRateLimit"], &parameters["RouteBurstLimit"]);
    // The first method setting is for what has no other one.
    let [open_rate, open_burst] = limits("'*'", "/*");
    let [status_rate, status_burst] = limits("GET", STATUS.path);
    let [document_rate, document_burst] = limits("GET", OPENAPI.path);
    let [text_rate, text_burst] = limits("GET", DOCS_MARKDOWN.path);
    assert_eq!(limits("GET", LLMS.path), [&*text_rate, &*text_burst]);
    for (page, sentence) in [
        (CONTRACT, format!("{rate} requests per second from all clients together, with a burst of {burst}")),
        (CONTRACT, format!("takes {status_rate} request per second with a burst of {status_burst}")),
        (CONTRACT, format!("`GET /openapi.json` takes {document_rate} with a burst of {document_burst}")),
        (
            CONTRACT,
            format!("`GET /docs.md` and `GET /llms.txt` take {text_rate} each with a burst of {text_burst}"),
        ),
        (CONTRACT, format!("`GET /` and unknown routes take {open_rate} with a burst of {open_burst}")),
        (OPERATIONS, format!("{rate} requests per second and a burst of {burst} per route")),
    ] {
        let text = read(page).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&sentence), "{page} does not say: {sentence}");
    }
}

#[test]
fn the_table_of_resolutions_has_the_ranges() {
    let page = MarkdownPage::read(CONTRACT);
    let rows = page.by_first_cell("Resolution of history", 0);
    assert_eq!(rows.len(), RANGES.len());
    for range in &RANGES {
        let interval = match range.interval.length.as_secs() / 60 {
            1 => "minute".to_owned(),
            60 => "hour".to_owned(),
            minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
            minutes => format!("{minutes} minutes"),
        };
        assert_eq!(rows[range.name], [interval, range.slots.to_string()], "{}", range.name);
    }
}

#[test]
fn the_table_of_intervals_says_how_long_candles_are_kept() {
    let page = MarkdownPage::read(CONTRACT);
    let rows = page.rows("Resolution of history", 1);
    let rows: Vec<_> = rows.iter().map(|row| (row[0].text.as_str(), row[1].text.clone())).collect();
    let expected = INTERVALS.each_ref().map(|interval| {
        let days = interval.kept.map(|kept| kept.as_secs() / (24 * 60 * 60));
        let kept = match days {
            None => "for ever".to_owned(),
            Some(365) => "1 year".to_owned(),
            Some(days) if days % 365 == 0 => format!("{} years", days / 365),
            Some(days) => format!("{days} days"),
        };
        (interval.name, kept)
    });
    assert_eq!(rows, expected);
}
