//! A function for tests, which follows the command in its event. Without a command, it returns the event in a
//! proxy response. As an authorizer, it takes the tier from the key: `pro-…` is a key of the tier pro. The
//! `usageIdentifierKey` is the key, padded with zeros.
#![expect(clippy::print_stderr, reason = "a function logs to standard error")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(|event: LambdaEvent<Value>| respond(event.payload))).await
}

async fn respond(event: Value) -> Result<Value, Error> {
    if event.get("type").and_then(Value::as_str) == Some("REQUEST") {
        return authorize(&event);
    }
    let said = event.get("say").or_else(|| event.pointer("/queryStringParameters/say"));
    let command = said.and_then(Value::as_str);
    match command {
        Some("log") => eprintln!("asked to log"),
        Some("slowly") => tokio::time::sleep(Duration::from_millis(500)).await,
        Some("note" | "note and fail") => eprintln!("noted {event}"),
        _ => {}
    }
    match command {
        Some("process" | "slowly") => Ok(json!(std::process::id())),
        Some("environment") => Ok(json!(std::env::vars().collect::<HashMap<_, _>>())),
        Some("crash") => std::process::exit(7),
        Some("hang") => std::future::pending().await,
        Some("fail" | "note and fail") => Err("asked to fail".into()),
        Some("too much") => Ok(json!("x".repeat(7_000_000))),
        Some("no status") => Ok(json!({"statusCode": 99})),
        Some("no header") => Ok(json!({"statusCode": 200, "headers": {"a": "b\r\nc: d"}})),
        _ => Ok(json!({
            "statusCode": 200,
            "headers": {"content-type": "application/json"},
            "multiValueHeaders": {"x-twice": ["one", "two"]},
            "body": event.to_string(),
        })),
    }
}

/// The number of invocations of this process as an authorizer.
static INVOCATIONS: AtomicU32 = AtomicU32::new(0);

fn authorize(event: &Value) -> Result<Value, Error> {
    let invocations = INVOCATIONS.fetch_add(1, Ordering::Relaxed) + 1;
    let key = event.pointer("/headers/x-api-key").and_then(Value::as_str).unwrap_or_default();
    let (kind, _) = key.split_once('-').unwrap_or((key, ""));
    let method_arn = event.get("methodArn").and_then(Value::as_str).unwrap_or_default();
    let stage = method_arn.split("/GET/").next().unwrap_or_default();
    let (effect, resource) = match kind {
        "nobody" => return Err("Unauthorized".into()),
        "fail" => return Err(format!("cannot look up {key}").into()),
        "crash" => std::process::exit(7),
        "null" => return Ok(Value::Null),
        "lapsed" => ("Deny", format!("{stage}/GET/*")),
        "once" => ("Allow", method_arn.to_owned()),
        _ => ("Allow", format!("{stage}/GET/*")),
    };
    Ok(json!({
        "principalId": "someone",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Effect": effect, "Action": "execute-api:Invoke", "Resource": resource}],
        },
        "context": {"tier": kind, "invocations": invocations},
        "usageIdentifierKey": format!("{key:0<24}"),
    }))
}
