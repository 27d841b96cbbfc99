//! Every route answers in exactly the shape that the contract gives it.

use crate::support::{expect_clean_logs, get, start};

#[tokio::test]
async fn the_bazaar_lists_sorted_ids() {
    let cloud = start().await;
    let data = get(&cloud, "/v1/bazaar?mode=list").await.data();
    let items = data["items"].as_array().unwrap();
    assert_eq!(data["count"], items.len());
    assert!(items.len() > 1_000);
    assert!(items.is_sorted_by_key(|item| item["id"].as_str().unwrap()));
    expect_clean_logs(&cloud);
}
