//! The provider's names and texts are shown as text, never as markup.

use std::collections::BTreeSet;

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use super::{open, settle};
use crate::auctions::record_names;
use crate::cloud::{ITEM, NAME, start};

/// The hostile provider's names and descriptions end with this markup. If the page ran the markup, it would
/// set `window.isHarmed`.
const MARKUP: &str = "<img src=x onerror=\"isHarmed=1\"><script>isHarmed=1</script>";

/// [`MARKUP`] with formatting codes, which the page must not show.
const TEXT: &str = "<img src=x onerror=\"isHarmed=1\">%%green%%<script>isHarmed=1</script>§c\u{202e}";

/// Fields that stay unchanged, because the service or the game's calendar depends on them.
const KEPT: [&str; 8] = ["id", "key", "item_id", "product_id", "tier", "material", "category", "lastUpdated"];

const CATALOGUE: &str = "/v2/resources/skyblock/items";

async fn make_hostile(cloud: &Cloud) {
    let now = cloud.clock().now_ms();
    let simulator = cloud.simulator().unwrap();
    let sale = json!({"item_id": "RUNE_<img src=x onerror=isHarmed=1>", "start": now - 3_600_000, "end": now + 3_600_000, "amount": 1, "price": 1});
    let sales = json!({"success": true, "sales": [sale]});
    let bodies = [
        (CATALOGUE, simulator::items::body(1, now)),
        ("/v2/resources/skyblock/election", simulator::election::body(1, now)),
        ("/v2/skyblock/firesales", sales.to_string()),
    ];
    for (path, body) in bodies {
        let mut body: Value = serde_json::from_str(&body).unwrap();
        spoil(&mut body);
        if path == CATALOGUE {
            record_names(cloud, &BTreeSet::new(), &body.to_string()).await;
        }
        simulator.set_fault(path, Fault::status(200).with_body(body.to_string()));
    }
}

fn spoil(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(spoil),
        Value::Object(fields) => {
            for (_, value) in fields.iter_mut().filter(|(name, _)| !KEPT.contains(&name.as_str())) {
                spoil(value);
            }
        }
        Value::String(text) => text.push_str(TEXT),
        _ => {}
    }
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_in_names_is_shown_as_text_and_codes_are_not_shown() {
    let cloud = start().await;
    make_hostile(&cloud).await;
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    let event = format!(r#"{{"time":"{time}","backfill":true}}"#);
    for recorder in ["record-mayor", "record-fire-sales"] {
        cloud.invoke(recorder, event.clone()).await.unwrap();
    }
    let window = open(&cloud, "?view=mayor").await;
    // Only some names of flips are from the catalogue, so flips need not show markup.
    let item = format!("?item={ITEM}&range=7d");
    for (query, has_markup) in
        [("?view=mayor", true), ("?view=sales", false), ("?view=flips", false), (item.as_str(), true)]
    {
        window.open(&format!("/market{query}")).await;
        window.wait("document.querySelector('h1')").await;
        settle(&window).await;
        let text = window.text().await;
        assert!(!has_markup || text.contains(MARKUP), "{query}: {text}");
        for code in ["§", "%%", "\u{202e}"] {
            assert!(!text.contains(code), "{query} shows {code:?}: {text}");
        }
        assert_eq!(window.evaluate("document.querySelectorAll('#app img, #app script').length").await, 0);
        assert_eq!(window.evaluate("typeof isHarmed").await, "undefined");
    }
    assert_eq!(window.evaluate("document.title").await, format!("{NAME}{MARKUP} – Market"));
    window.expect_clean(&[]);
}
