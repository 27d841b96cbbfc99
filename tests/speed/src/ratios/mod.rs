//! `cargo speed ratios`: the processor time of a request to each function and mode, compared with a lower bound. Both run in
//! alternation, block by block, and a ratio is the median over all pairs of blocks.

mod case;
mod floor;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::case::{CASES, Case, Floor, START_UPS};
use self::floor::PipelineProcess;
use crate::database::Database;
use crate::event::Events;
use crate::instance::{Instance, Program};
use crate::release::{self, Binaries};
use crate::statistics::{median, milliseconds};
use crate::upstream::Upstream;
use crate::{print, startup, workspace};

/// Requests before the measured ones.
const WARM_UP: usize = 10;
/// Requests in a block.
const FETCHED: usize = 10;
const REMEMBERED: usize = 60;
/// The number of pairs of starts.
const STARTS: u16 = 100;
/// What the body of a response has about its origin, escaped as in a response of a function.
const FETCHED_MARK: &[u8] = br#"\"cached\":false"#;
const REMEMBERED_MARK: &[u8] = br#"\"cached\":true"#;

/// The beginning of an unexpected response, in characters.
const EXCERPT: usize = 400;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    binaries: Binaries,
    /// Number of pairs of blocks
    #[arg(long, value_name = "N", default_value = "15", value_parser = clap::value_parser!(u16).range(1..))]
    blocks: u16,
    /// DynamoDB of a `cargo local` that has run for two minutes, whose auctions are measured, too
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Write the table into tests/README.md
    #[arg(long, conflicts_with = "functions")]
    write: bool,
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

/// One line of the table.
struct Row {
    name: String,
    own: Duration,
    floor: Duration,
    floor_name: &'static str,
    ratio: f64,
    target: Option<f64>,
}

impl Row {
    /// The row of paired measurements.
    fn new(
        name: String,
        pairs: &[(Duration, Duration)],
        floor_name: &'static str,
        target: Option<f64>,
    ) -> Self {
        let mut ratios: Vec<_> =
            pairs.iter().map(|(own, floor)| own.as_secs_f64() / floor.as_secs_f64()).collect();
        let middle = |of: fn(&(Duration, Duration)) -> Duration| {
            median(&mut pairs.iter().map(of).collect::<Vec<_>>(), Duration::cmp).unwrap_or_default()
        };
        Self {
            name,
            own: middle(|pair| pair.0),
            floor: middle(|pair| pair.1),
            floor_name,
            ratio: median(&mut ratios, f64::total_cmp).unwrap_or(f64::INFINITY),
            target,
        }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            format!("{:.3}", milliseconds(self.own)),
            self.floor_name.to_owned(),
            format!("{:.3}", milliseconds(self.floor)),
            format!("{:.2}", self.ratio),
            self.target.map_or_else(String::new, |target| format!("{target:.2}")),
        ]
    }

    fn is_missed(&self) -> bool {
        // As the table shows it.
        self.target.is_some_and(|target| (self.ratio * 100.0).round() > (target * 100.0).round())
    }
}

/// Returns whether all targets are met.
///
/// # Errors
/// A sentence about what cannot be measured.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let chosen = release::choose(&arguments.functions)?;
    // Without captures there is nothing to measure, so this is before the build, which takes minutes.
    let upstream = Upstream::start().await?;
    let folder = arguments.binaries.folder(&chosen)?;
    let recorded = arguments.database.clone();
    let world =
        World { folder, upstream, database: Database::start().await?, recorded, blocks: arguments.blocks };
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| chosen.iter().any(|name| name == case.function)) {
        if case.is_recorded && world.recorded.is_none() {
            print(&format!("{} is not measured: it needs --database", case.name));
            continue;
        }
        for floor in case.floors.iter().flatten() {
            rows.push(world.fetched(case, floor).await?);
        }
        rows.extend(world.remembered(case).await?);
    }
    for name in START_UPS.into_iter().filter(|name| chosen.iter().any(|chosen| chosen == name)) {
        let floor = startup::floor(name)?;
        let pairs = startup::pairs(&world.folder, name, floor, STARTS).await?;
        rows.push(Row::new(format!("{name}, start-up"), &pairs, floor, Some(startup::RATIO)));
    }
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let table = markdown::table(&["request", "ms", "floor", "ms", "ratio", "target"], &cells);
    print(&table);
    if arguments.write {
        markdown::write(&workspace().join("tests/README.md"), "ratios", &table)?;
    }
    let missed: Vec<_> = rows.iter().filter(|row| row.is_missed()).collect();
    for row in &missed {
        print(&format!(
            "{} misses its target by {:.2}",
            row.name,
            row.ratio - row.target.unwrap_or_default()
        ));
    }
    Ok(missed.is_empty())
}

/// Where the functions are, and everything that they need.
struct World {
    folder: PathBuf,
    upstream: Upstream,
    database: Database,
    /// The endpoint of tables with recorded minutes.
    recorded: Option<String>,
    blocks: u16,
}

impl World {
    fn program(&self, case: &Case) -> Program {
        let program = Program::new(self.folder.join(case.function)).with_upstream(&self.upstream.url());
        let recorded = self.recorded.as_ref().filter(|_| case.is_recorded);
        program.with_database(&recorded.cloned().unwrap_or_else(|| self.database.url()))
    }

    /// A request that fetches, beside the plain pipeline.
    async fn fetched(&self, case: &Case, floor: &Floor) -> Result<Row, String> {
        let mut events = case.events()?;
        let mut instance = Instance::start(&self.program(case)).await?;
        let base_url =
            if floor.pipeline.is_of_database() { self.database.url() } else { self.upstream.url() };
        let mut pipeline = PipelineProcess::start(&base_url, floor.pipeline)?;
        block(&mut instance, &mut events, Events::later, WARM_UP, FETCHED_MARK).await?;
        pipeline.block(WARM_UP).await?;
        let mut pairs = Vec::new();
        for _ in 0..self.blocks {
            let own = block(&mut instance, &mut events, Events::later, FETCHED, FETCHED_MARK).await?;
            pairs.push((own, pipeline.block(FETCHED).await?));
        }
        Ok(Row::new(format!("{}, fetched", case.name), &pairs, floor.name, floor.target))
    }

    /// A request that is answered from memory, beside a function that posts the same response; if there is a target, also beside a
    /// copy in memory, for information.
    async fn remembered(&self, case: &Case) -> Result<Vec<Row>, String> {
        let mut events = case.events()?;
        let mut instance = Instance::start(&self.program(case)).await?;
        let _fetched = instance.invoke(events.again()).await?;
        let response = instance.invoke(events.again()).await?;
        let file = floor::ResponseFile::new(&response)?;
        let programs = [self.program(case), file.program()?];
        let mut pairs = Vec::new();
        // How a process happens to lay out its memory decides more than its work does, so each pair of blocks has new processes.
        for _ in 0..self.blocks {
            let mut times = [Duration::ZERO; 2];
            for (time, program) in times.iter_mut().zip(&programs) {
                let mut instance = Instance::start(program).await?;
                block(&mut instance, &mut events, Events::again, REMEMBERED, REMEMBERED_MARK).await?;
                *time = block(&mut instance, &mut events, Events::again, REMEMBERED, REMEMBERED_MARK).await?;
            }
            pairs.push((times[0], times[1]));
        }
        let name = format!("{}, from memory", case.name);
        let mut rows = vec![Row::new(name.clone(), &pairs, "copy", case.remembered)];
        if case.remembered.is_some() {
            let pairs: Vec<_> =
                pairs.iter().map(|(own, _)| (*own, floor::copy_in_memory(&response))).collect();
            rows.push(Row::new(name, &pairs, "copy in memory", None));
        }
        Ok(rows)
    }
}

/// The processor time of one of `count` requests.
async fn block(
    instance: &mut Instance,
    events: &mut Events,
    next: fn(&mut Events) -> bytes::Bytes,
    count: usize,
    mark: &[u8],
) -> Result<Duration, String> {
    let before = instance.processor_time()?;
    let mut last = None;
    for _ in 0..count {
        last = Some(instance.invoke(next(events)).await?);
    }
    let spent = instance.processor_time()?.saturating_sub(before);
    let payload = last.unwrap_or_default();
    if !payload.windows(mark.len()).any(|window| window == mark) {
        let beginning: String = String::from_utf8_lossy(&payload).chars().take(EXCERPT).collect();
        return Err(format!("a response lacks {}: {beginning}", String::from_utf8_lossy(mark)));
    }
    Ok(spent.div_f64(u32::try_from(count).map_or(f64::INFINITY, f64::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_pairs_and_compared_as_it_is_shown() {
        let time = Duration::from_micros;
        let pairs = [(time(110), time(100)), (time(500), time(100)), (time(210), time(200))];
        let row = |target| Row::new("a".to_owned(), &pairs, "b", target);
        assert_eq!(row(None).cells(), ["a", "0.210", "b", "0.100", "1.10", ""]);
        assert!(row(Some(1.0)).is_missed());
        assert!(!row(Some(1.1)).is_missed() && !row(None).is_missed());
    }
}
