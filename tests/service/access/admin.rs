//! A key that `cargo admin` issues works at once, and a key that it revokes stops working.

use std::time::Duration;

use hyper::Method;
use local::Cloud;
use tokio::process::Command;

use crate::support::{
    KEY_HEADER, Response, cargo, expect_clean_logs, one_instance_each, send_with, start_with, with_parameters,
};

/// Runs `cargo admin` with these arguments for the accounts function of the local cloud. Returns its standard output if it succeeds.
async fn cargo_admin(cloud: &Cloud, arguments: &[&str]) -> Option<String> {
    run(cloud, cargo("admin", arguments), arguments).await
}

/// Runs the program that `cargo admin` has built, without starting Cargo again.
async fn admin(cloud: &Cloud, arguments: &[&str]) -> Option<String> {
    let test = std::env::current_exe().unwrap();
    let mut command = Command::new(test.parent().unwrap().with_file_name("admin"));
    command.args(arguments);
    run(cloud, command, arguments).await
}

async fn run(cloud: &Cloud, mut command: Command, arguments: &[&str]) -> Option<String> {
    command.env("AWS_ENDPOINT_URL_LAMBDA", cloud.lambda_url());
    let output = command.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {errors}");
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

async fn get_mayor(cloud: &Cloud, key: &str) -> Response {
    send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await
}

#[tokio::test]
async fn a_key_works_once_it_is_issued_and_stops_within_65_seconds_of_being_revoked() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("GatewayCache", "on")])).await;
    assert!(
        cargo_admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.is_none(),
        "a key must not be issued before its account exists"
    );
    let paid = ["account", "set", "bots", "--tier", "pro", "--paid-until", "2200-01-01"];
    admin(&cloud, &paid).await.unwrap();
    let issued = admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.unwrap();
    let key = issued.trim();
    assert!(key.starts_with("gd_") && !key.contains(char::is_whitespace), "must print only the key");
    assert!(get_mayor(&cloud, key).await.data().is_object());
    assert!(admin(&cloud, &["key", "explain", key]).await.unwrap().contains("yes"));

    let keys = admin(&cloud, &["key", "list", "bots", "--json"]).await.unwrap();
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let id = keys["keys"][0]["id"].as_str().unwrap();
    let exported = admin(&cloud, &["account", "export", "-"]).await.unwrap();
    assert!(exported.contains(r#"{"account":"bots","tier":"pro""#), "{exported}");
    admin(&cloud, &["key", "revoke", id]).await.unwrap();
    assert!(admin(&cloud, &["key", "explain", key]).await.is_none());
    // The gateway caches decisions for a minute, and the authorizer caches rows for five seconds.
    cloud.clock().advance(Duration::from_secs(65));
    get_mayor(&cloud, key).await.error("UNAUTHORIZED");

    // The account still has access, so its second key works.
    let second = admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.unwrap();
    assert!(get_mayor(&cloud, second.trim()).await.data().is_object());
    admin(&cloud, &["account", "set", "bots", "--status", "suspended"]).await.unwrap();
    cloud.clock().advance(Duration::from_secs(65));
    get_mayor(&cloud, second.trim()).await.error("FORBIDDEN");
    expect_clean_logs(&cloud);
}
