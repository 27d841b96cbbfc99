//! Numbers, times and names are readable. These tests call the page's own modules in the browser.

use serde_json::{Value, json};

use super::open;
use crate::cloud::start;
use crate::window::Window;

/// Calls of functions in `format.js`, with their results.
const FORMATS: &[(&str, &str)] = &[
    ("coins(0)", "0.00"),
    ("coins(0.1)", "0.10"),
    ("coins(359.6563897763578)", "359.66"),
    ("coins(1039674.5)", "1,039,675"),
    ("coins(5e8)", "500,000,000"),
    ("coins(-3.5)", "-3.50"),
    ("coins(null)", "–"),
    ("coins(undefined)", "–"),
    ("coins(NaN)", "–"),
    ("amount('1.5m').toString()", "1500000"),
    ("amount('200,000').toString()", "200000"),
    ("amount('1,5m').toString()", "NaN"),
    ("amount('-3').toString()", "NaN"),
    ("amount('1.5mil').toString()", "NaN"),
    ("compact(999)", "999"),
    ("compact(359.66)", "360"),
    ("compact(1039674.5)", "1.04M"),
    ("compact(1584797717)", "1.58B"),
    ("integer(31317)", "31,317"),
    ("percent(31.280630886)", "31.28%"),
    ("percent(null)", "–"),
    ("dateTime('2026-11-22T15:17:00Z')", "22 Nov 2026, 16:17"),
    ("dateTime(1795360620000)", "22 Nov 2026, 16:17"),
    ("exactTime('2026-11-22T15:17:00Z')", "22 Nov 2026, 16:17:00"),
    ("utc(1795737600000)", "27 Nov, 00:00 UTC"),
    ("date('2026-11-22T23:17:00Z')", "23 Nov 2026"),
    ("date(null)", "–"),
    ("date('x')", "–"),
    ("duration(0)", "0 s"),
    ("duration(-1)", "0 s"),
    ("duration(59999)", "59 s"),
    ("duration(61000)", "1 min 1 s"),
    ("duration(3605000)", "1 h"),
    ("duration(183600000)", "2 d 3 h"),
    ("duration(NaN)", "–"),
];

/// Calls of functions in `names.js`, with their results.
const NAMES: &[(&str, &str)] = &[
    ("nameOfId('ENCHANTMENT_FIRE_PROTECTION_2')", "Fire Protection II"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_WISE_5')", "Ultimate Wise V"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_JERRY_1')", "Ultimate Jerry I"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_GARROTE_4')", "Garrote IV"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_WISDOM_2')", "Wisdom II"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_REITERATE_5')", "Duplex V"),
    ("nameOfId('ENCHANTMENT_ULTIMATE_ONE_FOR_ALL_0')", "One for All 0"),
    ("nameOfId('ULTIMATE_CARROT_CANDY')", "Ultimate Carrot Candy"),
    ("nameOfId('ENCHANTMENT_EFFICIENCY_10')", "Efficiency X"),
    ("nameOfId('ENCHANTMENT_BANE_OF_ARTHROPODS_6')", "Bane of Arthropods VI"),
    ("nameOfId('ESSENCE_WITHER')", "Wither Essence"),
    ("nameOfId('SHARD_KING_COBRA')", "King Cobra Shard"),
    ("nameOfId('INK_SACK:3')", "Ink Sack 3"),
    ("nameOfId('X')", "X"),
    ("nameOfId('')", "Unnamed item"),
    ("nameOfId('__')", "Unnamed item"),
    ("nameOf('A:3', { items: [{ id: 'A:3', name: 'Cocoa Beans' }] })", "Cocoa Beans"),
    ("nameOf('A', { items: [{ id: 'A', name: '§aGreen Goblin Egg' }] })", "Green Goblin Egg"),
    ("nameOf('A', { items: [{ id: 'A', name: '%%red%%Volcanic Rock' }] })", "Volcanic Rock"),
    ("nameOf('LAVA_EGG', { items: [{ id: 'LAVA_EGG', name: '§a' }] })", "Lava Egg"),
    ("nameOf('LAVA_EGG', { items: [{ id: 'LAVA_EGG', name: '%%green%%' }] })", "Lava Egg"),
    ("nameOf('LAVA_EGG', { items: [{ id: 'LAVA_EGG', name: '\\ue001' }] })", "Lava Egg"),
    ("nameOf('LAVA_EGG', undefined)", "Lava Egg"),
    ("plain('§6Phillip\\'s §6\\ue000 Farming%%green%%\\u202e x')", "Phillip's Farming x"),
    ("plain('<img src=x onerror=alert(1)>')", "<img src=x onerror=alert(1)>"),
    ("plain(null)", ""),
    ("nameOf('GOLDEN_DRAGON;4', undefined)", "Golden Dragon (Legendary)"),
    ("nameOf('GOLDEN_DRAGON;5+200', undefined)", "Golden Dragon (Mythic, level 200)"),
    ("nameOf('GROWTH;5', undefined, productsOf({ items: [{ id: 'ENCHANTMENT_GROWTH_5' }] }))", "Growth V"),
    ("nameOf('GROWTH;4', undefined, productsOf({ items: [{ id: 'ENCHANTMENT_GROWTH_3' }] }))", "Growth IV"),
    ("nameOf('GROWTH;7', undefined)", "Growth VII"),
    ("nameOf('ULTIMATE_WISE;5', undefined)", "Ultimate Wise V"),
    ("nameOf('ULTIMATE_GARROTE;4', undefined)", "Garrote IV"),
    ("nameOf('ULTIMATE_REITERATE;5', undefined)", "Duplex V"),
    ("nameOf('ICE_RUNE;1', undefined)", "Ice Rune I"),
    ("nameOf('POTION_WISP_ICE;1', undefined)", "Wisp Ice Potion I"),
    ("nameOf('ATTRIBUTE_SHARD_TROPHY_HUNTER;2', undefined)", "Trophy Hunter Attribute Shard II"),
    (
        "nameOf('GLACITE_BOOTS+PERFECT', { items: [{ id: 'GLACITE_BOOTS', name: '§bIce Boots' }] })",
        "Ice Boots (Perfect)",
    ),
    ("nameOf('NEW_YEAR_CAKE+486', undefined)", "New Year Cake (year 486)"),
    ("nameOf('LOG-2', { items: [{ id: 'LOG:2', name: 'Birch Log' }] })", "Birch Log"),
    ("nameOf('STEP-8', undefined)", "Step 8"),
    ("auctionIdOf('ENCHANTMENT_ULTIMATE_WISE_5')", "ULTIMATE_WISE;5"),
    ("auctionIdOf('INK_SACK:3')", "INK_SACK-3"),
];

/// Evaluates the expression, which can call the exports of the module.
async fn evaluate_in(window: &Window, module: &str, expression: &str) -> Value {
    let import = format!("import(new URL('{module}', document.querySelector('script[type=module]').src))");
    window.evaluate(&format!("{import}.then((module) => {{ with (module) return ({expression}); }})")).await
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_times_and_names_are_readable_and_every_product_has_a_name_without_codes() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    window.call("Emulation.setTimezoneOverride", json!({"timezoneId": "Europe/Berlin"})).await;
    window.reload().await;
    window.wait_for("heading", "Status").await;
    for (module, calls) in [("format.js", FORMATS), ("names.js", NAMES)] {
        let (expressions, expected): (Vec<_>, Vec<_>) = calls.iter().copied().unzip();
        let results = evaluate_in(&window, module, &format!("[{}]", expressions.join(", "))).await;
        for ((expression, expected), result) in
            expressions.iter().zip(expected).zip(results.as_array().unwrap())
        {
            assert_eq!(*result, json!(expected), "{expression}");
        }
    }

    let load = "Promise.all(['v1/bazaar?mode=list', 'v1/items'].map((path) => fetch(path, \
        { headers: { 'X-API-Key': sessionStorage.getItem('key') } }).then((response) => response.json())))";
    let names = format!(
        "{load}.then(([list, items]) => list.data.items.map(({{ id }}) => [id, nameOf(id, items.data)]))"
    );
    let names = evaluate_in(&window, "names.js", &names).await;
    let names = names.as_array().unwrap();
    assert!(names.len() > 1_000, "{} products", names.len());
    for name in names {
        let text = name[1].as_str().unwrap();
        assert!(!text.is_empty() && !text.contains(['§', '_', ':']) && !text.contains("%%"), "{name}");
        assert!(!text.contains(char::is_control), "{name}");
    }
    window.expect_clean(&[]);
}
