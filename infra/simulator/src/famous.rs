//! Items that players and the reference of the service name, under the ids, names and kinds that they have in
//! the real game. As there, an item is either a product of the bazaar or sold in auctions.

/// An item of the real game.
#[derive(Clone, Copy)]
pub(crate) struct Famous {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) material: &'static str,
    pub(crate) category: Option<&'static str>,
    pub(crate) tier: &'static str,
    /// The price that an NPC pays, in coins.
    pub(crate) npc_price: Option<i64>,
    /// The usual price, in coins.
    pub(crate) price: f64,
}

pub(crate) const PRODUCTS: [Famous; 3] = [
    famous("BOOSTER_COOKIE", "Booster Cookie", "COOKIE", "LEGENDARY", 11.6e6),
    famous("RECOMBOBULATOR_3000", "Recombobulator 3000", "SKULL_ITEM", "LEGENDARY", 10.5e6),
    Famous { npc_price: Some(38_400), ..famous("HOT_POTATO_BOOK", "Hot Potato Book", "BOOK", "EPIC", 75e3) },
];

pub(crate) const AUCTIONED: [Famous; 4] = [
    weapon(famous("HYPERION", "Hyperion", "IRON_SWORD", "LEGENDARY", 900e6), "SWORD", Some(200)),
    weapon(famous("TERMINATOR", "Terminator", "BOW", "LEGENDARY", 550e6), "BOW", None),
    weapon(
        famous("ASPECT_OF_THE_VOID", "Aspect of the Void", "DIAMOND_SPADE", "EPIC", 15e6),
        "SWORD",
        Some(56_000),
    ),
    famous("NECRON_HANDLE", "Necron's Handle", "STICK", "EPIC", 480e6),
];

const fn famous(
    id: &'static str,
    name: &'static str,
    material: &'static str,
    tier: &'static str,
    price: f64,
) -> Famous {
    Famous { id, name, material, category: None, tier, npc_price: None, price }
}

const fn weapon(item: Famous, category: &'static str, npc_price: Option<i64>) -> Famous {
    Famous { category: Some(category), npc_price, ..item }
}
