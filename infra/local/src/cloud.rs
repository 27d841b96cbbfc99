//! Puts the parts together: template, upstream, database, functions, and what invokes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use simulator::{Clock, Simulator};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::backfill::{self, ProgressSink};
use crate::dynamodb::DynamoDb;
use crate::gateway::Gateway;
use crate::instance::Function;
use crate::invoke_api::{self, Pools};
use crate::keys::{self, Keys};
use crate::logs::{Logs, Sink};
use crate::pool::Pool;
use crate::server::Server;
use crate::template::{self, Document, Template};
use crate::{Error, InvocationError, build, schedules};

/// The template's parameters that the local cloud chooses itself.
const UPSTREAM_PARAMETER: &str = "UpstreamBaseUrl";
const NAMES_PARAMETER: &str = "NamesBaseUrl";
const CACHE_PARAMETER: &str = "GatewayCache";
const DASHBOARD_PARAMETER: &str = "DashboardUrl";
/// Where nobody gets a key.
const DASHBOARD_URL: &str = "https://dashboard.example";
/// The limits of the usage plans, and a number that no test reaches.
const LIMIT_PARAMETERS: [&str; 4] =
    ["StarterRateLimit", "StarterBurstLimit", "ProRateLimit", "ProBurstLimit"];
const HIGH_LIMIT: &str = "1000000";
/// The variable that holds the upstream's key, which is a secret in the template.
const KEY_VARIABLE: &str = "HYPIXEL_API_KEY";
/// The variable that tells the SDKs where `DynamoDB` is.
const DYNAMODB_VARIABLE: &str = "AWS_ENDPOINT_URL_DYNAMODB";
/// What upstreams that look at no key are given as one.
const PLACEHOLDER_KEY: &str = "local";
/// How `CloudFormation` refers to a secret, which it looks up when it deploys.
const DYNAMIC_REFERENCE: &str = "{{resolve:";

/// How the local cloud is to be. It does not print: it may hold the upstream's key.
#[derive(Clone)]
pub struct Options {
    /// The template; its folder is the workspace that holds the functions.
    pub template: PathBuf,
    /// The gateway's port; 0 takes a free one.
    pub port: u16,
    /// The Invoke API's port; 0 takes a free one.
    pub lambda_port: u16,
    /// `DynamoDB`'s port; 0 takes a free one.
    pub dynamodb_port: u16,
    /// The folder that keeps the tables from one run to the next; without one they are in memory.
    pub data: Option<PathBuf>,
    /// Whether schedules run.
    pub schedules: bool,
    /// How many days of prices a simulated game begins with, 90 at the most; with any of them come past mayors and fire
    /// sales. The recorders make them in the background, after the start.
    pub history: u16,
    /// Takes every step of that.
    pub progress: Option<ProgressSink>,
    /// Where the functions get their data.
    pub upstream: Upstream,
    /// Where they look up players' names, if not where the upstream implies.
    pub names: Option<String>,
    /// The upstream's API key. The simulator is never given it.
    pub upstream_key: Option<String>,
    /// Whether the limits of usage plans are those of the template. Otherwise they are so high that nobody reaches them,
    /// except for those among [`Self::parameters`].
    pub throttling: bool,
    /// Values for the template's parameters. They go before everything that is chosen here.
    pub parameters: BTreeMap<String, String>,
    /// Where the functions' binaries come from.
    pub binaries: Binaries,
    /// How many instances of one function may run at a time.
    pub concurrency: NonZeroU16,
    /// The time that requests carry, and the simulator's time.
    pub clock: Clock,
    /// Takes a line for every request.
    pub access_log: Option<Sink>,
    /// Takes every line that the functions write, and what there is to say about them.
    pub function_log: Option<Sink>,
}

/// Where the functions get their data.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// A simulated game in this process.
    Simulator {
        /// Another seed is another game.
        seed: u64,
    },
    /// Any server that speaks like the provider; it serves names, too.
    Url(String),
    /// What the template says: the real provider and the real name service.
    Live,
}

/// Where the functions' binaries come from.
#[derive(Debug, Clone)]
pub enum Binaries {
    /// Cargo builds them.
    Build {
        /// Optimised, as they are deployed.
        release: bool,
    },
    /// They are in this folder.
    Folder(PathBuf),
}

impl Default for Options {
    /// What `cargo local` does without any option.
    fn default() -> Self {
        Self {
            template: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml"),
            port: 3000,
            lambda_port: 3001,
            dynamodb_port: 3002,
            data: None,
            schedules: true,
            history: 1,
            progress: None,
            upstream: Upstream::Simulator { seed: 1 },
            names: None,
            upstream_key: None,
            throttling: true,
            parameters: BTreeMap::new(),
            binaries: Binaries::Build { release: false },
            concurrency: NonZeroU16::MIN.saturating_add(3),
            clock: Clock::system(),
            access_log: None,
            function_log: None,
        }
    }
}

impl Options {
    /// The defaults on free ports, so that any number of clouds run beside each other, and without schedules, so that
    /// nothing happens but what the test does. Nobody is throttled.
    #[must_use]
    pub fn for_tests() -> Self {
        Self {
            port: 0,
            lambda_port: 0,
            dynamodb_port: 0,
            schedules: false,
            history: 0,
            throttling: false,
            ..Self::default()
        }
    }
}

/// A running local cloud. It ends, with every function, when it is dropped.
pub struct Cloud {
    template: Template,
    gateway: Server,
    lambda: Server,
    dynamodb: DynamoDb,
    keys: Option<Keys>,
    schedules: JoinSet<()>,
    backfill: JoinSet<()>,
    simulator: Option<Simulator>,
    clock: Clock,
    logs: Logs,
    pools: Pools,
}

impl Cloud {
    /// Builds the functions and starts everything; when it returns, requests are answered.
    ///
    /// # Errors
    /// Whatever [`Error`] lists: a port in use, a broken template, functions that do not build.
    pub async fn start(options: Options) -> Result<Self, Error> {
        // What fails quickly comes first: building may take minutes.
        let gateway_listener = listen(options.port, "--port").await?;
        let lambda_listener = listen(options.lambda_port, "--lambda-port").await?;
        let dynamodb_listener = listen(options.dynamodb_port, "--dynamodb-port").await?;
        let document = Document::read(&options.template)?;
        let simulator = match &options.upstream {
            Upstream::Simulator { seed } => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                let clock = options.clock.clone();
                Some(Simulator::start(simulator::Options { seed: *seed, address, clock }).await?)
            }
            Upstream::Url(_) | Upstream::Live => None,
        };
        let template = document.evaluate(&parameters(&options, &document, simulator.as_ref()))?;
        let tables = template.tables.values();
        let dynamodb = DynamoDb::start(dynamodb_listener, options.data.as_deref(), &options.clock, tables)?;
        let keys = match template.tables.get(keys::TABLE) {
            Some(table) => Some(keys::seed(&dynamodb, &table.name).await?),
            None => None,
        };
        let programs = programs(&options, &template).await?;

        let logs = Logs::new(options.function_log.clone());
        let key = upstream_key(&options);
        if key.is_none() {
            logs.push(&format!(
                "local: {KEY_VARIABLE} is not set: the provider gives no profiles without a key"
            ));
        }
        let mut pools = BTreeMap::new();
        for (logical_id, program) in programs {
            if let Some(function) = template.functions.get(&logical_id) {
                let function = runnable(function, program, key, dynamodb.url(), &logs);
                pools.insert(
                    logical_id,
                    Arc::new(Pool::new(function, options.concurrency.get().into(), logs.clone())),
                );
            }
        }
        let clock = options.clock;
        let gateway = Gateway::new(&template, pools.clone(), clock.clone(), logs.clone(), options.access_log);
        let gateway = Arc::new(gateway);
        let gateway = serve(gateway_listener, options.port, "--port", |listener| {
            Server::start(listener, true, move |request, peer| Arc::clone(&gateway).handle(request, peer))
        })?;
        let pools = Arc::new(pools);
        let invocable = Arc::clone(&pools);
        let lambda = serve(lambda_listener, options.lambda_port, "--lambda-port", |listener| {
            Server::start(listener, true, move |request, _| {
                invoke_api::handle(Arc::clone(&invocable), request)
            })
        })?;
        let schedules = if options.schedules {
            schedules::start(&template, &pools, &clock, &logs)
        } else {
            JoinSet::new()
        };
        let backfill = match (options.upstream, &simulator) {
            (Upstream::Simulator { seed }, Some(simulator)) if options.history > 0 => {
                backfill::start(backfill::Plan {
                    days: options.history,
                    seed,
                    upstream: simulator.url(),
                    now_ms: clock.now_ms(),
                    functions: pools.values().map(|pool| pool.function().clone()).collect(),
                    logs: logs.clone(),
                    progress: options.progress,
                })
            }
            _ => JoinSet::new(),
        };
        Ok(Self {
            template,
            gateway,
            lambda,
            dynamodb,
            keys,
            schedules,
            backfill,
            simulator,
            clock,
            logs,
            pools,
        })
    }

    /// The base URL of the API, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.gateway.address())
    }

    /// The base URL of the Invoke API, without a slash at its end.
    #[must_use]
    pub fn lambda_url(&self) -> String {
        format!("http://{}", self.lambda.address())
    }

    /// `DynamoDB`, which every function finds.
    #[must_use]
    pub fn dynamodb(&self) -> &DynamoDb {
        &self.dynamodb
    }

    /// The keys that the table `Access` begins with, if the template has one.
    #[must_use]
    pub fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// The response of a function, by logical id or name of its binary, to an event.
    ///
    /// # Errors
    /// When there is no such function, and whatever keeps it from answering; that has been logged.
    pub async fn invoke(
        &self,
        function: &str,
        event: impl Into<Bytes> + Send,
    ) -> Result<Bytes, InvocationError> {
        let pool = self.pool(function)?;
        pool.invoke(event.into()).await.map_err(|failure| InvocationError::Failed {
            function: pool.function().name.clone(),
            reason: failure.to_string(),
            payload: failure.payload(),
        })
    }

    /// Ends every process of a function at once, as when its host dies, and waits until all are gone. What it was doing
    /// fails; the next invocation starts a new process.
    ///
    /// # Errors
    /// When there is no such function.
    pub async fn kill(&self, function: &str) -> Result<(), InvocationError> {
        self.pool(function)?.kill().await;
        Ok(())
    }

    fn pool(&self, function: &str) -> Result<&Arc<Pool>, InvocationError> {
        invoke_api::find(&self.pools, function)
            .ok_or_else(|| InvocationError::UnknownFunction(function.to_owned()))
    }

    /// The simulated upstream, unless another one is in use.
    #[must_use]
    pub fn simulator(&self) -> Option<&Simulator> {
        self.simulator.as_ref()
    }

    /// The time that requests carry.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The template as it counts here.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The last lines that functions wrote, and what there was to say about them. A function's line may come a moment
    /// after its answer.
    #[must_use]
    pub fn logs(&self) -> Vec<String> {
        self.logs.lines()
    }

    /// Ends everything and waits until every function's process is gone.
    pub async fn shutdown(mut self) {
        self.backfill.shutdown().await;
        self.schedules.shutdown().await;
        for pool in self.pools.values() {
            pool.stop().await;
        }
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        for pool in self.pools.values() {
            pool.close();
        }
    }
}

async fn listen(port: u16, option: &'static str) -> Result<TcpListener, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|cause| cannot_listen(port, option, cause))
}

fn serve(
    listener: TcpListener,
    port: u16,
    option: &'static str,
    start: impl FnOnce(TcpListener) -> io::Result<Server>,
) -> Result<Server, Error> {
    start(listener).map_err(|cause| cannot_listen(port, option, cause))
}

fn cannot_listen(port: u16, option: &'static str, cause: io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::AddrInUse => Error::PortInUse { port, option },
        _ => Error::Listen { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), option, cause },
    }
}

/// Values for the template's parameters: what was asked for, then what follows from the upstream.
fn parameters(
    options: &Options,
    document: &Document,
    simulator: Option<&Simulator>,
) -> BTreeMap<String, String> {
    let upstream = match (&options.upstream, simulator) {
        (Upstream::Url(url), _) => Some(url.clone()),
        (_, Some(simulator)) => Some(simulator.url()),
        _ => None,
    };
    let chosen = [
        (CACHE_PARAMETER, Some("off".to_owned())),
        (UPSTREAM_PARAMETER, upstream.clone()),
        (NAMES_PARAMETER, options.names.clone().or(upstream)),
        (DASHBOARD_PARAMETER, Some(DASHBOARD_URL.to_owned())),
    ];
    let limits = LIMIT_PARAMETERS.map(|name| (name, (!options.throttling).then(|| HIGH_LIMIT.to_owned())));
    let mut parameters = options.parameters.clone();
    for (name, value) in chosen.into_iter().chain(limits) {
        if let Some(value) = value.filter(|_| document.declares(name)) {
            parameters.entry(name.to_owned()).or_insert(value);
        }
    }
    parameters
}

/// The key that profiles are asked for with. Only the real provider has to do without one.
fn upstream_key(options: &Options) -> Option<&str> {
    match options.upstream {
        Upstream::Simulator { .. } => Some(PLACEHOLDER_KEY),
        Upstream::Url(_) => Some(options.upstream_key.as_deref().unwrap_or(PLACEHOLDER_KEY)),
        Upstream::Live => options.upstream_key.as_deref(),
    }
}

/// Every function's program, by logical id.
async fn programs(options: &Options, template: &Template) -> Result<BTreeMap<String, PathBuf>, Error> {
    let functions = template.functions.values();
    let (programs, hint) = match &options.binaries {
        Binaries::Build { release } => {
            let workspace = options.template.parent().unwrap_or(Path::new("."));
            let packages: BTreeSet<_> = functions.clone().map(|function| function.binary.clone()).collect();
            let hint = "its package builds no binary of that name".to_owned();
            (build::build(workspace, *release, packages).await?, hint)
        }
        Binaries::Folder(folder) => {
            let present = |function: &template::Function| {
                let program = folder.join(&function.binary);
                program.is_file().then(|| (function.binary.clone(), program))
            };
            (
                functions.clone().filter_map(present).collect(),
                format!("there is none in {}", folder.display()),
            )
        }
    };
    functions
        .map(|function| match programs.get(&function.binary) {
            Some(program) => Ok((function.logical_id.clone(), program.clone())),
            None => Err(Error::MissingBinary {
                function: function.logical_id.clone(),
                binary: function.binary.clone(),
                hint: hint.clone(),
            }),
        })
        .collect()
}

/// The function with its secrets, which here are the upstream's key and no other, and with the way to `DynamoDB`, which
/// the template must not change.
fn runnable(
    function: &template::Function,
    program: PathBuf,
    key: Option<&str>,
    dynamodb_url: String,
    logs: &Logs,
) -> Function {
    let mut environment = function.environment.clone();
    environment.retain(|name, value| {
        if !value.starts_with(DYNAMIC_REFERENCE) {
            return true;
        }
        if name != KEY_VARIABLE {
            let binary = &function.binary;
            logs.push(&format!("local: {binary}: {name} is not set: the local cloud knows no such secret"));
            return false;
        }
        if let Some(key) = key {
            key.clone_into(value);
        }
        key.is_some()
    });
    environment.insert(DYNAMODB_VARIABLE.to_owned(), dynamodb_url);
    Function {
        name: function.logical_id.clone(),
        binary: function.binary.clone(),
        program,
        environment,
        memory_mb: function.memory_mb,
        timeout: function.timeout,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &str = "Parameters: {GatewayCache: {}, UpstreamBaseUrl: {}, NamesBaseUrl: {}}";

    fn chosen(options: &Options) -> Vec<(String, String)> {
        parameters(options, &Document::parse(DECLARED).unwrap(), None).into_iter().collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_upstream_serves_names_unless_told_otherwise() {
        let mut options = Options { upstream: Upstream::Url("http://one".to_owned()), ..Options::default() };
        let both =
            [("GatewayCache", "off"), ("NamesBaseUrl", "http://one"), ("UpstreamBaseUrl", "http://one")];
        assert_eq!(chosen(&options), pairs(&both));
        options.names = Some("http://two".to_owned());
        let apart =
            [("GatewayCache", "off"), ("NamesBaseUrl", "http://two"), ("UpstreamBaseUrl", "http://one")];
        assert_eq!(chosen(&options), pairs(&apart));
    }

    #[test]
    fn live_leaves_the_addresses_to_the_template_and_parameters_go_first() {
        let parameters = BTreeMap::from([(CACHE_PARAMETER.to_owned(), "on".to_owned())]);
        let options = Options { upstream: Upstream::Live, parameters, ..Options::default() };
        assert_eq!(chosen(&options), pairs(&[("GatewayCache", "on")]));
    }

    #[test]
    fn nobody_is_throttled_in_tests_unless_they_ask_for_it() {
        let declared =
            Document::parse("Parameters: {DashboardUrl: {}, StarterRateLimit: {}, ProRateLimit: {}}")
                .unwrap();
        let chosen = |options: &Options| parameters(options, &declared, None).into_iter().collect::<Vec<_>>();
        let dashboard = ("DashboardUrl", "https://dashboard.example");
        assert_eq!(chosen(&Options::default()), pairs(&[dashboard]));
        let own = BTreeMap::from([("StarterRateLimit".to_owned(), "5".to_owned())]);
        let options = Options { parameters: own, ..Options::for_tests() };
        let expected = [dashboard, ("ProRateLimit", "1000000"), ("StarterRateLimit", "5")];
        assert_eq!(chosen(&options), pairs(&expected));
    }

    #[test]
    fn the_key_goes_to_real_upstreams_only() {
        let mut options = Options { upstream_key: Some("real".to_owned()), ..Options::default() };
        assert_eq!(upstream_key(&options), Some("local"));
        options.upstream = Upstream::Url("http://one".to_owned());
        assert_eq!(upstream_key(&options), Some("real"));
        options.upstream = Upstream::Live;
        assert_eq!(upstream_key(&options), Some("real"));
        options.upstream_key = None;
        assert_eq!(upstream_key(&options), None);
    }

    #[test]
    fn a_secret_is_filled_in_or_left_out_and_the_database_is_here() {
        let secret = || "{{resolve:secretsmanager:name}}".to_owned();
        let function = template::Function {
            logical_id: "ProfileFunction".to_owned(),
            binary: "profile".to_owned(),
            timeout: std::time::Duration::from_secs(1),
            memory_mb: 128,
            environment: BTreeMap::from([
                (KEY_VARIABLE.to_owned(), secret()),
                ("OTHER".to_owned(), secret()),
                ("PLAIN".to_owned(), "text".to_owned()),
                (DYNAMODB_VARIABLE.to_owned(), "http://elsewhere".to_owned()),
            ]),
            schedules: Vec::new(),
        };
        let environment = |key| {
            let url = "http://here".to_owned();
            let function = runnable(&function, PathBuf::new(), key, url, &Logs::default());
            function.environment.into_iter().collect::<Vec<_>>()
        };
        let here = (DYNAMODB_VARIABLE, "http://here");
        assert_eq!(environment(Some("k")), pairs(&[here, (KEY_VARIABLE, "k"), ("PLAIN", "text")]));
        assert_eq!(environment(None), pairs(&[here, ("PLAIN", "text")]));
    }
}
