use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_checked_in_files_are_the_generated_ones() {
    for (path, generated) in files(&root()).unwrap() {
        let checked_in = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
        let mut lines = generated.lines().zip(checked_in.lines()).zip(1..);
        let difference = lines.find(|((generated, checked_in), _)| generated != checked_in);
        assert!(
            generated == checked_in,
            "{path} is out of date. Run `cargo generate` and commit the files. The first difference: {difference:?}"
        );
    }
}

/// Returns the target of a reference, or `part` itself.
fn followed<'a>(document: &'a Value, part: &'a Value) -> &'a Value {
    match part["$ref"].as_str() {
        Some(reference) => {
            let target = document.pointer(reference.strip_prefix('#').unwrap());
            target.unwrap_or_else(|| panic!("{reference} leads nowhere"))
        }
        None => part,
    }
}

/// Asserts that the text is a sentence for readers who do not know the code.
fn expect_description(description: &Value, place: &str) {
    let text = description.as_str().unwrap_or_else(|| panic!("{place} has no description"));
    assert!(text.ends_with('.'), "{place}: {text:?} is not a sentence");
    for word in [".md", "\n", "`Self", "[`"] {
        assert!(!text.contains(word), "{place}: {text:?}");
    }
}

/// Calls `check` for every object in the value with its path.
fn walk(value: &Value, place: &str, check: &mut impl FnMut(&Value, &str)) {
    match value {
        Value::Object(object) => {
            check(value, place);
            for (name, part) in
                object.iter().filter(|(name, _)| !["example", "examples"].contains(&name.as_str()))
            {
                walk(part, &format!("{place}/{name}"), check);
            }
        }
        Value::Array(parts) => {
            for (part, number) in parts.iter().zip(0..) {
                walk(part, &format!("{place}/{number}"), check);
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_parameter_header_and_schema_has_a_description_and_an_example() {
    let document = document().unwrap();
    let mut fields = 0;
    walk(&document, "", &mut |part, place| {
        let Some(properties) = part["properties"].as_object() else { return };
        for (name, field) in properties {
            let place = format!("{place}/{name}");
            let target = followed(&document, field);
            expect_description(field.get("description").unwrap_or(&target["description"]), &place);
            // A field with several shapes has its examples in each of them.
            let shapes =
                field["anyOf"].as_array().map_or_else(|| vec![field], |shapes| shapes.iter().collect());
            for shape in shapes.into_iter().filter(|shape| shape["type"] != "null") {
                let examples = shape.get("examples").or_else(|| followed(&document, shape).get("examples"));
                assert!(
                    examples.is_some_and(|examples| !examples.as_array().unwrap().is_empty()),
                    "{place} has no example"
                );
            }
            fields += 1;
        }
    });
    assert!(fields > 100, "{fields} fields");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        expect_description(&schema["description"], name);
        // The examples of whole responses are at the operations.
        let is_response = name.ends_with("Response") || name == "OpenApiDocument";
        assert!(schema["examples"].is_array() || is_response, "{name} has no example");
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            let place = format!("{path} {}", parameter["name"]);
            expect_description(&parameter["description"], &place);
            assert!(!parameter["examples"].as_object().unwrap().is_empty(), "{place} has no example");
        }
        for (status, response) in item["get"]["responses"].as_object().unwrap() {
            let response = followed(&document, response);
            let examples = response["content"]["application/json"]["examples"].as_object();
            assert!(examples.is_some_and(|examples| !examples.is_empty()), "{path} {status} has no example");
            for header in response["headers"].as_object().unwrap().values() {
                let header = followed(&document, header);
                expect_description(&header["description"], path);
                assert!(header.get("example").is_some(), "{path} {status}");
            }
        }
    }
}

#[test]
fn parameters_have_their_values_under_the_name_of_the_response() {
    let document = document().unwrap();
    let mut requests = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let responses = &item["get"]["responses"]["200"]["content"]["application/json"]["examples"];
        for (name, response) in responses.as_object().unwrap() {
            let Some((_, query)) = response["summary"].as_str().unwrap().split_once('?') else { continue };
            let parameters = item["get"]["parameters"].as_array().unwrap().iter();
            let mut filled: Vec<String> = parameters
                .filter_map(|parameter| {
                    let example = &parameter["examples"].get(name)?["value"];
                    let value = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
                    Some(format!("{}={value}", parameter["name"].as_str().unwrap()))
                })
                .collect();
            filled.sort_unstable();
            let decoded = |pair| percent_decode_str(pair).decode_utf8().unwrap().into_owned();
            let mut sent: Vec<String> = query.split('&').map(decoded).collect();
            sent.sort_unstable();
            assert_eq!(filled, sent, "{path} {name}");
            requests += 1;
        }
    }
    assert!(requests > 5, "{requests} requests");
}

#[test]
fn every_operation_has_a_unique_id() {
    let document = document().unwrap();
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    let mut names: Vec<&str> = operations.map(|item| item["operationId"].as_str().unwrap()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

#[test]
fn every_operation_has_a_short_title_a_description_and_one_declared_tag() {
    let document = document().unwrap();
    let tags: Vec<&Value> = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    for (path, item) in document["paths"].as_object().unwrap() {
        let summary = item["get"]["summary"].as_str().unwrap();
        assert!((1..=50).contains(&summary.chars().count()), "{path}: {summary:?}");
        assert!(!summary.ends_with('.'), "{path}: {summary:?} is a title and not a sentence");
        expect_description(&item["get"]["description"], path);
        let [tag] = item["get"]["tags"].as_array().unwrap().as_slice() else { panic!("{path}: one tag") };
        assert!(tags.contains(&tag), "{path}: {tag} is not declared");
    }
}

#[test]
fn head_has_the_responses_of_get_without_content() {
    let document = document().unwrap();
    for route in routes() {
        let item = &document["paths"][route.path];
        assert_eq!(item.get("head").is_some(), route.answers_head, "{}", route.path);
        for (status, response) in item["head"]["responses"].as_object().into_iter().flatten() {
            let of_get = followed(&document, &item["get"]["responses"][status]);
            assert_eq!((&response["headers"], response.get("content")), (&of_get["headers"], None));
        }
    }
}

#[test]
fn the_reference_describes_every_field_of_a_response() {
    let reference = files(&root()).unwrap().remove("functions/index/docs.md").unwrap();
    let mut fields = 0;
    walk(&document().unwrap()["components"]["schemas"], "", &mut |part, place| {
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            if let Some(description) = field["description"].as_str()
                && !["error", "success", "data", "meta"].contains(&name.as_str())
                && !place.contains("/error")
            {
                assert!(reference.contains(&description.replace('|', "\\|")), "{place}/{name}");
                fields += 1;
            }
        }
    });
    assert!(fields > 100, "{fields} fields");
}
