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
    pub(super) sum: Sum,
    /// The largest ratio of a request that fetches, beside the lean sum.
    pub(super) fetched: Option<f64>,
    /// The largest ratio of a request from memory, beside a copy of the response.
    pub(super) remembered: Option<f64>,
}

impl Case {
    const fn new(
        name: &'static str,
        function: &'static str,
        query: &'static [(&'static str, &'static str)],
        sum: Sum,
    ) -> Self {
        Self { name, function, query, path: &[], sum, fetched: Some(FETCHED), remembered: None }
    }

    /// The same without a target: its body is so small that handing over the response dominates.
    const fn small(self) -> Self {
        Self { fetched: None, ..self }
    }

    pub(super) fn events(&self) -> Result<Events, String> {
        Events::new(self.function, self.query, self.path)
    }
}

const FETCHED: f64 = 1.0;
const FULL_REMEMBERED: f64 = 1.2;

const ITEMS: &str =
    "INK_SACK:3,ENCHANTED_DIAMOND,ENCHANTED_GOLD,WHEAT,CARROT_ITEM,POTATO_ITEM,COAL,IRON_INGOT";

pub(super) const CASES: [Case; 12] = [
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
    Case::new("mayor", "mayor", &[], Sum::Mayor).small(),
    Case::new("collections", "collections", &[], Sum::Collections).small(),
    Case::new("fire sales", "fire-sales", &[], Sum::FireSales).small(),
];

/// The functions whose start-up is in the table: without a table and with one.
pub(super) const START_UPS: [&str; 5] = ["bazaar", "profile", "authorizer", "bazaar-history", "status"];
