//! Fire sales: `sales`.

use serde_json::json;

use super::table::{Field, ONE_IS_ENOUGH, Route, START, bare, in_braces, texts};
use crate::support::{get_at, one_instance_each, start_with};

const SALES: Route = Route {
    path: "/v1/fire-sales",
    upstream: "/v2/skyblock/firesales",
    fields: &[
        Field::id("item_id"),
        Field {
            name: "start",
            usual: "1777388000000",
            optional: false,
            // A sale that begins and ends at the same time is odd and does no harm.
            good: &["1.777388E12", "1777399000000"],
            bad: &[
                "1777399000001",
                "-1777388000000",
                "0",
                "1777388000",
                "1777388000000.5",
                r#""soon""#,
                "true",
                "{}",
                "[]",
            ],
        },
        Field {
            name: "end",
            usual: "1777399000000",
            optional: false,
            good: &["1777388000000", "1.777399E12"],
            bad: &["1777387999999", "-1", "0", "17773990000000", r#""1777399000000""#, "false", "{}", "[]"],
        },
        Field::count("amount"),
        Field::count("price"),
    ],
    id: Some("item_id"),
    row: in_braces,
    no_row: bare,
    body: |rows| format!(r#"{{"success":true,"sales":[{rows}]}}"#),
    listed: |data| texts(&data["sales"], "item_id"),
    is_served: ONE_IS_ENOUGH,
};

#[tokio::test]
async fn a_sale_that_makes_no_sense_is_left_out() {
    SALES.expect_table().await;
}

#[tokio::test]
async fn fire_sales_fail_only_if_none_of_them_makes_sense() {
    SALES.expect_limit().await;
}

#[tokio::test]
async fn of_two_sales_of_an_item_with_the_same_start_the_first_counts() {
    let cloud = start_with(one_instance_each()).await;
    let sale = |price| {
        json!({"item_id": "B", "start": 1_777_388_000_000_i64, "end": 1_777_399_000_000_i64, "amount": 1, "price": price})
            .to_string()
    };
    let response = SALES.expect_first_of_two(&cloud, &sale(1), &sale(2)).await;
    assert_eq!(response.data()["sales"][1]["price"], 1);
    // The same item may be sold again.
    let later = sale(2).replace("1777388000000", "1777388000001");
    SALES.show(&cloud, &[sale(1), later]);
    let sales = get_at(&cloud, SALES.path, START + 60_000).await.data();
    assert_eq!(texts(&sales["sales"], "item_id"), ["B", "B"]);
}
