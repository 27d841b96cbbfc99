//! The page for clients shows real responses, and its tables agree with the code.

use std::collections::BTreeSet;

use common::routes::VERSION_1;
use hyper::Method;
use serde_json::Value;
use tables::bazaar::{INTERVALS, RANGES};

use super::page::{MarkdownPage, read};
use super::{CONTRACT, OPERATIONS};
use crate::support::{deployed_template, get, record_prices, send, start};

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
            let parts = ["$BASE", "127.0.0.1:3000"].iter().find_map(|base| command.split_once(base));
            let (_, rest) = parts.unwrap_or_else(|| panic!("{command} has another server"));
            let request = rest.split(['"', '\'', ' ']).next().unwrap();
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
            // The game changes, so only the beginning is compared, up to the first field of `data`.
            let start = r#"{"success":true,"data":{""#;
            let first = output.strip_prefix(start).and_then(|rest| rest.split('"').next());
            let name =
                first.unwrap_or_else(|| panic!("the output of {command} is not a response: {output:?}"));
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
        assert!(requested.iter().any(|request| request.starts_with(path)), "{path} has no example");
    }
}

#[test]
fn the_pages_state_the_limits_of_a_route_for_all_clients_together() {
    let parameters = deployed_template().parameters;
    let rate = &parameters["RouteRateLimit"];
    let burst = &parameters["RouteBurstLimit"];
    for (page, sentence) in [
        (CONTRACT, format!("{rate} requests per second from all clients together, with a burst of {burst}")),
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
    let table = page.rows("Resolution of history", 1);
    let rows: Vec<_> = table.iter().map(|row| (row[0].text.as_str(), row[1].text.clone())).collect();
    let expected = INTERVALS.each_ref().map(|interval| {
        let days = interval.kept.map(|kept| kept.as_secs() / (24 * 60 * 60));
        let kept = match days {
            None => "permanently".to_owned(),
            Some(365) => "1 year".to_owned(),
            Some(days) if days % 365 == 0 => format!("{} years", days / 365),
            Some(days) => format!("{days} days"),
        };
        (interval.name, kept)
    });
    assert_eq!(rows, expected);
}
