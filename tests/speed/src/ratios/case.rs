//! What is measured, and the targets.

use crate::event::Events;
use crate::lean_sum::Sum;
use crate::upstream::PLAYER;

/// A function and a mode of it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) function: &'static str,
    query: &'static [(&'static str, &'static str)],
    path: &'static [(&'static str, &'static str)],
    /// What a request that fetches is compared with.
    pub(super) sums: [Option<Floor>; 2],
    /// The largest ratio of a request from memory, beside a copy of the response.
    pub(super) remembered: Option<f64>,
}

/// A lean sum.
#[derive(Clone, Copy)]
pub(super) struct Floor {
    pub(super) sum: Sum,
    pub(super) name: &'static str,
    /// The largest ratio of a request beside it.
    pub(super) target: Option<f64>,
}

impl Floor {
    const fn new(sum: Sum, target: Option<f64>) -> Self {
        Self { sum, name: "lean sum", target }
    }
}

impl Case {
    const fn new(
        name: &'static str,
        function: &'static str,
        query: &'static [(&'static str, &'static str)],
        sum: Sum,
    ) -> Self {
        let target = match sum {
            Sum::Bazaar => FULL_FETCHED,
            Sum::Market => PRICES_FETCHED,
            _ => FETCHED,
        };
        let sums = [Some(Floor::new(sum, Some(target))), None];
        Self { name, function, query, path: &[], sums, remembered: None }
    }

    /// A case without a target: its body is so small that handing over the response dominates.
    const fn small(name: &'static str, function: &'static str, sum: Sum) -> Self {
        Self { sums: [Some(Floor::new(sum, None)), None], ..Self::new(name, function, &[], sum) }
    }

    pub(super) fn events(&self) -> Result<Events, String> {
        Events::new(self.function, self.query, self.path)
    }
}

const FETCHED: f64 = 1.0;
/// It checks all products before it passes them on, which the lean sum does not.
const FULL_FETCHED: f64 = 1.1;
/// Unlike the lean sum, the other modes of the bazaar do not read orders.
const PRICES_FETCHED: f64 = 0.75;
const FULL_REMEMBERED: f64 = 1.2;
const HISTORY: f64 = 1.5;

const ITEMS: &str =
    "INK_SACK:3,ENCHANTED_DIAMOND,ENCHANTED_GOLD,WHEAT,CARROT_ITEM,POTATO_ITEM,COAL,IRON_INGOT";

pub(super) const CASES: [Case; 13] = [
    Case {
        remembered: Some(FULL_REMEMBERED),
        ..Case::new("bazaar full", "bazaar", &[("mode", "full")], Sum::Bazaar)
    },
    Case::new("bazaar list", "bazaar", &[("mode", "list")], Sum::Market),
    Case::new("bazaar item", "bazaar", &[("mode", "item"), ("id", "ENCHANTED_DIAMOND")], Sum::Market),
    Case::new("bazaar items", "bazaar", &[("mode", "items"), ("ids", ITEMS)], Sum::Market),
    Case::new("bazaar book", "bazaar", &[("mode", "book"), ("id", "ENCHANTED_DIAMOND")], Sum::Market),
    Case::new("bazaar flips", "bazaar", &[("mode", "flips"), ("limit", "50")], Sum::Market),
    Case::new("auctions", "auctions", &[("page", "0")], Sum::Auctions),
    Case::new("items", "items", &[], Sum::Items),
    Case { path: &[("username", PLAYER)], ..Case::new("profile", "profile", &[], Sum::Profile) },
    Case::small("mayor", "mayor", Sum::Mayor),
    Case::small("collections", "collections", Sum::Collections),
    Case::small("fire sales", "fire-sales", Sum::FireSales),
    Case {
        name: "bazaar-history 90d",
        function: "bazaar-history",
        query: &[("item_id", history_response::ID), ("range", "90d")],
        path: &[],
        sums: [
            Some(Floor { sum: Sum::Reading, name: "reading", target: Some(HISTORY) }),
            Some(Floor { sum: Sum::Query, name: "query and reading", target: None }),
        ],
        remembered: None,
    },
];

/// The functions whose start-up is in the table: without a table and with one.
pub(super) const START_UPS: [&str; 5] = ["bazaar", "profile", "authorizer", "bazaar-history", "status"];
