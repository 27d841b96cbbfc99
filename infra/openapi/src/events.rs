//! The sample events in `events/`: API Gateway's event for the example of each route and for the authorizer,
//! a command for accounts and keys, an event of Stripe for payments, and the scheduler's events for the
//! recorders.

use common::routes::{DOCS, MAYOR, Reads, Route};
use recorder::feed::FEEDS;
use serde_json::{Value, json};

use crate::descriptions;
use crate::error::Error;
use crate::examples::Example;
use crate::table::{self, code};

/// The time of all events: 2026-11-16T12:00:00Z.
const TIME_MS: i64 = 1_794_830_400_000;
const TIME: &str = "2026-11-16T12:00:00Z";
const TIME_S: i64 = TIME_MS / 1_000;
const MONTH_S: i64 = 30 * 24 * 60 * 60;

/// An account of the local cloud, and its tier.
const ACCOUNT: &str = "local-pro";
const TIER: &str = "pro";

/// A well-formed key that was never issued.
const KEY: &str = "gd_ExampleKeyThatNobodyEverHad000000Yphmz";

pub(crate) struct Event {
    function: String,
    /// The description of the event in `events/README.md`.
    meaning: String,
    content: Value,
}

/// Returns the files, by path from the root of the repository.
///
/// # Errors
/// If an event cannot be written as JSON.
pub(crate) fn files(events: &[Event]) -> Result<Vec<(String, String)>, Error> {
    let files = events.iter().map(|Event { function, content, .. }| {
        Ok((format!("events/{function}.json"), serde_json::to_string_pretty(content)? + "\n"))
    });
    files.collect()
}

pub(crate) fn table(events: &[Event]) -> String {
    let rows = events.iter().map(|event| [code(&format!("{}.json", event.function)), event.meaning.clone()]);
    table::table(["event", "content"], rows)
}

/// Returns the events, sorted by the names of the functions.
///
/// # Errors
/// If an example cannot be parsed, or the request of an example does not match its route.
pub(crate) fn all() -> Result<Vec<Event>, Error> {
    let mut events = Vec::new();
    for description in descriptions() {
        let route = description.route;
        let examples: Vec<_> =
            description.kinds.iter().map(|kind| Example::of(route, kind)).collect::<Result<_, _>>()?;
        // A sample should be short.
        let shortest = examples.into_iter().min_by_key(|example| example.data.to_string().len());
        if let Some(example) = shortest {
            events.push(of_route(route, example.request)?);
        }
    }
    events.push(of_route(&DOCS, DOCS.path)?);
    events.push(Event {
        function: "authorizer".to_owned(),
        meaning: "a request with a key that was never issued: fails with `Unauthorized`, which API Gateway turns into a 401".to_owned(),
        content: local::sample_authorizer_event(MAYOR.path, KEY, TIME_MS)?,
    });
    events.push(Event {
        function: "accounts".to_owned(),
        meaning: "the command to explain a key that was never issued".to_owned(),
        content: json!({ "command": "explain_key", "key": KEY }),
    });
    events.push(Event {
        function: "payments".to_owned(),
        meaning:
            "a new subscription in Stripe's test mode, which pays for `price_pro`, as EventBridge sends it"
                .to_owned(),
        content: of_subscription(),
    });
    events.extend(FEEDS.iter().map(|feed| Event {
        function: format!("record-{}", feed.name),
        meaning: "the scheduler's event, as a backfill".to_owned(),
        content: json!({ "time": TIME, "backfill": true }),
    }));
    events.sort_by(|one, other| one.function.cmp(&other.function));
    Ok(events)
}

/// Returns a snapshot event of Stripe in the event of `EventBridge`.
fn of_subscription() -> Value {
    let kind = "customer.subscription.created";
    let subscription = json!({
        "id": "sub_Sample",
        "object": "subscription",
        "customer": "cus_Sample",
        "status": "active",
        "collection_method": "charge_automatically",
        "pause_collection": null,
        "metadata": { "account": "sample" },
        "cancel_at": null,
        "cancel_at_period_end": false,
        "ended_at": null,
        "cancellation_details": { "comment": null, "feedback": null, "reason": null },
        "items": { "object": "list", "has_more": false, "data": [{
            "id": "si_Sample",
            "object": "subscription_item",
            "price": { "id": "price_pro", "object": "price" },
            "quantity": 1,
            "current_period_start": TIME_S,
            "current_period_end": TIME_S + MONTH_S,
        }] },
    });
    json!({
        "version": "0",
        "id": "00000000-0000-4000-8000-000000000000",
        "detail-type": kind,
        "source": "aws.partner/stripe.com/ed_test_Sample",
        "account": "123456789012",
        "time": TIME,
        "region": "eu-central-1",
        "resources": [],
        "detail": {
            "id": "evt_Sample",
            "object": "event",
            "api_version": "2025-03-31.basil",
            "type": kind,
            "created": TIME_S,
            // Harmless if somebody sends the event to a deployment, which ignores the test mode.
            "livemode": false,
            "data": { "object": subscription },
        },
    })
}

/// Returns the event of a request to the route. `request` is the path and the query.
fn of_route(route: &Route, request: &str) -> Result<Event, Error> {
    let mut content = local::sample_event(route.path, request, TIME_MS)?;
    let mut meaning = code(&format!("GET {request}"));
    if route.reads == Reads::Account
        && let Some(Value::Object(context)) = content.get_mut("requestContext")
    {
        let authorizer = json!({ "account": ACCOUNT, "tier": TIER, "principalId": ACCOUNT });
        context.insert("authorizer".to_owned(), authorizer);
        meaning = format!("{meaning} with a key of the account {}", code(ACCOUNT));
    }
    Ok(Event { function: route.function.to_owned(), meaning, content })
}
