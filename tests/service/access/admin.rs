//! An operator and a caller: what `cargo admin` issues works at once, and what it revokes stops.

use std::time::Duration;

use hyper::Method;
use local::Cloud;

use crate::support::{
    Answered, KEY_HEADER, cargo, expect_clean_logs, one_instance_each, send_with, start_with, with_parameters,
};

/// `cargo admin` with these arguments, as the alias in `.cargo/config.toml` has it, at the table of the local cloud: what
/// it wrote to standard output, if it went well.
async fn admin(cloud: &Cloud, arguments: &[&str]) -> Option<String> {
    let mut command = cargo("admin", arguments);
    command.env("AWS_ENDPOINT_URL_DYNAMODB", cloud.dynamodb().url());
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

async fn ask(cloud: &Cloud, key: &str) -> Answered {
    send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await
}

#[tokio::test]
async fn a_key_works_as_soon_as_it_is_issued_and_stops_within_the_authorizers_time_once_it_is_revoked() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("GatewayCache", "on")])).await;
    assert!(
        admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.is_none(),
        "there is no such account"
    );
    let paid = ["account", "set", "bots", "--tier", "pro", "--paid-until", "2027-01-01"];
    admin(&cloud, &paid).await.unwrap();
    let issued = admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.unwrap();
    let key = issued.trim();
    assert!(key.starts_with("gd_") && !key.contains(char::is_whitespace), "only the key is written");
    assert!(ask(&cloud, key).await.data().is_object());
    assert!(admin(&cloud, &["key", "explain", key]).await.unwrap().contains("yes"));

    let keys = admin(&cloud, &["key", "list", "bots", "--json"]).await.unwrap();
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let id = keys["keys"][0]["id"].as_str().unwrap();
    admin(&cloud, &["key", "revoke", id]).await.unwrap();
    assert!(admin(&cloud, &["key", "explain", key]).await.is_none());
    // The gateway's minute, and the five seconds of the authorizer.
    cloud.clock().advance(Duration::from_secs(65));
    ask(&cloud, key).await.error("UNAUTHORIZED");

    // Nobody is kept out who pays: a second key, and the same account.
    let second = admin(&cloud, &["key", "issue", "bots", "--label", "ci"]).await.unwrap();
    assert!(ask(&cloud, second.trim()).await.data().is_object());
    admin(&cloud, &["account", "set", "bots", "--status", "suspended"]).await.unwrap();
    cloud.clock().advance(Duration::from_secs(65));
    ask(&cloud, second.trim()).await.error("FORBIDDEN");
    expect_clean_logs(&cloud);
}
