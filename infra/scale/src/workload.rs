//! What clients request: how often, how many different questions, and what a response takes.
//!
//! Processor times are in milliseconds of a whole processor: of the first request of a process, without its start; of one that
//! fetches; and of one that is answered from memory. They were measured with the released functions and captures. `cargo speed
//! ratios` prints the last two for functions that fetch from the provider. `cargo speed memory` has latencies of all three in its
//! lines of 1,769 MB, where the first one includes the start, and those that fetch include waiting for stand-ins.

use crate::assumptions::{FEWEST_KEYS, REQUESTS_PER_KEY};
use crate::figures::whole;

/// How many different questions clients ask.
#[derive(Debug, Clone, Copy)]
pub enum Questions {
    /// This many.
    Fixed(u32),
    /// This many for each key in use: the members of a clan.
    PerKey(u32),
}

/// A kind of request.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The function, and the mode or size.
    pub name: &'static str,
    /// The function that answers it.
    pub function: &'static str,
    /// Its share of all requests, in percent.
    pub percent: f64,
    /// How many different questions there are.
    pub questions: Questions,
    /// The exponent of Zipf's law: 0 if all questions are equally frequent.
    pub exponent: f64,
    /// Whether an instance answers all questions of the function from one snapshot.
    pub one_snapshot: bool,
    /// The size of the body in bytes, and compressed.
    pub bytes: [f64; 2],
    /// Processor time in milliseconds: first, fetched, remembered.
    pub processor_ms: [f64; 3],
    /// Read units of a query, as `cargo cost` measures them.
    pub read_units: f64,
}

const fn snapshot(
    name: &'static str,
    function: &'static str,
    percent: f64,
    bytes: [f64; 2],
    processor_ms: [f64; 3],
) -> Kind {
    let questions = Questions::Fixed(1);
    Kind {
        name,
        function,
        percent,
        questions,
        exponent: 0.0,
        one_snapshot: true,
        bytes,
        processor_ms,
        read_units: 0.0,
    }
}

/// Products of the bazaar.
const PRODUCTS: u32 = 1_900;

/// The mix.
pub const KINDS: [Kind; 18] = [
    Kind {
        questions: Questions::Fixed(PRODUCTS),
        exponent: 1.0,
        ..snapshot("bazaar item", "bazaar", 24.0, [305.0, 253.0], [5.4, 3.9, 0.026])
    },
    Kind {
        questions: Questions::Fixed(500),
        exponent: 1.0,
        ..snapshot("bazaar items", "bazaar", 10.0, [2_376.0, 951.0], [5.2, 3.7, 0.025])
    },
    Kind {
        questions: Questions::Fixed(5),
        exponent: 2.0,
        ..snapshot("bazaar flips", "bazaar", 9.0, [11_506.0, 3_994.0], [5.2, 3.7, 0.047])
    },
    Kind {
        questions: Questions::Fixed(PRODUCTS),
        exponent: 1.0,
        ..snapshot("bazaar book", "bazaar", 5.0, [2_753.0, 636.0], [5.2, 3.7, 0.024])
    },
    snapshot("bazaar list", "bazaar", 2.0, [40_923.0, 8_859.0], [5.4, 3.9, 0.027]),
    snapshot("bazaar full", "bazaar", 1.0, [3_238_671.0, 405_128.0], [13.5, 9.5, 1.4]),
    Kind {
        questions: Questions::Fixed(66),
        one_snapshot: false,
        ..snapshot("auctions", "auctions", 13.0, [729_987.0, 154_840.0], [11.0, 8.0, 0.26])
    },
    Kind {
        questions: Questions::PerKey(20),
        exponent: 1.0,
        one_snapshot: false,
        ..snapshot("profile", "profile", 3.0, [43_477.0, 6_672.0], [0.65, 0.25, 0.025])
    },
    Kind {
        questions: Questions::PerKey(4),
        exponent: 1.0,
        one_snapshot: false,
        ..snapshot("profile, large", "profile", 1.0, [1_375_176.0, 542_533.0], [7.0, 4.3, 0.6])
    },
    snapshot("mayor", "mayor", 4.0, [1_618.0, 737.0], [0.4, 0.1, 0.022]),
    snapshot("fire-sales", "fire-sales", 4.0, [281.0, 187.0], [0.4, 0.1, 0.022]),
    snapshot("collections", "collections", 1.0, [190_055.0, 12_115.0], [1.1, 0.47, 0.037]),
    snapshot("items", "items", 2.0, [435_343.0, 73_442.0], [8.7, 6.4, 0.18]),
    Kind {
        questions: Questions::Fixed(PRODUCTS * 4),
        exponent: 1.0,
        one_snapshot: false,
        read_units: 15.6,
        ..snapshot("bazaar-history", "bazaar-history", 8.0, [50_894.0, 10_340.0], [5.9, 0.85, 0.034])
    },
    Kind {
        questions: Questions::Fixed(PRODUCTS * 5),
        exponent: 1.0,
        one_snapshot: false,
        read_units: 20.0,
        ..snapshot("bazaar-candles", "bazaar-candles", 10.0, [30_033.0, 6_236.0], [6.3, 1.3, 0.026])
    },
    Kind {
        read_units: 1.0,
        ..snapshot("mayor-history", "mayor-history", 1.0, [7_994.0, 1_845.0], [5.6, 0.62, 0.022])
    },
    Kind {
        read_units: 1.0,
        ..snapshot("fire-sales-history", "fire-sales-history", 1.0, [976.0, 336.0], [5.6, 0.61, 0.024])
    },
    // Two reads of half a unit; it is not a route, so no client requests it.
    Kind {
        read_units: 2.0,
        ..snapshot("authorizer", "authorizer", 0.0, [1_000.0, 1_000.0], [5.7, 0.7, 0.7])
    },
];

/// How many keys are in use at this many requests a second.
#[must_use]
pub fn keys_in_use(requests_per_s: f64) -> u32 {
    whole((requests_per_s / REQUESTS_PER_KEY).max(FEWEST_KEYS))
}
