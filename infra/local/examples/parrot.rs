//! A function for tests: it does what the event says. As a proxy integration it repeats the event in its answer.
#![expect(clippy::print_stderr, reason = "that is how a function logs")]

use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(|event: LambdaEvent<Value>| answer(event.payload))).await
}

async fn answer(event: Value) -> Result<Value, Error> {
    let asked = event.get("say").or_else(|| event.pointer("/queryStringParameters/say"));
    let asked = asked.and_then(Value::as_str);
    match asked {
        Some("log") => eprintln!("asked to log"),
        Some("note" | "note and fail") => eprintln!("noted {event}"),
        _ => {}
    }
    match asked {
        Some("process") => Ok(json!(std::process::id())),
        Some("greeting") => Ok(json!(std::env::var("GREETING").unwrap_or_default())),
        Some("variable") => {
            let name = event.get("name").and_then(Value::as_str).unwrap_or_default();
            Ok(json!(std::env::var(name).unwrap_or_default()))
        }
        Some("slowly") => {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(json!(std::process::id()))
        }
        Some("crash") => std::process::exit(7),
        Some("hang") => std::future::pending().await,
        Some("fail" | "note and fail") => Err("asked to fail".into()),
        Some("too much") => Ok(json!("x".repeat(7_000_000))),
        Some("nonsense") => Ok(json!({"statusCode": "fine"})),
        _ => Ok(json!({
            "statusCode": 200,
            "headers": {"content-type": "application/json"},
            "multiValueHeaders": {"x-twice": ["one", "two"]},
            "body": event.to_string(),
        })),
    }
}
