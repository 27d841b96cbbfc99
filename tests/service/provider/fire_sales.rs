//! The announced and active fire sales.

use serde_json::json;
use simulator::fire_sales;

use super::field::Field;
use super::resource::{NOW, Names, ONE_IS_ENOUGH, ParsedResource, SEED};

const HOUR_MS: i64 = 3_600_000;

pub(crate) const FIRE_SALES: ParsedResource = ParsedResource {
    path: "/v2/skyblock/firesales",
    route: Some("/v1/fire-sales"),
    rows: ["/sales", "/sales"],
    names: Names::Field("item_id"),
    fields: &[
        Field::id("item_id"),
        Field {
            name: "start",
            usual: "1777388000000",
            default: None,
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
            default: None,
            good: &["1777388000000", "1.777399E12"],
            bad: &["1777387999999", "-1", "0", "17773990000000", r#""1777399000000""#, "false", "{}", "[]"],
        },
        Field::count("amount"),
        Field::count("price"),
    ],
    body: r#"{"success":true,"sales":[ROWS]}"#,
    is_served: ONE_IS_ENOUGH,
    tag: Some("amount"),
    data: |_, sales| json!({"sales": sales}),
    // Hours with and without sales alternate.
    moments: || {
        let has_sales = |hour: &i64| fire_sales::body(SEED, hour * HOUR_MS).contains("item_id");
        let mut hours = NOW / HOUR_MS + 1..;
        let chosen = [true, false, true, false];
        chosen.map(|has| hours.find(|hour| has_sales(hour) == has).unwrap() * HOUR_MS).into()
    },
    captures: &["firesales/1-empty-20260801.json", "firesales/2-active-20240831-two-sales.json"],
    ..ParsedResource::USUAL
};
