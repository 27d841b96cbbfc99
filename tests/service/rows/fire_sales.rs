//! An invalid fire sale is left out. Fire sales fail only if no sale is valid, or if most of ten or more sales are invalid.

use super::table::{Field, ONE_IS_ENOUGH, Route, bare, in_braces, texts};

const SALES: Route = Route {
    path: "/v1/fire-sales",
    upstream: "/v2/skyblock/firesales",
    fields: &[
        Field::id("item_id"),
        Field {
            name: "start",
            usual: "1777388000000",
            optional: false,
            // A sale may begin and end at the same time.
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
