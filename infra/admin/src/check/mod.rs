//! `check`: asks a deployment what its clients would ask, and says which promises of the contract it keeps. It sees nothing
//! but answers, so it works with any base address. What AWS documents nowhere is looked at, too, and only reported.

mod answer;
mod answers;
mod caching;
mod compression;
mod cors;
mod description;
mod envelope;
mod errors;
mod keys;
mod latency;
mod observations;
mod pace;
mod parameters;
mod part;
mod question;
mod report;
mod target;
mod throttling;

use std::process::ExitCode;

use clap::Args;
use common::auth::{ApiKey, without_keys};
use common::params::Username;
use indicatif::ProgressBar;

use self::answer::Answer;
use self::description::{Description, Operation};
use self::latency::Latency;
use self::question::Question;
use self::report::{Failure, Report};
use self::target::Target;
use crate::answer::Format;
use crate::console::Console;
use crate::error::Error;
use crate::{standard_input, unless_interrupted};

/// The argument that stands for standard input.
const STANDARD: &str = "-";
/// Where a key may be that is not on the command line.
const KEY_VARIABLE: &str = "API_KEY";
/// How many requests a second carry the key, unless told otherwise: the smallest tier allows two.
const RATE: f64 = 1.5;

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Where the service answers: the stack's output `BaseUrl`, or that of the local cloud
    #[arg(long, value_parser = target::base)]
    url: String,
    /// A key that may ask; - reads it from standard input; without this option it is in the environment variable `API_KEY`
    #[arg(long)]
    key: Option<String>,
    /// A key whose account has not paid: 403 is checked, too
    #[arg(long, value_name = "KEY")]
    lapsed_key: Option<String>,
    /// A key that was revoked: its 401 is checked, too
    #[arg(long, value_name = "KEY")]
    revoked_key: Option<String>,
    /// Another player than that of the example
    #[arg(long, value_name = "NAME", value_parser = player)]
    player: Option<Username>,
    /// How often each example is asked again, for the table of latencies
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=50))]
    requests: u16,
    /// How many requests a second carry the key in the long run, twenty times as many at once; the default is less than
    /// the smallest tier allows
    #[arg(long, value_name = "N", default_value_t = RATE, value_parser = pace::rate)]
    rate: f64,
    /// Ask faster than the key may at the end, to see what is said then; the key is of no use for a while afterwards
    #[arg(long)]
    throttle: bool,
    /// Write one JSON document instead of tables
    #[arg(long)]
    json: bool,
}

/// The keys that callers have.
struct Keys {
    /// One that may ask.
    good: ApiKey,
    /// One whose account has not paid.
    lapsed: Option<ApiKey>,
    revoked: Option<ApiKey>,
}

/// Everything that a check needs.
struct Inspection<'a> {
    target: &'a Target,
    keys: &'a Keys,
    description: Description,
    player: Option<&'a Username>,
    /// How often each example is asked again.
    requests: u16,
}

impl Inspection<'_> {
    /// The answer to `GET path` with a key that may ask.
    ///
    /// # Errors
    /// If there is none.
    async fn paid(&self, path: &str) -> Result<Answer, Failure> {
        self.target.ask(&Question::paid(path, &self.keys.good)).await
    }

    /// The request for another player, if another is wanted and one is asked for.
    fn with_player(&self, operation: &Operation<'_>, request: String) -> String {
        match self.player {
            Some(player) => match operation.path.split_once("{username}") {
                Some((before, _)) => format!("{before}{}", player.as_str()),
                None => request,
            },
            None => request,
        }
    }

    /// An id that no item has and nobody has asked for yet.
    fn unknown_item(&self) -> String {
        format!("CHECK_{:012X}", self.number() % (1 << 48))
    }

    /// A name that no player has and nobody has asked for yet.
    fn unknown_player(&self) -> String {
        format!("nobody_{:09x}", self.number() % (1 << 36))
    }

    /// Another number each time.
    fn number(&self) -> u64 {
        // Only where the system has no random numbers does it matter how many requests were made.
        getrandom::u64().unwrap_or_else(|_| u64::from(self.target.asked()))
    }
}

/// Checks the deployment.
///
/// # Errors
/// If it cannot be asked at all.
pub(crate) async fn run(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    unless_interrupted(check(arguments, console)).await
}

async fn check(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    let format = if arguments.json { Format::Json } else { Format::Text };
    let keys = Keys {
        good: good_key(arguments.key.clone(), console).await?,
        lapsed: arguments.lapsed_key.as_deref().map(|key| parsed("--lapsed-key", key)).transpose()?,
        revoked: arguments.revoked_key.as_deref().map(|key| parsed("--revoked-key", key)).transpose()?,
    };
    let progress = console.progress_in_rows(None);
    let result = inspect(&arguments, &keys, &progress).await;
    progress.finish_and_clear();
    let report = result?;
    report.write(format)?;
    Ok(if report.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn inspect(arguments: &Arguments, keys: &Keys, progress: &ProgressBar) -> Result<Report, Error> {
    let target = Target::new(&arguments.url, arguments.rate, progress.clone())?;
    let mut report = Report::of(&without_keys(&arguments.url));
    let Some(description) = description::fetch(&target, &mut report).await? else {
        // This may be anybody, and gets no key.
        report.skip("everything else", "what answers is not this service; --url must be its base address");
        report.finish(Latency::default(), target.asked(), target.throttled());
        return Ok(report);
    };
    let inspection = Inspection {
        target: &target,
        keys,
        description,
        player: arguments.player.as_ref(),
        requests: arguments.requests,
    };
    let mut latency = Latency::default();
    answers::check(&inspection, &mut report, &mut latency).await;
    errors::check(&inspection, &mut report).await;
    keys::check(&inspection, &mut report).await;
    cors::check(&inspection, &mut report).await;
    compression::check(&inspection, &mut report).await;
    let is_poisoned = parameters::check(&inspection, &mut report).await;
    observations::observe(&inspection, is_poisoned, &mut report).await;
    throttling::check(&inspection, arguments.throttle, &mut report).await;
    report.finish(latency, target.asked(), target.throttled());
    Ok(report)
}

/// The key that may ask, from wherever it is.
async fn good_key(option: Option<String>, console: &Console) -> Result<ApiKey, Error> {
    match option {
        Some(option) if option == STANDARD => {
            let line = standard_input::key(console).await;
            let line = line
                .map_err(|error| if matches!(error, Error::EmptyInput) { Error::NoApiKey } else { error })?;
            parsed("standard input", standard_input::trimmed(&line))
        }
        Some(key) => parsed("--key", &key),
        None => match std::env::var(KEY_VARIABLE) {
            Ok(key) if !key.trim().is_empty() => parsed(KEY_VARIABLE, standard_input::trimmed(&key)),
            _ => Err(Error::NoApiKey),
        },
    }
}

/// The key, whose text is not repeated if it is none.
fn parsed(place: &'static str, text: &str) -> Result<ApiKey, Error> {
    text.parse().map_err(|cause| Error::MalformedApiKey { place, cause })
}

fn player(text: &str) -> Result<Username, &'static str> {
    text.parse().map_err(|_| "a player's name has 1 to 16 letters, digits and underscores")
}
