//! The pages of running auctions.

use serde_json::Map;

use super::expected::{Data, Expected};
use super::field::Field;
use super::resource::{Names, ParsedResource};

pub(crate) const AUCTIONS: ParsedResource = ParsedResource {
    path: "/v2/skyblock/auctions",
    route: Some("/v1/auctions"),
    rows: ["/auctions", "/auctions"],
    names: Names::Field("uuid"),
    fields: &[
        Field::id("uuid"),
        Field {
            usual: r#""053eb0f0a27842539d065e3d33d5478a""#,
            good: &[r#""another""#],
            ..Field::id("auctioneer")
        },
        Field::text("item_name", r#""Divine Pickaxe""#),
        Field::text("item_lore", r#""line\nline\ud83d\udd25""#),
        Field::count("starting_bid"),
        // Always present; 0 without bids.
        Field::count("highest_bid_amount"),
        Field::flag("bin", None),
        Field {
            name: "start",
            usual: "1777388000000",
            default: None,
            good: &["1.777388E12", "1777399000000"],
            bad: Field::NO_TIMES,
        },
        Field {
            name: "end",
            usual: "1777399000000",
            default: None,
            good: &["1777388000000", "9999999999999"],
            bad: &["1777387999999", "-1777399000000", "0", "1777399000", r#""soon""#, "true", "{}", "[]"],
        },
    ],
    further_parts: &["/last_updated", "/item_bytes"],
    body: r#"{"success":true,"page":0,"totalPages":1,"totalAuctions":7,"lastUpdated":1777388578000,"auctions":[ROWS]}"#,
    tag: Some("item_name"),
    data: |body, rows| {
        let numbers = ["page", "totalPages", "totalAuctions", "lastUpdated"];
        let mut data: Map<_, _> =
            numbers.map(|field| (field.to_owned(), body[field].clone())).into_iter().collect();
        data.insert("auctions".to_owned(), rows);
        data.into()
    },
    requests: |resource, text| {
        let data = resource.data(text).unwrap();
        let page = data["page"].clone();
        let first = (page == 0).then(|| "/v1/auctions".to_owned());
        let paths = first.into_iter().chain([format!("/v1/auctions?page={page}")]);
        paths.map(|path| Expected::new(path, Data::Parsed(data.clone()))).collect()
    },
    captures: &["auctions/v2-20250608T1707Z-page0.json"],
    ..ParsedResource::USUAL
};
