//! The search finds items by name, id or alias, with the keyboard or the mouse.

use std::collections::BTreeSet;

use serde_json::json;
use tables::names::names_of;

use super::series::run;
use super::{open, settle, texts_of};
use crate::cloud::{ITEM, NAME, start};

/// Ids of items in both markets: one for each alias, and some whose names begin with a text that players
/// type. Ids with `;` are pets.
const IDS: &str = "ASPECT_OF_THE_DRAGON ASPECT_OF_THE_END ASPECT_OF_THE_JERRY ASPECT_OF_THE_VOID AXE_OF_THE_SHREDDED \
    BAT_WAND BLACK_CAT;5 BONE_BOOMERANG BOOSTER_COOKIE DAEDALUS_AXE ENCHANTED_DIAMOND ENCHANTED_OAK_LOG \
    ENCHANTMENT_DRAGON_HUNTER_4 ENCHANTMENT_GIANT_KILLER_5 ENCHANTMENT_ULTIMATE_BANK_5 ENCHANTMENT_ULTIMATE_CHIMERA_1 ENCHANTMENT_ULTIMATE_FATAL_TEMPO_5 \
    ENCHANTMENT_ULTIMATE_ONE_FOR_ALL_1 ENCHANTMENT_ULTIMATE_REITERATE_5 ENCHANTMENT_ULTIMATE_SOUL_EATER_1 \
    ENCHANTMENT_ULTIMATE_WISE_2 ENDERMAN;4 ENDER_DRAGON;4 FINAL_DESTINATION_BOOTS FIRST_MASTER_STAR FLOWER_OF_TRUTH \
    FUMING_POTATO_BOOK GIANTS_SWORD GOD_POTION_2 GOLDEN_DRAGON;4 GRAND_EXP_BOTTLE GREAT_CARROT_CANDY HOT_POTATO_BOOK \
    HYPERION INK_SACK:3 INK_SACK:4 LIVID_DAGGER MOOSHROOM_COW;4 NETHER_STALK \
    PET_ITEM_TIER_BOOST POWER_WITHER_HELMET RECOMBOBULATOR_3000 SCATHA;4 SECOND_MASTER_STAR SHADOW_ASSASSIN_BOOTS SHARD_ELDER_OWL \
    SIMPLE_CARROT_CANDY SPEED_WITHER_LEGGINGS STOCK_OF_STONKS STRONG_FRAGMENT SULPHUR SUPERIOR_FRAGMENT \
    SUPER_COMPACTOR_3000 TANK_WITHER_BOOTS THIRD_MASTER_STAR TITANIC_EXP_BOTTLE TOXIC_ARROW_POISON \
    TWILIGHT_ARROW_POISON ULTIMATE_CARROT_CANDY UNSTABLE_FRAGMENT VALKYRIE WISE_FRAGMENT WISE_WITHER_BOOTS WITHER_SKELETON;4";

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_found_with_the_keyboard_alone_and_with_the_mouse() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    window.press("/").await;
    window.wait("document.activeElement.getAttribute('role') === 'combobox'").await;
    assert_eq!(window.evaluate("document.activeElement.value").await, "", "the slash must not be typed");
    window.type_text("enchanted diamond").await;
    window.wait("document.querySelectorAll('[role=option]').length > 0").await;
    window.inspect("market-search").await;
    let options = texts_of(&window, "[role=option]").await;
    assert!(options[0].starts_with(&format!("{NAME}\n")), "{options:?}");
    let selected = "[...document.querySelectorAll('[role=option]')].findIndex((option) => option.ariaSelected === 'true')";
    window.press("ArrowDown").await;
    window.wait(&format!("{selected} === 0")).await;
    window.press("ArrowUp").await;
    window.wait(&format!("{selected} === {}", options.len() - 1)).await;
    window.press("ArrowDown").await;
    window.wait(&format!("{selected} === 0")).await;
    window.press("Enter").await;
    window.wait_for("heading", NAME).await;
    assert_eq!(window.address().await, format!("/market?item={ITEM}"));

    window.press("/").await;
    window.type_text("no such thing").await;
    window.wait_for_text("No item has such a name or id.").await;
    window.inspect("market-search-nothing").await;
    window.press("Escape").await;
    window.wait("document.querySelector('[role=combobox]').ariaExpanded === 'false'").await;

    // Chooses with the mouse.
    window.evaluate("document.activeElement.select()").await;
    window.type_text("Wither Essence").await;
    window.wait("document.querySelector('[role=option] small')?.innerText === 'ESSENCE_WITHER'").await;
    let [x, y, _, height] = window.place("[role=option]").await;
    window.click_at(x + 20.0, y + height / 2.0).await;
    window.wait_for("heading", "Wither Essence").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aliases_find_their_items() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let ids: BTreeSet<_> = IDS.split(' ').map(str::to_owned).collect();
    let (pets, products): (BTreeSet<_>, BTreeSet<_>) = ids.into_iter().partition(|id| id.contains(';'));
    let catalogue = [("INK_SACK:3", "Cocoa Beans"), ("NETHER_STALK", "Nether Wart")];
    let catalogue = catalogue.map(|(id, name)| (id.to_owned(), name.to_owned())).into();
    let names = names_of(&products, &pets, &catalogue);
    let body = "const [auctions, bazaar] = ['auctions', 'bazaar'].map((own) => ({ items: given.items.filter(({ market }) => market === own) }));
        const items = module.searchable(bazaar, auctions, given);
        const find = (text) => module.matches(items, text).map(({ id }) => id);
        const aliases = given.items.flatMap(({ id, aliases = [] }) => aliases.map((alias) => [alias, id]));
        const lost = aliases.filter(([alias, id]) => !find(alias).includes(id));
        const texts = ['duplex', 'DUPLEX v', 'duplex 5', 'duplx', 'E-Dia', 'gdrag legendary', 'hype', 'valk', 'recomb',
          'golden dragon', 'gdrag', 'hyp', 'bank 5', 'cocoa beans', 'elder owl shard'];
        return [aliases.length > 40, lost, texts.map((text) => find(text).join())];";
    let mut found = vec!["ENCHANTMENT_ULTIMATE_REITERATE_5"; 4];
    found.extend(["ENCHANTED_DIAMOND", "GOLDEN_DRAGON;4", "HYPERION", "VALKYRIE", "RECOMBOBULATOR_3000"]);
    found.extend([
        "GOLDEN_DRAGON;4",
        "GOLDEN_DRAGON;4",
        "HYPERION",
        "ENCHANTMENT_ULTIMATE_BANK_5",
        "INK_SACK:3",
        "SHARD_ELDER_OWL",
    ]);
    let given = json!({ "items": names });
    assert_eq!(run(&window, "matches.js", &given, body).await, json!([true, [], found]));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recent_and_watched_items_are_offered_before_anything_is_typed() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    let expanded = "document.querySelector('[role=combobox]').ariaExpanded === 'true'";
    window.press("/").await;
    window.wait("document.activeElement.role === 'combobox'").await;
    assert_eq!(window.evaluate(expanded).await, false, "no item is recent or watched yet");
    window.type_text("coal").await;
    window.wait("document.querySelector('[role=option] small')?.innerText === 'COAL'").await;
    for path in ["/v1/bazaar", "/v1/bazaar?mode=prices", "/v1/auctions/prices", "/v1/names"] {
        assert_eq!(window.requests(path).len(), 1, "{path}");
    }
    window.press("Enter").await;
    window.wait_for("heading", "Coal").await;
    let kept = "localStorage.getItem('recent')";
    let coal = json!({"id": "COAL"});
    assert_eq!(window.evaluate(kept).await, json!([coal]).to_string());

    let mut recent = vec![json!(null), json!({"id": 5}), json!({"id": "A B"}), coal];
    recent.extend((1..10).map(|number| json!({"id": format!("ITEM_{number}")})));
    let watched = json!([recent[3], {"id": "GROWTH;5", "market": "auctions"}]);
    for (name, items) in [("recent", &json!(recent)), ("watched", &watched)] {
        window.evaluate(&format!("localStorage.setItem({name:?}, {:?})", items.to_string())).await;
    }
    window.reload().await;
    window.wait_for("heading", "Coal").await;
    window.press("/").await;
    window.wait(expanded).await;
    let groups = "[...document.querySelectorAll('#results > [role=group]')].map((group) => [group.ariaLabel, \
        ...[...group.querySelectorAll('[role=option]')].map((option) => option.innerText.split('\\n').map((line) => line.trim()).join(', '))])";
    window.wait(&format!("JSON.stringify({groups}).includes('Growth V')")).await;
    let mut latest = vec!["Recent".to_owned(), "Coal, COAL, Bazaar".to_owned()];
    latest.extend((1..8).map(|number| format!("Item {number}, ITEM_{number}, Bazaar")));
    let others = ["Watched", "Growth V, GROWTH;5, Bazaar Auctions"];
    assert_eq!(window.evaluate(groups).await, json!([latest, others]));
    window.inspect("market-search-before").await;
    window.press("ArrowUp").await;
    window.press("Enter").await;
    window.wait_for("heading", "Growth V").await;
    let expected = [&[watched[1].clone()], &recent[3..10]].concat();
    assert_eq!(window.evaluate(kept).await, json!(expected).to_string());
    window.expect_clean(&[]);
}
