//! Texts of a malicious provider. Pages show all texts of the provider as text, never as markup.

use local::Cloud;
use serde_json::Value;
use simulator::Fault;

/// What the hostile provider appends to every name and description. Run as a script, it sets `window.isHarmed`.
pub(crate) const MARKUP: &str = "<img src=x onerror=\"isHarmed=1\"><script>isHarmed=1</script>";

/// The same, with codes that are not shown.
const TEXT: &str = "<img src=x onerror=\"isHarmed=1\">%%green%%<script>isHarmed=1</script>§c\u{202e}";

/// Fields whose values the service or the game's calendar depends on.
const KEPT: [&str; 8] = ["id", "key", "item_id", "product_id", "tier", "material", "category", "lastUpdated"];

/// Makes the provider of this cloud hostile.
pub(crate) fn make_hostile(cloud: &Cloud) {
    let now = cloud.clock().now_ms();
    let simulator = cloud.simulator().unwrap();
    let bodies = [
        ("/v2/resources/skyblock/items", simulator::items::body(1, now)),
        ("/v2/resources/skyblock/election", simulator::election::body(1, now)),
        ("/v2/skyblock/firesales", fire_sales(now, "<img src=x onerror=isHarmed=1>")),
    ];
    for (path, body) in bodies {
        let mut body: Value = serde_json::from_str(&body).unwrap();
        spoil(&mut body);
        simulator.set_fault(path, Fault::status(200).with_body(body.to_string()));
    }
}

/// Lets this cloud's provider have a sale that is under way and one that is announced.
pub(crate) fn announce_fire_sales(cloud: &Cloud) {
    let body = fire_sales(cloud.clock().now_ms(), "GRAND_FREEZING");
    cloud.simulator().unwrap().set_fault("/v2/skyblock/firesales", Fault::status(200).with_body(body));
}

fn fire_sales(now: i64, item: &str) -> String {
    let hour = 3_600_000;
    let (started, end, start, later) = (now - hour, now + hour, now + 5 * hour, now + 9 * hour);
    format!(
        r#"{{"success":true,"sales":[
            {{"item_id":"RUNE_{item}","start":{started},"end":{end},"amount":2000,"price":600}},
            {{"item_id":"PET_SKIN_SHEEP_NEON","start":{start},"end":{later},"amount":500,"price":1000}}]}}"#
    )
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
