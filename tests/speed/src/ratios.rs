//! `cargo speed ratios` compares the processor time of requests with that of `hello-fetch`, the smallest
//! function that fetches, unpacks and parses the same bodies.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use serde_json::json;

use crate::comparison::{Comparison, print};
use crate::event::{Events, Parameters};
use crate::instance::Instance;
use crate::release::{self, workspace};
use crate::upstream::{AUCTIONS, BAZAAR, ITEMS, PLAYER, PLAYER_NAME, PLAYER_PROFILES, Upstream};

/// How often the function and its floor (`hello-fetch`) are measured, each time in new processes: the memory
/// layout of a process can halve or double short times.
const BLOCKS: usize = 15;
/// The number of successive requests in a block for which the function fetches. As many unmeasured requests
/// precede a block.
const FETCHED: u32 = 10;
/// The number of successive requests in a block that the function answers from memory. As many unmeasured
/// requests precede a block.
const REMEMBERED: u32 = 60;
/// The largest ratio of a request that is answered from memory. Only large responses come near this limit.
/// The full bazaar has 0.14 to 0.23, which depends on the speed of memory.
const REMEMBERED_LIMIT: f64 = 0.3;
/// The texts that mark a fetched response and a response from memory, escaped as in a function's response.
const FETCHED_MARK: &str = r#"\"cached\":false"#;
const REMEMBERED_MARK: &str = r#"\"cached\":true"#;
/// The number of characters that are shown of an unexpected response.
const EXCERPT: usize = 400;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write the table into tests/README.md
    #[arg(long, conflicts_with = "functions")]
    write: bool,
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

/// A request to a function in one mode.
struct Case {
    name: &'static str,
    function: &'static str,
    query: Parameters,
    path: Parameters,
    /// The upstream targets that the function fetches for a request.
    targets: &'static [&'static str],
    /// The largest ratio of a request that fetches, about a tenth above the measured ratio.
    limit: f64,
}

const CASES: [Case; 5] = [
    Case {
        name: "bazaar full",
        function: "bazaar",
        query: &[("mode", "full")],
        path: &[],
        targets: &[BAZAAR],
        limit: 1.9,
    },
    // This mode does not read orders. The modes `list`, `item`, `items` and `book` read about as much.
    Case {
        name: "bazaar flips",
        function: "bazaar",
        query: &[("mode", "flips"), ("limit", "50")],
        path: &[],
        targets: &[BAZAAR],
        limit: 0.75,
    },
    Case {
        name: "auctions",
        function: "auctions",
        query: &[("page", "0")],
        path: &[],
        targets: &[AUCTIONS],
        limit: 1.2,
    },
    Case { name: "items", function: "items", query: &[], path: &[], targets: &[ITEMS], limit: 1.4 },
    Case {
        name: "profile",
        function: "profile",
        query: &[],
        path: &[("username", PLAYER)],
        targets: &[PLAYER_NAME, PLAYER_PROFILES],
        limit: 1.4,
    },
];

/// Measures the functions, prints the table, and returns whether all ratios are within their limits.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let chosen = release::choose(&arguments.functions)?;
    let cases: Vec<_> = CASES.iter().filter(|case| chosen.iter().any(|name| name == case.function)).collect();
    // This fails without captures, so it comes before the build, which takes minutes.
    let upstream = Upstream::start().await?;
    let functions: Vec<_> = cases.iter().map(|case| case.function).collect();
    let folder = release::build(&functions)?;
    let mut rows = Vec::new();
    let mut is_within_limits = true;
    for case in cases {
        let mut fetched = Vec::new();
        let mut remembered = Vec::new();
        for _ in 0..BLOCKS {
            let floor = floor_block(case, &folder, &upstream.url()).await?;
            let own = own_blocks(case, &folder, &upstream.url()).await?;
            fetched.push((own.fetched, floor));
            remembered.push((own.remembered, floor));
        }
        for (kind, pairs, limit) in
            [("fetched", fetched, case.limit), ("from memory", remembered, REMEMBERED_LIMIT)]
        {
            let comparison = Comparison::new(&pairs);
            is_within_limits &= !comparison.exceeds(limit);
            rows.push(vec![
                format!("{}, {kind}", case.name),
                format!("{:.3}", comparison.own_ms),
                format!("{:.3}", comparison.floor_ms),
                format!("{:.2}", comparison.ratio),
                format!("{limit:.2}"),
            ]);
        }
    }
    let table = markdown::table(&["request", "ms", "floor, ms", "ratio", "limit"], &rows);
    print(&table);
    if arguments.write {
        markdown::write(&workspace().join("tests/README.md"), "ratios", &table)?;
    }
    Ok(is_within_limits)
}

/// The average processor times of a request that fetches, and of a request that is answered from memory.
struct OwnBlocks {
    fetched: Duration,
    remembered: Duration,
}

async fn own_blocks(case: &Case, folder: &Path, upstream: &str) -> Result<OwnBlocks, String> {
    let mut instance = Instance::start(&folder.join(case.function), upstream).await?;
    let mut events = Events::new(case.function, case.query, case.path)?;
    let fetched = block(&mut instance, FETCHED, FETCHED_MARK, || events.later()).await?;
    let remembered = block(&mut instance, REMEMBERED, REMEMBERED_MARK, || events.again()).await?;
    Ok(OwnBlocks { fetched, remembered })
}

async fn floor_block(case: &Case, folder: &Path, upstream: &str) -> Result<Duration, String> {
    let mut instance = Instance::start(&folder.join("hello-fetch"), upstream).await?;
    let urls: Vec<_> = case.targets.iter().map(|target| format!("{upstream}{target}")).collect();
    let event = Bytes::from(json!(urls).to_string());
    // The floor responds with the body's length, so its response has no mark.
    block(&mut instance, FETCHED, "", || event.clone()).await
}

/// The average processor time of `count` requests, after as many unmeasured requests. The last response must
/// contain `mark`.
async fn block(
    instance: &mut Instance,
    count: u32,
    mark: &str,
    mut event: impl FnMut() -> Bytes,
) -> Result<Duration, String> {
    for _ in 0..count {
        instance.invoke(event()).await?;
    }
    let before = instance.processor_time()?;
    let mut last = Bytes::new();
    for _ in 0..count {
        last = instance.invoke(event()).await?;
    }
    let spent = instance.processor_time()?.saturating_sub(before);
    if !String::from_utf8_lossy(&last).contains(mark) {
        let beginning: String = String::from_utf8_lossy(&last).chars().take(EXCERPT).collect();
        return Err(format!("a response lacks {mark}: {beginning}"));
    }
    Ok(spent / count)
}
