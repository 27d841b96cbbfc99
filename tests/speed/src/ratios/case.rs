//! The measured requests, and their targets.

use crate::event::Events;
use crate::pipeline::Pipeline;
use crate::upstream::PLAYER;

/// A function and a mode of it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) function: &'static str,
    query: &'static [(&'static str, &'static str)],
    path: &'static [(&'static str, &'static str)],
    /// What a request that fetches is compared with.
    pub(super) floors: [Option<Floor>; 2],
    /// The largest ratio of a request from memory, beside a copy of the response.
    pub(super) remembered: Option<f64>,
    /// Whether it reads what a recorder has just written, so that it needs the tables of a local cloud.
    pub(super) is_recorded: bool,
}

/// A pipeline beside which a function is measured.
#[derive(Clone, Copy)]
pub(super) struct Floor {
    pub(super) pipeline: Pipeline,
    pub(super) name: &'static str,
    /// The largest ratio of a request beside it.
    pub(super) target: Option<f64>,
}

impl Floor {
    const fn new(pipeline: Pipeline, target: Option<f64>) -> Self {
        Self { pipeline, name: "plain pipeline", target }
    }
}

impl Case {
    const fn new(
        name: &'static str,
        function: &'static str,
        query: &'static [(&'static str, &'static str)],
        pipeline: Pipeline,
    ) -> Self {
        let target = match pipeline {
            Pipeline::Bazaar => FULL_FETCHED,
            Pipeline::Flips => PRICES_FETCHED,
            _ => FETCHED,
        };
        let floors = [Some(Floor::new(pipeline, Some(target))), None];
        Self { name, function, query, path: &[], floors, remembered: None, is_recorded: false }
    }

    /// A case without a target: its body is so small that handing over the response dominates.
    const fn small(name: &'static str, function: &'static str, pipeline: Pipeline) -> Self {
        Self { floors: [Some(Floor::new(pipeline, None)), None], ..Self::new(name, function, &[], pipeline) }
    }

    pub(super) fn events(&self) -> Result<Events, String> {
        let events = Events::new(self.function, self.query, self.path)?;
        Ok(if self.is_recorded { events.at_present() } else { events })
    }
}

const FETCHED: f64 = 1.0;
/// It checks all products before it passes them on, which the plain pipeline does not.
const FULL_FETCHED: f64 = 1.1;
/// Unlike the plain pipeline, the other modes of the bazaar do not read orders.
const PRICES_FETCHED: f64 = 0.75;
/// Of a response of hundreds of kilobytes, beside its copy.
const LARGE_REMEMBERED: f64 = 1.2;
/// Its floor reads one response. The function also sends three signed queries and writes 720 points. Twice the time that it took before it
/// read candles.
const HISTORY: f64 = 10.0;

const ITEMS: &str =
    "INK_SACK:3,ENCHANTED_DIAMOND,ENCHANTED_GOLD,WHEAT,CARROT_ITEM,POTATO_ITEM,COAL,IRON_INGOT";

pub(super) const CASES: [Case; 13] = [
    Case {
        remembered: Some(LARGE_REMEMBERED),
        ..Case::new("bazaar full", "bazaar", &[("mode", "full")], Pipeline::Bazaar)
    },
    Case::new("bazaar list", "bazaar", &[("mode", "list")], Pipeline::Flips),
    Case::new("bazaar item", "bazaar", &[("mode", "item"), ("id", "ENCHANTED_DIAMOND")], Pipeline::Flips),
    Case::new("bazaar items", "bazaar", &[("mode", "items"), ("ids", ITEMS)], Pipeline::Flips),
    Case::new("bazaar book", "bazaar", &[("mode", "book"), ("id", "ENCHANTED_DIAMOND")], Pipeline::Flips),
    Case::new("bazaar flips", "bazaar", &[("mode", "flips"), ("limit", "50")], Pipeline::Flips),
    Case::new("auctions", "auctions", &[("page", "0")], Pipeline::Auctions),
    Case::new("items", "items", &[], Pipeline::Items),
    Case { path: &[("username", PLAYER)], ..Case::new("profile", "profile", &[], Pipeline::Profile) },
    Case::small("mayor", "mayor", Pipeline::Mayor),
    Case::small("fire sales", "fire-sales", Pipeline::FireSales),
    Case {
        name: "bazaar-history 90d",
        function: "bazaar-history",
        query: &[("item_id", history_response::ID), ("range", "90d")],
        path: &[],
        floors: [
            Some(Floor { pipeline: Pipeline::Reading, name: "reading", target: Some(HISTORY) }),
            Some(Floor { pipeline: Pipeline::Query, name: "query and reading", target: None }),
        ],
        remembered: None,
        is_recorded: false,
    },
    Case {
        name: "auctions prices",
        function: "auctions-prices",
        query: &[],
        path: &[],
        floors: [None, None],
        remembered: Some(LARGE_REMEMBERED),
        is_recorded: true,
    },
];

/// The functions whose start-up is in the table: without a table and with one.
pub(super) const START_UPS: [&str; 5] = ["bazaar", "profile", "authorizer", "bazaar-history", "status"];
