//! A key that `cargo admin` issues works at once, and a key that it revokes stops working.

use std::time::Duration;

use hyper::Method;
use local::Cloud;

use super::{Access, program};
use crate::support::{KEY_HEADER, Response, one_instance_each, send_with, start_with, with_parameters};

async fn get_mayor(cloud: &Cloud, key: &str) -> Response {
    send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await
}

#[tokio::test]
async fn a_key_works_once_it_is_issued_and_stops_within_65_seconds_of_being_revoked() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("GatewayCache", "on")])).await;
    let access = Access { cloud, program: program().await };
    // A key must not be issued before its account exists.
    access.fail(&["key", "issue", "bots", "--label", "ci"]).await;
    access.succeed(&["account", "set", "bots", "--tier", "pro", "--paid-until", "2200-01-01"]).await;
    let (key, id) = access.issue("ci").await;
    assert!(get_mayor(&access.cloud, &key).await.data().is_object());
    access.succeed(&["key", "explain", &key]).await;
    access.succeed(&["key", "revoke", &id]).await;
    assert_eq!(access.run(&["key", "explain", &key]).await.code, 1);
    // The gateway caches decisions for a minute, and the authorizer caches rows for five seconds.
    access.cloud.clock().advance(Duration::from_secs(65));
    get_mayor(&access.cloud, &key).await.error("UNAUTHORIZED");

    // The account still has access, so its second key works.
    let (second, _) = access.issue("ci").await;
    assert!(get_mayor(&access.cloud, &second).await.data().is_object());
    access.succeed(&["account", "set", "bots", "--status", "suspended"]).await;
    access.cloud.clock().advance(Duration::from_secs(65));
    get_mayor(&access.cloud, &second).await.error("FORBIDDEN");
}
