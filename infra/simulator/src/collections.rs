//! The collections list: the items that players collect, and the rewards of each tier. `lastUpdated` changes
//! with every refresh; the content changes only with a game version, every four weeks.

use crate::chance::{generator, hash, pick, text_hash};
use crate::gson::{self, Writer};
use crate::words::{self, MATERIALS};

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 600_000;

const VERSION_MS: i64 = 28 * 86_400_000;

/// The amounts of the tiers, which each collection multiplies by its own factor.
const AMOUNTS: &[i64] = &[50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000];

/// Returns the `lastUpdated` of the refresh that is visible at `now_ms`, in Unix milliseconds.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    now_ms.div_euclid(REFRESH_MS) * REFRESH_MS
}

/// The body of `/v2/resources/skyblock/collections` at `now_ms`.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    let version = refresh.div_euclid(VERSION_MS);
    gson::object(256 << 10, |root| {
        root.key("success").boolean(true);
        root.key("lastUpdated").integer(refresh);
        root.key("version").string(&format!("0.{}.{}", version / 10, version % 10));
        root.key("collections").object(|categories| {
            for (category, items) in MATERIALS.iter() {
                categories.key(category).object(|row| {
                    row.key("name").string(&words::title(category));
                    row.key("items").object(|list| {
                        for (id, name) in items {
                            list.key(id).object(|item| write_item(seed, version, id, name, item));
                        }
                    });
                });
            }
        });
    })
}

fn write_item(seed: u64, version: i64, id: &str, name: &str, item: &mut Writer) {
    let number = text_hash(id);
    let rng = &mut generator(seed, "collection", number);
    let most = AMOUNTS.len();
    // Each game version leaves out the last tier of about one collection in twenty.
    let shrunk = hash(seed, "shrunk collection", number ^ version.cast_unsigned()).is_multiple_of(20);
    let tiers = rng.usize(5..=most) - usize::from(shrunk);
    let factor = pick(rng, &[1, 1, 2, 4]);
    item.key("name").string(name);
    item.key("maxTiers").integer(i64::try_from(tiers).unwrap_or_default());
    item.key("tiers").array(|list| {
        for (number, amount) in (1..).zip(AMOUNTS.iter().take(tiers)) {
            let unlocks = unlocks(rng.usize(..7), name, number);
            list.object(|tier| {
                tier.key("tier").integer(number);
                tier.key("amountRequired").integer(amount * factor);
                tier.key("unlocks").strings([unlocks.as_str(), "+4 SkyBlock XP"]);
            });
        }
    });
}

fn unlocks(kind: usize, name: &str, tier: i64) -> String {
    match kind {
        _ if tier == 1 => format!("{name} Minion Recipes"),
        0 => format!("+{tier}\u{e053} Mining Fortune"),
        1 => String::from("\u{e010} Flawed Ruby Gemstone Recipe"),
        2 => format!("+{}0,000 Experience", tier * 5),
        3 => format!("Enchanted Book (Growth {}) Recipe", words::roman(usize::try_from(tier).unwrap_or(1))),
        4 => format!("Collector's {name} Sack Recipe"),
        _ => format!("Enchanted {name} Recipe"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn tiers_ascend_from_one_to_the_maximum() {
        let text = body(1, 1_790_000_000_000);
        assert!(
            text.contains("Collector\\u0027s") && text.contains('\u{e053}') && text.contains("INK_SACK:3")
        );
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let categories = parsed["collections"].as_object().unwrap();
        assert_eq!(categories.len(), 6);
        let mut items = 0;
        for (id, item) in categories.values().flat_map(|category| category["items"].as_object().unwrap()) {
            items += 1;
            let tiers = item["tiers"].as_array().unwrap();
            assert_eq!(item["maxTiers"], tiers.len(), "{id}");
            assert!(tiers.iter().zip(1..).all(|(tier, number)| tier["tier"] == number));
            assert!(tiers.iter().map(|tier| tier["amountRequired"].as_i64().unwrap()).is_sorted());
        }
        assert!((85..=92).contains(&items), "{items} collections");
    }
}
