//! Puts the parts together: template, upstream, functions, and the two servers in front of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simulator::{Clock, Simulator};
use tokio::net::TcpListener;

use crate::gateway::Gateway;
use crate::instance::Function;
use crate::invoke_api::{self, Pools};
use crate::logs::{Logs, Sink};
use crate::pool::Pool;
use crate::server::Server;
use crate::template::{self, Document, Template};
use crate::{Error, build};

/// The template's parameters that the local cloud chooses itself.
const UPSTREAM_PARAMETER: &str = "UpstreamBaseUrl";
const NAMES_PARAMETER: &str = "NamesBaseUrl";
const CACHE_PARAMETER: &str = "GatewayCache";
/// The variable that holds the upstream's key, which is a secret in the template.
const KEY_VARIABLE: &str = "HYPIXEL_API_KEY";
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
    /// Where the functions get their data.
    pub upstream: Upstream,
    /// Where they look up players' names, if not where the upstream implies.
    pub names: Option<String>,
    /// The upstream's API key. The simulator is never given it.
    pub upstream_key: Option<String>,
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
            upstream: Upstream::Simulator { seed: 1 },
            names: None,
            upstream_key: None,
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
    /// The defaults on free ports, so that any number of clouds run beside each other.
    #[must_use]
    pub fn for_tests() -> Self {
        Self { port: 0, lambda_port: 0, ..Self::default() }
    }
}

/// A running local cloud. It ends, with every function, when it is dropped.
pub struct Cloud {
    template: Template,
    gateway: Server,
    lambda: Server,
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
        let document = Document::read(&options.template)?;
        let simulator = match options.upstream {
            Upstream::Simulator { seed } => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                let clock = options.clock.clone();
                Some(Simulator::start(simulator::Options { seed, address, clock }).await?)
            }
            Upstream::Url(_) | Upstream::Live => None,
        };
        let template = document.evaluate(&parameters(&options, &document, simulator.as_ref()))?;
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
                let function = runnable(function, program, key, &logs);
                pools.insert(
                    logical_id,
                    Arc::new(Pool::new(function, options.concurrency.get().into(), logs.clone())),
                );
            }
        }
        let clock = options.clock;
        let gateway = Gateway::new(
            template.api.clone(),
            pools.clone(),
            clock.clone(),
            logs.clone(),
            options.access_log,
        );
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
        Ok(Self { template, gateway, lambda, simulator, clock, logs, pools })
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
    pub async fn shutdown(self) {
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
    ];
    let mut parameters = options.parameters.clone();
    for (name, value) in chosen {
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

/// The function with its secrets, which here are the upstream's key and no other.
fn runnable(function: &template::Function, program: PathBuf, key: Option<&str>, logs: &Logs) -> Function {
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
    fn a_secret_is_filled_in_or_left_out() {
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
            ]),
        };
        let environment = |key| {
            let function = runnable(&function, PathBuf::new(), key, &Logs::default());
            function.environment.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(environment(Some("k")), pairs(&[(KEY_VARIABLE, "k"), ("PLAIN", "text")]));
        assert_eq!(environment(None), pairs(&[("PLAIN", "text")]));
    }
}
