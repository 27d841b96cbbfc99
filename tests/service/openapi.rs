//! The API description says what the service does: every answer fits it, every example in it is true, and what it allows
//! is what is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::error::INTERNAL_MESSAGE;
use common::routes::{OPENAPI, VERSION_1};
use hyper::Method;
use jiff::Timestamp;
use jsonschema::Validator;
use local::{Cloud, Options};
use serde_json::{Value, json};
use simulator::Fault;

use crate::support::{
    Answered, KEY_HEADER, expect_clean_logs, get, get_at, invoke, one_instance_each, send, send_with,
    simulator, start, start_with, template,
};

const JSON: &str = "application/json";

/// Values to try for every parameter: bounds and what lies beside them, words, other alphabets.
const VALUES: [&str; 36] = [
    "",
    "0",
    "1",
    "2",
    "20",
    "24",
    "50",
    "100",
    "101",
    "200",
    "201",
    "-1",
    "1.5",
    "4294967295",
    "4294967296",
    "x",
    "full",
    "list",
    "item",
    "flips",
    "FULL",
    "1h",
    "24h",
    "7d",
    "30d",
    "90d",
    "2h",
    "INK_SACK:3",
    "ink_sack",
    "A-B",
    "a_b",
    "a.b",
    "sixteen_letters_",
    "seventeen_letters",
    "SIXTY_FOUR_CAPITALS_ARE_AS_LONG_AS_THE_ID_OF_AN_ITEM_CAN_BE_HERE",
    "SIXTY_FIVE_CAPITALS_ARE_LONGER_THAN_THE_ID_OF_AN_ITEM_CAN_BE_HERE_",
];

/// The description, as the service gives it.
struct Description {
    document: Value,
    /// The same, but no object may have a field that is not described, unless it says so.
    closed: Value,
}

impl Description {
    async fn of(cloud: &Cloud) -> Self {
        let answered = send(&cloud.url(), Method::GET, OPENAPI.path).await;
        let document = answered.json();
        let mut closed = document.clone();
        close(&mut closed);
        Self { document, closed }
    }

    /// What `part` of the document refers to, or itself.
    #[track_caller]
    fn followed<'a>(&'a self, part: &'a Value) -> &'a Value {
        part["$ref"].as_str().map_or(part, |reference| self.at(reference))
    }

    #[track_caller]
    fn at(&self, reference: &str) -> &Value {
        let target = self.document.pointer(reference.strip_prefix('#').unwrap());
        target.unwrap_or_else(|| panic!("{reference} leads nowhere"))
    }

    /// What tells whether values fit the schema, an undescribed field being one too many.
    fn validator(&self, schema: &Value) -> Validator {
        let mut schema = schema.clone();
        close(&mut schema);
        let whole = json!({"allOf": [schema], "components": self.closed["components"]});
        jsonschema::draft202012::options().should_validate_formats(true).build(&whole).unwrap()
    }

    #[track_caller]
    fn expect_fit(&self, schema: &Value, value: &Value, what: &str) {
        let errors: Vec<String> = self
            .validator(schema)
            .iter_errors(value)
            .take(3)
            .map(|error| {
                format!(
                    "{} at {}",
                    error.to_string().chars().take(300).collect::<String>(),
                    error.instance_path()
                )
            })
            .collect();
        assert!(errors.is_empty(), "{what} does not fit: {errors:#?}");
    }

    /// The operations by path.
    fn operations(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.document["paths"].as_object().unwrap().iter().map(|(path, item)| (path.as_str(), &item["get"]))
    }

    /// The responses to `path`, each with its status.
    fn responses(&self, path: &str) -> BTreeMap<u16, &Value> {
        let responses = self.document["paths"][path]["get"]["responses"].as_object().unwrap();
        responses
            .iter()
            .map(|(status, response)| (status.parse().unwrap(), self.followed(response)))
            .collect()
    }

    /// That the answer to a request to `path` is one that is described.
    #[track_caller]
    fn expect_answer(&self, path: &str, answered: &Answered) {
        let status = answered.status.as_u16();
        let responses = self.responses(path);
        let response = responses.get(&status).unwrap_or_else(|| panic!("{path}: {status} is not described"));
        assert_eq!(answered.headers["content-type"], JSON);
        let what = format!("the answer of {path} with {status}");
        self.expect_fit(&response["content"][JSON]["schema"], &answered.json(), &what);
        for (name, header) in response["headers"].as_object().unwrap() {
            let header = self.followed(header);
            let value = answered.headers.get(name).unwrap_or_else(|| panic!("{what} has no {name}"));
            let text = value.to_str().unwrap();
            self.expect_fit(&header["schema"], &as_json(text, &header["schema"]), name);
        }
        for name in ["last-modified", "expires", "retry-after"] {
            let described =
                response["headers"].as_object().unwrap().keys().any(|known| known.eq_ignore_ascii_case(name));
            assert_eq!(answered.headers.contains_key(name), described, "{what}: {name}");
        }
    }

    /// The example requests of `path` that have the status, each with the body of its answer.
    fn examples(&self, path: &str, status: u16) -> Vec<(String, Value)> {
        let responses = self.responses(path);
        let Some(response) = responses.get(&status) else { return Vec::new() };
        let examples = response["content"][JSON]["examples"].as_object().unwrap().values();
        let requests = examples.filter_map(|example| {
            let request = example["summary"].as_str()?.strip_prefix("GET ")?;
            Some((request.to_owned(), example["value"].clone()))
        });
        requests.collect()
    }

    /// The data of the example answer to `request`.
    #[track_caller]
    fn data(&self, request: &str) -> Value {
        let mut examples = self.operations().flat_map(|(path, _)| self.examples(path, 200));
        let (_, mut body) =
            examples.find(|(known, _)| known == request).unwrap_or_else(|| panic!("no example {request}"));
        body["data"].take()
    }
}

/// Forbids what is not described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            let parts =
                object.iter_mut().filter(|(name, _)| !["example", "examples"].contains(&name.as_str()));
            parts.for_each(|(_, part)| close(part));
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

/// A parameter's or a header's text as the JSON value that a schema of this type means.
fn as_json(text: &str, schema: &Value) -> Value {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if schema["type"] == "integer" && is_digits { json!(text.parse::<u64>().unwrap()) } else { json!(text) }
}

#[tokio::test]
async fn the_description_is_served_to_everybody_as_it_is_checked_in() {
    let cloud = start().await;
    let answered = send(&cloud.url(), Method::GET, "/openapi.json").await;
    assert_eq!(answered.status, 200);
    assert_eq!(answered.headers["content-type"], JSON);
    assert_eq!(answered.headers["access-control-allow-origin"], "*");
    let file = Options::default().template.with_file_name("functions/index/openapi.json");
    assert!(answered.text == std::fs::read_to_string(file).unwrap(), "another document is served");
    let description = Description::of(&cloud).await;
    description.expect_answer(OPENAPI.path, &answered);
    description.expect_answer("/", &send(&cloud.url(), Method::GET, "/").await);
    for method in [Method::POST, Method::DELETE] {
        let refused = send(&cloud.url(), method, "/openapi.json").await;
        refused.error("NOT_FOUND");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_described_routes_are_those_of_the_table_with_its_parameters_and_keys() {
    let cloud = start().await;
    let description = Description::of(&cloud).await;
    let described: BTreeSet<&str> = description.operations().map(|(path, _)| path).collect();
    let table = VERSION_1.iter().map(|route| route.path).chain(["/", OPENAPI.path]);
    assert_eq!(described, table.collect());
    let template = template();
    for (path, operation) in description.operations() {
        let declared =
            template.api.routes.iter().find(|route| route.path == path && route.method == "GET").unwrap();
        let wants_key = operation.get("security").is_none();
        assert_eq!(wants_key, declared.key_required, "{path}");
        assert_eq!(wants_key, operation["responses"].get("401").is_some(), "{path}");
        let route = VERSION_1.iter().find(|route| route.path == path);
        let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        let expected = route.map(|route| route.parameters).unwrap_or_default();
        assert_eq!(parameters.len(), expected.len(), "{path}");
        for (parameter, expected) in parameters.iter().zip(expected) {
            assert_eq!(parameter["name"], expected.name);
            assert_eq!(parameter["in"], expected.location.name());
            assert_eq!(parameter["required"], expected.required);
        }
    }
    assert_eq!(description.document["security"], json!([{"ApiKey": []}]));
}

#[tokio::test]
async fn every_example_fits_its_schema() {
    let cloud = start().await;
    let description = Description::of(&cloud).await;
    let components = &description.document["components"];
    let mut count = 0;
    for (name, schema) in components["schemas"].as_object().unwrap() {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        for example in schema["examples"].as_array().unwrap() {
            description.expect_fit(&reference, example, name);
        }
        for (field, schema) in schema["properties"].as_object().unwrap() {
            for example in schema["examples"].as_array().into_iter().flatten() {
                description.expect_fit(schema, example, &format!("{name}.{field}"));
                count += 1;
            }
        }
    }
    for header in components["headers"].as_object().unwrap().values() {
        description.expect_fit(&header["schema"], &header["example"], "a header");
    }
    for (path, operation) in description.operations() {
        for (status, response) in description.responses(path) {
            let content = &response["content"][JSON];
            for example in content["examples"].as_object().unwrap().values() {
                description.expect_fit(&content["schema"], &example["value"], &format!("{path} {status}"));
                count += 1;
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            for example in parameter["examples"].as_object().unwrap().values() {
                description.expect_fit(&parameter["schema"], &example["value"], &parameter.to_string());
                count += 1;
            }
        }
    }
    assert!(count > 150, "{count} examples");
    // What is not described does not fit: otherwise nothing that these tests say of answers would mean anything.
    for (path, _) in description.operations().filter(|(path, _)| *path != OPENAPI.path) {
        let schema = &description.responses(path)[&200]["content"][JSON]["schema"];
        for (request, body) in description.examples(path, 200) {
            for place in ["", "/data", "/meta"] {
                let mut with_more = body.clone();
                with_more.pointer_mut(place).unwrap()["undescribed"] = true.into();
                assert!(!description.validator(schema).is_valid(&with_more), "{request}: {place}");
            }
        }
    }
}

/// Asks the cloud for what is an example, and for all that differs in kind.
#[tokio::test]
async fn every_real_answer_fits_its_schema() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    // Until a mayor is history, the term has to end.
    let recorded = async |recorder: &str, path: &str| {
        let time = Timestamp::from_second(cloud.clock().now_ms() / 1_000).unwrap();
        let invoked = invoke(&cloud, recorder, json!({"time": time.to_string()}).to_string()).await;
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{path}: {}", invoked.text);
    };
    recorded("record-mayor", "/v1/mayor/history").await;
    cloud.clock().advance(Duration::from_hours(6 * 24));
    provide_a_sale(&cloud, &description);
    recorded("record-fire-sales", "/v1/fire-sales/history").await;
    recorded("record-bazaar", "/v1/bazaar/history").await;
    let mut requests: Vec<(String, String)> = Vec::new();
    for (path, _) in description.operations() {
        let examples = description.examples(path, 200).into_iter();
        requests
            .extend(examples.filter(|_| path != OPENAPI.path).map(|(request, _)| (path.to_owned(), request)));
    }
    assert_eq!(requests.len(), VERSION_1.len() + 1 + 3, "each route, and three modes more");
    let more = [
        ("/v1/mayor/history", "/v1/mayor/history?limit=100"),
        ("/v1/fire-sales/history", "/v1/fire-sales/history?limit=200"),
        ("/v1/bazaar", "/v1/bazaar"),
        ("/v1/bazaar", "/v1/bazaar?mode=flips&limit=100"),
        ("/v1/bazaar", "/v1/bazaar?mode=flips&limit=1"),
        ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=24h"),
        ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=7d"),
        ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=30d"),
        ("/v1/bazaar/history", "/v1/bazaar/history?item_id=INK_SACK:3&range=90d"),
        ("/v1/bazaar/history", "/v1/bazaar/history?item_id=NEVER_RECORDED"),
        ("/v1/auctions", "/v1/auctions?page=1"),
        ("/v1/profile/{username}", "/v1/profile/NeverPlayed"),
        ("/v1/profile/{username}", "/v1/profile/player_7"),
    ];
    requests.extend(more.map(|(path, request)| (path.to_owned(), request.to_owned())));
    for (path, request) in requests {
        let answered = get(&cloud, &request).await;
        assert_eq!(answered.status, 200, "{request}: {}", answered.text);
        if path.ends_with("/history") && !request.contains("NEVER") {
            assert_ne!(answered.data()["history"], json!([]), "{request}");
        }
        description.expect_answer(&path, &answered);
    }
    // With as little as the provider may say of elections.
    let bare = json!({"success": true, "mayor": {"name": "Jerry", "key": "jerry", "perks": []}});
    simulator(&cloud)
        .set_fault("/v2/resources/skyblock/election", Fault::status(200).with_body(bare.to_string()));
    cloud.clock().advance(Duration::from_mins(6));
    let answered = get(&cloud, "/v1/mayor").await;
    assert_eq!(answered.data()["current"], json!({}));
    description.expect_answer("/v1/mayor", &answered);
    expect_clean_logs(&cloud);
}

/// The simulated game often has none.
fn provide_a_sale(cloud: &Cloud, description: &Description) {
    let sales = provided(description.data("/v1/fire-sales"));
    simulator(cloud).set_fault("/v2/skyblock/firesales", Fault::status(200).with_body(sales));
}

/// The provider's body that an example answer is made of.
fn provided(mut data: Value) -> String {
    data["success"] = true.into();
    data.to_string()
}

#[tokio::test]
async fn every_example_answer_is_what_a_function_makes_of_what_it_is_made_of() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    let provide =
        |path: &str, body: String| simulator(&cloud).set_fault(path, Fault::status(200).with_body(body));

    let mut elections = description.data("/v1/mayor");
    let won = elections["election"].take();
    let mut mayor = elections["mayor"].take();
    mayor["election"] = won;
    provide(
        "/v2/resources/skyblock/election",
        provided(json!({"mayor": mayor, "current": elections["current"]})),
    );
    provide("/v2/skyblock/firesales", provided(description.data("/v1/fire-sales")));
    provide("/v2/skyblock/bazaar", provided(description.data("/v1/bazaar?mode=full")));
    provide("/v2/skyblock/auctions", provided(description.data("/v1/auctions?page=0")));
    provide("/v2/resources/skyblock/collections", provided(description.data("/v1/collections")));
    provide("/v2/resources/skyblock/items", provided(description.data("/v1/items")));
    let player = description.data("/v1/profile/Notch");
    let named = json!({"id": player["uuid"], "name": player["username"]});
    provide("/users/profiles/minecraft/Notch", named.to_string());
    provide("/v2/skyblock/profiles", provided(json!({"profiles": player["profiles"]})));
    let live = [
        "/v1/mayor",
        "/v1/fire-sales",
        "/v1/bazaar?mode=full",
        "/v1/bazaar?mode=list",
        "/v1/bazaar?mode=item&id=INK_SACK:3",
        "/v1/bazaar?mode=flips&limit=5",
        "/v1/auctions?page=0",
        "/v1/collections",
        "/v1/items",
        "/v1/profile/Notch",
    ];
    for request in live {
        assert_eq!(get(&cloud, request).await.data(), description.data(request), "{request}");
    }

    let index = get(&cloud, "/").await.data();
    let example = description.data("/");
    for endpoint in example["endpoints"].as_array().unwrap() {
        assert!(index["endpoints"].as_array().unwrap().contains(endpoint), "{endpoint}");
    }
    for field in ["name", "api_version", "documentation"] {
        assert_eq!(index[field], example[field], "{field}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn every_example_of_history_is_what_was_recorded() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    let record = async |recorder: &str, path: &str, body: Value, time: &str| {
        simulator(&cloud).set_fault(path, Fault::status(200).with_body(provided(body)));
        let invoked = invoke(&cloud, recorder, json!({"time": time}).to_string()).await;
        assert!(!invoked.headers.contains_key("x-amz-function-error"), "{recorder}: {}", invoked.text);
    };
    let moment = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    let answered = async |request: &str, after: &str| {
        let time: Timestamp = after.parse().unwrap();
        get_at(&cloud, request, time.as_millisecond() + 1_000).await.data()
    };

    let request = "/v1/mayor/history?limit=1";
    let expected = description.data(request);
    let entry = &expected["history"][0];
    let year = election_year(&moment(entry, "started_at"));
    let election = json!({"year": year, "candidates": []});
    let mayor =
        json!({"name": entry["name"], "key": entry["key"], "perks": entry["perks"], "election": election});
    let begun = moment(entry, "started_at");
    record("record-mayor", "/v2/resources/skyblock/election", json!({"mayor": mayor}), &begun).await;
    assert_eq!(answered(request, &moment(entry, "ended_at")).await, expected);

    let request = "/v1/fire-sales/history?limit=1";
    let expected = description.data(request);
    let seen = moment(&expected["history"][0], "recorded_at");
    record("record-fire-sales", "/v2/skyblock/firesales", description.data("/v1/fire-sales"), &seen).await;
    assert_eq!(answered(request, &seen).await, expected);

    let request = "/v1/bazaar/history?item_id=INK_SACK:3&range=1h";
    let expected = description.data(request);
    let point = &expected["history"][0];
    let recorded = moment(point, "recorded_at");
    let status = json!({
        "sellPrice": point["sell_price"], "buyPrice": point["buy_price"],
        "sellVolume": point["sell_volume"], "buyVolume": point["buy_volume"],
        "sellMovingWeek": 1, "buyMovingWeek": 1,
    });
    let market = json!({"lastUpdated": 1, "products": {"INK_SACK:3": {"quick_status": status}}});
    record("record-bazaar", "/v2/skyblock/bazaar", market, &recorded).await;
    assert_eq!(answered(request, &recorded).await, expected);
    expect_clean_logs(&cloud);
}

/// The year of the election that was won at that moment.
fn election_year(won_at: &str) -> i64 {
    let won_at: Timestamp = won_at.parse().unwrap();
    simulator::election::seated_year(won_at.as_millisecond())
}

#[tokio::test]
async fn every_example_of_an_error_is_what_the_service_says() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    let mut asked = 0;
    for (path, _) in description.operations() {
        for status in [400, 404] {
            for (request, body) in description.examples(path, status) {
                let answered = get(&cloud, &request).await;
                assert_eq!(answered.status, status, "{request}");
                assert_eq!(answered.json(), body, "{request}");
                description.expect_answer(path, &answered);
                asked += 1;
            }
        }
    }
    assert!(asked >= 13, "{asked} errors");

    let messages = |status: u16| -> Vec<Value> {
        let responses = description.responses("/v1/mayor");
        let examples = responses[&status]["content"][JSON]["examples"].as_object().unwrap();
        examples.values().map(|example| example["value"].clone()).collect()
    };
    let keys = cloud.keys().unwrap();
    let lapsed = [(KEY_HEADER, keys.lapsed.expose())];
    simulator(&cloud).set_fault("/v2/resources/skyblock/election", Fault::status(500));
    let answers = [
        send(&cloud.url(), Method::GET, "/v1/mayor").await,
        send_with(&cloud.url(), Method::GET, "/v1/mayor", &lapsed).await,
        get(&cloud, "/v1/mayor").await,
    ];
    for (answered, status) in answers.iter().zip([401, 403, 500]) {
        assert_eq!(answered.status, status, "{}", answered.text);
        assert!(messages(status).contains(&answered.json()), "{}", answered.text);
        description.expect_answer("/v1/mayor", answered);
    }

    // What the gateway says stands in the template, word for word.
    let template = template();
    for status in [401, 403, 429, 500] {
        let retry_after = description.responses("/v1/mayor")[&status]["headers"].get("Retry-After").is_some();
        for body in messages(status).into_iter().filter(|body| body["error"]["message"] != INTERNAL_MESSAGE) {
            let mut responses = template.api.gateway_responses.values();
            let said = responses.find(|response| {
                let text = response.body.as_deref().unwrap_or_default();
                response.status == Some(status)
                    && serde_json::from_str::<Value>(text).is_ok_and(|said| said == body)
            });
            let said = said.unwrap_or_else(|| panic!("the gateway does not say {body}"));
            assert_eq!(said.headers.contains_key("Retry-After"), retry_after, "{body}");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_described_limits_are_the_templates() {
    let cloud = start().await;
    let description = Description::of(&cloud).await;
    let introduction = description.document["info"]["description"].as_str().unwrap();
    let template = template();
    assert_eq!(template.usage_plans.len(), 2);
    for plan in &template.usage_plans {
        let throttle = plan.throttle.unwrap();
        let sentence = format!(
            "`{}` allows {} requests per second and {} at once after a pause",
            plan.tier, throttle.rate, throttle.burst
        );
        assert!(introduction.contains(&sentence), "{sentence}");
    }
    for route in VERSION_1 {
        let terms = format!("Responses are cached for {} s.", route.cache.as_secs());
        let described = description.document["paths"][route.path]["get"]["description"].as_str().unwrap();
        assert!(described.contains(&terms), "{}: {described}", route.path);
    }
}

/// A default is what counts when nothing is said, and a value is refused exactly if its schema refuses it.
#[tokio::test]
async fn a_parameter_takes_what_its_schema_takes() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    let mut parameters = 0;
    for (path, operation) in description.operations() {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            parameters += 1;
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let validator = description.validator(schema);
            // What the parameter means may depend on another: in each of its examples it has another value.
            let examples: Vec<_> =
                description.examples(path, 200).into_iter().map(|(request, _)| request).collect();
            for value in VALUES.into_iter().filter(|value| !(value.is_empty() && parameter["in"] == "path")) {
                let mut is_taken = false;
                for request in examples.iter().filter_map(|request| with(request, path, name, value)) {
                    is_taken |= get(&cloud, &request).await.status != 400;
                }
                assert_eq!(is_taken, validator.is_valid(&as_json(value, schema)), "{path}: {name} {value:?}");
            }
        }
    }
    assert_eq!(parameters, VERSION_1.iter().map(|route| route.parameters.len()).sum::<usize>());
    expect_clean_logs(&cloud);
}

/// The request with another value for the parameter, if it has one.
fn with(request: &str, path: &str, name: &str, value: &str) -> Option<String> {
    if let Some((before, _)) = path.split_once(&format!("{{{name}}}")) {
        return Some(format!("{before}{value}"));
    }
    let (path, query) = request.split_once('?')?;
    let mut pairs: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    pairs.iter_mut().find(|(known, _)| *known == name)?.1 = value;
    let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Some(format!("{path}?{}", query.join("&")))
}

#[tokio::test]
async fn a_parameters_default_is_what_counts_without_it() {
    let cloud = start_with(one_instance_each()).await;
    let description = Description::of(&cloud).await;
    for (with, without) in [
        ("/v1/bazaar?mode=flips&limit=", "/v1/bazaar?mode=flips"),
        ("/v1/bazaar?mode=", "/v1/bazaar"),
        ("/v1/auctions?page=", "/v1/auctions"),
        ("/v1/bazaar/history?item_id=INK_SACK:3&range=", "/v1/bazaar/history?item_id=INK_SACK:3"),
    ] {
        let (path, _) = with.split_once('?').unwrap();
        let name = with.trim_end_matches('=').rsplit(['?', '&']).next().unwrap();
        let parameters = description.document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        let default = &parameter["schema"]["default"];
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        let mut same = false;
        // The upstream may refresh in the middle.
        for _ in 0..5 {
            let said = get(&cloud, &format!("{with}{default}")).await.data();
            same |= said == get(&cloud, without).await.data();
        }
        assert!(same, "{without}: the default is not {default}");
    }
    expect_clean_logs(&cloud);
}
