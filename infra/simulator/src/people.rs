//! The people who stand for mayor.

/// A person who stands for mayor, with all perks that they may offer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Person {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) perks: &'static [(&'static str, &'static str)],
}

pub(crate) const REGULARS: &[Person] = &[
    Person {
        key: "slayer",
        name: "Aatrox",
        perks: &[
            ("Slashed Pricing", "Starting Slayer quests is §e50% §7cheaper."),
            ("Slayer XP Buff", "Gain §d25% §7more Slayer XP."),
            ("Pathfinder", "Gain rare drops §d20% §7more often."),
        ],
    },
    Person {
        key: "mining",
        name: "Cole",
        perks: &[
            ("Prospection", "Mining minions work §a25% §7faster."),
            ("Mining XP Buff", "Gain §3+60☯ Mining Wisdom §7on public islands."),
            ("Mining Fiesta", "§7Gain §6+25%\u{e053} Mining Fortune §7while the fiesta lasts!"),
            ("Molten Forge", "Decrease the time it takes to §6forge §7items by §d25%§7."),
        ],
    },
    Person {
        key: "pets",
        name: "Diana",
        perks: &[
            ("Lucky!", "Gain §d+25\u{e013} Pet Luck§7."),
            ("Pet XP Buff", "Gain §d35% §7more pet XP."),
            ("Mythological Ritual", "Sells the §2Griffin §7pet and lets its owners dig in the §bHub§7."),
            ("Sharing is Caring", "Unlocks §a2 §7more §6Exp Share §7slots in your pets menu!"),
        ],
    },
    Person {
        key: "economist",
        name: "Diaz",
        perks: &[
            ("Shopping Spree", "Increase daily NPC buy limits by §e10x§7."),
            ("Volume Trading", "Doubles the quantity on offer in §6Shen's Auction§7."),
            ("Stock Exchange", "Brings §6stonks §7to the §bauction house§7."),
            ("Long Term Investment", "Votes for whoever did not win count double next year."),
        ],
    },
    Person {
        key: "farming",
        name: "Finnegan",
        perks: &[
            ("GOATed", "§eJacob's Farming Contest §7brackets include §a10% §7more players."),
            ("Pelt-pocalypse", "Obtain §a1.5x §7more §5pelts §7from §aTrevor§7."),
            ("Pest Eradicator", "Pesthunter Phillip's §6\u{e051} Farming Fortune §7bonus lasts §a60m§7."),
            ("Blooming Business", "Visitors come §a20% §7more often."),
        ],
    },
    Person {
        key: "events",
        name: "Foxy",
        perks: &[
            ("Sweet Benevolence", "Earn §a+30% §7more §dCandy§7 and §cGifts§7."),
            ("A Time for Giving", "Spawn §dParty Chests §7during the §6Spooky Festival§7."),
            ("Chivalrous Carnival", "Schedules a §eCarnival §7in the hub for the §bentire year§7."),
            ("Extra Event", "Schedules an extra §6Spooky Festival §7event during the year."),
        ],
    },
    Person {
        key: "fishing",
        name: "Marina",
        perks: &[
            ("Fishing XP Buff", "Gain §3+50☯ Fishing Wisdom §7on public islands."),
            ("Luck of the Sea 2.0", "Gain §315α Sea Creature Chance§7."),
            ("Fishing Festival", "Start a special fishing event in the first 3 days of each month!"),
            ("Double Trouble", "For every §31α Sea Creature Chance§7, gain §9+0.1⚓ Double Hook Chance§7."),
        ],
    },
    Person {
        key: "dungeons",
        name: "Paul",
        perks: &[
            ("Marauder", "Dungeon reward chests are §e20% §7cheaper."),
            ("Benediction", "Blessings are §d25% §7stronger."),
            ("EZPZ", "Gain §e10 §7bonus score on dungeon runs."),
        ],
    },
];

const JERRY: Person = Person {
    key: "jerry",
    name: "Jerry",
    perks: &[
        ("Perkpocalypse", "Activates the perks of another mayor every §d18 §7hours!"),
        ("Statspocalypse", "Increases most stats by §a10%§7."),
        ("Jerrypocalypse", "Reveals §aHidden Jerries §7when doing Jerry's chores!"),
    ],
};

const SCORPIUS: Person = Person {
    key: "shady",
    name: "Scorpius",
    perks: &[
        ("Bribe", "If Scorpius wins, voters get coins in return. That's all."),
        ("Darker Auctions", "Scorpius intensifies the §5Dark Auction§7, with more rounds."),
    ],
};

const DERPY: Person = Person {
    key: "derpy",
    name: "Derpy",
    perks: &[
        ("QUAD TAXES!!!", "In Derpy's economy, everyone pays taxes four times!"),
        ("TURBO MINIONS!!!", "Minions work twice as hard."),
        ("DOUBLE MOBS HP!!!", "Monsters have twice the §c\u{e010} Health§7."),
        ("MOAR SKILLZ!!!", "Gain §350% §7more skill experience!"),
    ],
};

/// The special candidate of an election, who stands and wins every eighth year.
pub(crate) fn special(year: i64) -> Option<Person> {
    match year.rem_euclid(24) {
        0 => Some(SCORPIUS),
        8 => Some(DERPY),
        16 => Some(JERRY),
        _ => None,
    }
}
