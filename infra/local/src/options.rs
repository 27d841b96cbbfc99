//! The options of a local cloud, and the template parameters that follow from them.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use simulator::Clock;

use crate::logs::LineSink;
use crate::template::Document;

/// The template's parameters with the limits of the usage plans.
const LIMIT_PARAMETERS: [&str; 11] = [
    "FreeRateLimit",
    "FreeBurstLimit",
    "FreeMonthlyQuota",
    "StarterRateLimit",
    "StarterBurstLimit",
    "StarterMonthlyQuota",
    "ProRateLimit",
    "ProBurstLimit",
    "ProMonthlyQuota",
    "ProfileRateLimit",
    "ProfileBurstLimit",
];
/// A limit that no test reaches.
const HIGH_LIMIT: &str = "1000000";
/// The API key for upstreams that do not check it.
const PLACEHOLDER_KEY: &str = "local-without-a-key";

/// The options of a local cloud. Not `Debug`: they may hold the upstream API key.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent switch")]
pub struct Options {
    /// The template. Its folder is the workspace with the functions.
    pub template: PathBuf,
    /// The gateway's port; 0 for a free one.
    pub port: u16,
    /// The Invoke API's port; 0 for a free one.
    pub lambda_port: u16,
    /// `DynamoDB`'s port; 0 for a free one.
    pub dynamodb_port: u16,
    /// The folder that keeps tables, public files and the running auctions between runs. Without it, tables
    /// are in memory.
    pub data: Option<PathBuf>,
    /// Whether the recorders write public files, which are served under `/public/`. The files are in the
    /// folder `public` in `data`, or in a temporary folder.
    pub public_files: bool,
    pub schedules: bool,
    /// The delay of events. A schedule with a rate sends its events this long after each full period; on AWS,
    /// the delay depends on the second at which the schedule was created. Other schedules send their events
    /// this long after they are due; on AWS, at any second of the minute.
    pub schedules_begin_after: Duration,
    /// Whether schedules also run once at the start, so that nothing seems to be overdue.
    pub schedules_at_start: bool,
    /// The days of past prices and candles to generate for a simulated game: at most 90, and for auctions at
    /// least 7. With 0, nothing is generated: no daily candles, auctions, past mayors or fire sales either.
    /// The past is generated in the background after the start; the log lists the missing parts.
    pub history: u16,
    pub upstream: Upstream,
    /// The upstream API key. It is never sent to the simulator.
    pub upstream_key: Option<String>,
    /// Whether the limits of the template's usage plans apply. Otherwise limits are too high to reach, unless
    /// [`parameters`](field@Self::parameters) sets them.
    pub throttling: bool,
    /// Values for the template's parameters. They override all other values.
    pub parameters: BTreeMap<String, String>,
    pub binaries: Binaries,
    /// The limit for concurrent instances of a function.
    pub concurrency: NonZeroU16,
    /// The longest timeout of a function. Longer timeouts in the template are shortened to this duration.
    pub longest_timeout: Duration,
    /// The delay with which a key of API Gateway works after it is attached to a usage plan. On AWS, it is
    /// about a minute.
    pub gateway_key_delay: Duration,
    /// The time of requests, schedules, the simulator and the generated past.
    pub clock: Clock,
    /// Receives a line for each request.
    pub access_log: Option<LineSink>,
    /// Receives the functions' output, and the platform's log lines about them.
    pub function_log: Option<LineSink>,
}

/// The provider of the functions' data.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// A simulated game in this process.
    Simulator { seed: u64 },
    /// A server with the APIs of the provider and of the name service.
    Url(String),
    /// The template's defaults: the real provider and the real name service.
    Live,
}

/// The source of the functions' binaries.
#[derive(Debug, Clone)]
pub enum Binaries {
    /// Cargo builds them.
    Build {
        /// The Cargo profile: `release` builds as for a deployment.
        profile: String,
    },
    /// They are in this folder.
    Folder(PathBuf),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            template: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml"),
            port: 3000,
            lambda_port: 3001,
            dynamodb_port: 3002,
            data: None,
            public_files: true,
            schedules: true,
            schedules_begin_after: Duration::ZERO,
            schedules_at_start: true,
            history: 1,
            upstream: Upstream::Simulator { seed: 1 },
            upstream_key: None,
            throttling: true,
            parameters: BTreeMap::new(),
            binaries: Binaries::Build { profile: "dev".to_owned() },
            concurrency: NonZeroU16::MIN.saturating_add(3),
            longest_timeout: Duration::MAX,
            gateway_key_delay: Duration::ZERO,
            clock: Clock::system(),
            access_log: None,
            function_log: None,
        }
    }
}

impl Options {
    /// The options for tests. Ports are free, so that clouds can run concurrently. Schedules, history, public
    /// files and throttling are off. If a test turns schedules on, they do not run at the start.
    #[must_use]
    pub fn for_tests() -> Self {
        Self {
            port: 0,
            lambda_port: 0,
            dynamodb_port: 0,
            public_files: false,
            schedules: false,
            schedules_at_start: false,
            history: 0,
            throttling: false,
            ..Self::default()
        }
    }

    /// Values for the template's parameters: the given values, and values that follow from the other options,
    /// the latter only for parameters that the template declares.
    pub(crate) fn template_parameters(
        &self,
        document: &Document,
        simulator_url: Option<String>,
    ) -> BTreeMap<String, String> {
        let upstream = match &self.upstream {
            Upstream::Url(url) => Some(url.clone()),
            Upstream::Simulator { .. } => simulator_url,
            Upstream::Live => None,
        };
        let defaults = [
            ("GatewayCache", Some("off".to_owned())),
            ("UpstreamBaseUrl", upstream.clone()),
            ("NamesBaseUrl", upstream),
            // A placeholder: there is no dashboard.
            ("DashboardUrl", Some("https://dashboard.example".to_owned())),
        ];
        let limits = LIMIT_PARAMETERS.map(|name| (name, (!self.throttling).then(|| HIGH_LIMIT.to_owned())));
        let mut parameters = self.parameters.clone();
        for (name, value) in defaults.into_iter().chain(limits) {
            if let Some(value) = value
                && document.declares(name)
            {
                parameters.entry(name.to_owned()).or_insert(value);
            }
        }
        parameters
    }

    /// The API key for requests to the upstream. Only the real provider can be without a key.
    pub(crate) fn sent_key(&self) -> Option<&str> {
        match self.upstream {
            Upstream::Simulator { .. } => Some(PLACEHOLDER_KEY),
            Upstream::Url(_) => Some(self.upstream_key.as_deref().unwrap_or(PLACEHOLDER_KEY)),
            Upstream::Live => self.upstream_key.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_follow_from_the_options_unless_they_are_given() {
        let declared =
            "Parameters: {GatewayCache: {}, UpstreamBaseUrl: {}, NamesBaseUrl: {}, ProRateLimit: {}}";
        let declared = Document::parse(declared).unwrap();
        let upstream = Upstream::Url("http://one".to_owned());
        let given = BTreeMap::from([("GatewayCache".to_owned(), "on".to_owned())]);
        for (options, expected) in [
            (
                Options { upstream, ..Options::default() },
                "GatewayCache=off NamesBaseUrl=http://one UpstreamBaseUrl=http://one",
            ),
            (
                Options { upstream: Upstream::Live, parameters: given, ..Options::for_tests() },
                "GatewayCache=on ProRateLimit=1000000",
            ),
        ] {
            let parameters = options.template_parameters(&declared, None).into_iter();
            let texts: Vec<_> = parameters.map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(texts.join(" "), expected);
        }
    }

    #[test]
    fn the_key_is_not_sent_to_the_simulator() {
        let key = |upstream, key: Option<&str>| {
            let options = Options { upstream, upstream_key: key.map(str::to_owned), ..Options::default() };
            options.sent_key().map(str::to_owned)
        };
        assert_eq!(key(Upstream::Simulator { seed: 1 }, Some("real")).as_deref(), Some(PLACEHOLDER_KEY));
        assert_eq!(key(Upstream::Url("http://one".to_owned()), Some("real")).as_deref(), Some("real"));
        assert_eq!(key(Upstream::Live, None), None);
    }
}
