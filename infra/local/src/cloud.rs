//! Starts the parts of a local cloud and connects them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::config::Config;
use common::lambda::StartError;
use common::routes::INDEX;
use common::time::{Tick, UnixMilliseconds};
use files::listings::{Listings, Object, Stamp};
use simulator::{Clock, Simulator};
use tables::Table;
use tables::auctions::{Minute, record};
use tables::names::{Names, store};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::arn::STACK;
use crate::dynamodb::DynamoDb;
use crate::error::{Error, InvocationError};
use crate::folder::Folder;
use crate::gateway::Gateway;
use crate::gateway::api_keys::ApiKeys;
use crate::gateway::control_plane::ControlPlane;
use crate::keys::{self, Keys};
use crate::logs::Logs;
use crate::options::{Binaries, Options, Upstream};
use crate::pool::{self, Pool, Pools};
use crate::public_files::{self, PublicFiles};
use crate::schedules::AtStart;
use crate::server::Server;
use crate::template::{Document, Function, Template};
use crate::{backfill, build, invoke_api, schedules};

/// The variable with the upstream API key, which is a secret in the template.
const KEY_VARIABLE: &str = "HYPIXEL_API_KEY";
/// The SDKs' variable for `DynamoDB`'s endpoint.
const DYNAMODB_VARIABLE: &str = "AWS_ENDPOINT_URL_DYNAMODB";
/// The SDKs' variable for the endpoint of API Gateway's control plane.
const API_GATEWAY_VARIABLE: &str = "AWS_ENDPOINT_URL_API_GATEWAY";
/// The variable with the place where functions write the public files.
const FILES_VARIABLE: &str = "PUBLIC_FILES";
/// The variable with the place of the running auctions.
const LISTINGS_VARIABLE: &str = "LISTINGS";
/// The variable with the address of the public files.
const FILES_ADDRESS_VARIABLE: &str = "PUBLIC_FILES_URL";
/// The variable with the time after which a new key of API Gateway works, in seconds.
const DELAY_VARIABLE: &str = "GATEWAY_KEY_DELAY";
/// The start of a reference to a secret, which `CloudFormation` resolves in a deployment.
const DYNAMIC_REFERENCE: &str = "{{resolve:";

/// A running local cloud. Dropping it stops everything, including the functions.
pub struct Cloud {
    template: Template,
    gateway: Server,
    lambda: Server,
    dynamodb: DynamoDb,
    keys: Option<Keys>,
    api_keys: Arc<ApiKeys>,
    schedules: JoinSet<()>,
    backfill: JoinSet<()>,
    simulator: Option<Simulator>,
    clock: Clock,
    logs: Logs,
    pools: Arc<Pools>,
    files_url: Option<String>,
    listings: Folder,
}

impl Cloud {
    /// Builds the functions and starts everything. Afterwards, the cloud accepts requests.
    ///
    /// # Errors
    /// For example when a port is in use, the template is invalid, or the functions do not build.
    pub async fn start(options: Options) -> Result<Self, Error> {
        // Quick checks come first, because building may take minutes.
        let gateway_listener = listen(options.port, "--port").await?;
        let lambda_listener = listen(options.lambda_port, "--lambda-port").await?;
        let dynamodb_listener = listen(options.dynamodb_port, "--dynamodb-port").await?;
        let document = Document::read(&options.template)?;
        let simulator = start_simulator(&options).await?;
        let mut template = document
            .evaluate(&options.template_parameters(&document, simulator.as_ref().map(Simulator::url)))?;
        for function in template.functions.values_mut() {
            function.timeout = function.timeout.min(options.longest_timeout);
        }
        let data = options.data.as_deref();
        let tables = template.tables.values();
        let dynamodb = DynamoDb::start(dynamodb_listener, data, options.schedules, &options.clock, tables)?;
        let clock = options.clock.clone();
        let api_keys =
            Arc::new(ApiKeys::new(&template.usage_plans, clock.clone(), options.gateway_key_delay));
        let keys = match template.tables.get(keys::TABLE) {
            Some(table) => Some(keys::seed(&dynamodb, &table.name, &api_keys).await?),
            None => None,
        };
        let programs = find_programs(&options, &template).await?;
        let gateway_url = url_of(&gateway_listener).map_err(cannot_listen(options.port, "--port"))?;
        let files = open_files(&options, &gateway_url)?;
        let listings = Folder::open(data, "listings").map_err(|cause| {
            Error::new(format!("cannot create the folder of the running auctions: {cause}"))
        })?;
        let places = Places { files: files.as_deref(), listings: &listings };
        let files_url = files.as_ref().map(|files| files.url().to_owned());
        let logs = Logs::new(options.function_log.clone());
        let lambda_url =
            url_of(&lambda_listener).map_err(cannot_listen(options.lambda_port, "--lambda-port"))?;
        let endpoints = [(DYNAMODB_VARIABLE, dynamodb.url()), (API_GATEWAY_VARIABLE, lambda_url)];
        let pools = pools_of(&options, &template, programs, &endpoints, places, &logs);
        let access_log = options.access_log.clone();
        let gateway =
            Gateway::new(&template, Arc::clone(&pools), Arc::clone(&api_keys), clock.clone(), access_log);
        let control_plane = gateway.control_plane();
        let gateway =
            serve(gateway_listener, gateway, files).map_err(cannot_listen(options.port, "--port"))?;
        let lambda = serve_lambda(lambda_listener, Arc::clone(&pools), control_plane)
            .map_err(cannot_listen(options.lambda_port, "--lambda-port"))?;
        let (backfill, at_start) = start_backfill(&options, &template, &dynamodb, &logs);
        let schedules = if options.schedules {
            let awaited = options.schedules_at_start.then_some(&at_start);
            schedules::start(&template, &pools, &clock, options.schedules_begin_after, awaited)
        } else {
            JoinSet::new()
        };
        Ok(Self {
            template,
            gateway,
            lambda,
            dynamodb,
            keys,
            api_keys,
            schedules,
            backfill,
            simulator,
            clock,
            logs,
            pools,
            files_url,
            listings,
        })
    }

    /// The base URL of the API, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.gateway.address())
    }

    /// The base URL of the public files, without a slash at its end, if there are any.
    #[must_use]
    pub fn files_url(&self) -> Option<&str> {
        self.files_url.as_deref()
    }

    /// The folder with the running auctions, in place of their bucket. It is not served.
    #[must_use]
    pub fn listings(&self) -> &Path {
        self.listings.path()
    }

    /// The base URL of the Invoke API and of API Gateway's control plane, without a slash at its end.
    #[must_use]
    pub fn lambda_url(&self) -> String {
        format!("http://{}", self.lambda.address())
    }

    /// The `DynamoDB` that the functions use.
    #[must_use]
    pub fn dynamodb(&self) -> &DynamoDb {
        &self.dynamodb
    }

    /// The initial keys, if the template has a table for them.
    #[must_use]
    pub fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// Creates a key of API Gateway with this value, attaches it to the usage plan of the tier, and returns
    /// its id. The key works at once. An existing key with this value keeps its id, and moves to the plan if
    /// it has another one. For tests that store an account themselves, without the function that creates its
    /// keys.
    ///
    /// # Errors
    /// When no usage plan has the tier, or API Gateway refuses the value.
    pub fn attach_key(&self, tier: &str, value: &str) -> Result<String, Error> {
        self.api_keys.attach(tier, &format!("{STACK}-{value}"), value).map_err(Error::new)
    }

    /// Invokes a function, which is named by its logical id or its binary, and returns its response to the
    /// event.
    ///
    /// # Errors
    /// When there is no such function, and when it does not respond; the reason is logged.
    pub async fn invoke(
        &self,
        function: &str,
        event: impl Into<Bytes> + Send,
    ) -> Result<Bytes, InvocationError> {
        let pool = self.pool(function)?;
        pool.invoke(event.into()).await.map_err(|failure| InvocationError::Failed {
            function: pool.function().logical_id.clone(),
            reason: failure.to_string(),
            payload: failure.payload(),
        })
    }

    /// Kills all processes of a function, as when its host dies, and waits until they have ended. Running
    /// invocations fail; the next invocation starts a new process.
    ///
    /// # Errors
    /// When there is no such function.
    pub async fn kill(&self, function: &str) -> Result<(), InvocationError> {
        self.pool(function)?.kill().await;
        Ok(())
    }

    /// Returns the running auctions, as a function opens them.
    ///
    /// # Errors
    /// When the folder is gone.
    pub fn open_listings(&self) -> Result<Listings, StartError> {
        let place = format!("file://{}", self.listings().display());
        Listings::of(&Config::from_lookup(move |name| (name == LISTINGS_VARIABLE).then(|| place.clone())))
    }

    /// Records a minute without auctions and names without items at the clock's time, for tests: without
    /// them, routes have no data to serve.
    ///
    /// # Errors
    /// When the table `History` does not respond, or the running auctions cannot be written.
    pub async fn record_no_items(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let now = UnixMilliseconds::new(self.clock.now_ms());
        let minute =
            Minute { last_updated: now, completed_at: None, prices: Vec::new(), lowest_auctions: Vec::new() };
        let table = Table::of_sdk(&self.dynamodb.sdk(), backfill::TABLE);
        let session = table.with_timeout(Duration::from_mins(1));
        record(session, Tick::of(now), &minute).await?;
        store(session, &Names { updated_at: now.into(), count: 0, items: Vec::new() }).await?;
        let stamp = Stamp { last_updated: now, completed_at: None, recorded_at: Tick::of(now).time() };
        self.open_listings()?.replace(&Object { stamp, blocks: Vec::new() }, now).await?;
        Ok(())
    }

    fn pool(&self, function: &str) -> Result<&Arc<Pool>, InvocationError> {
        pool::find(&self.pools, function).ok_or_else(|| InvocationError::UnknownFunction(function.to_owned()))
    }

    #[must_use]
    pub fn simulator(&self) -> Option<&Simulator> {
        self.simulator.as_ref()
    }

    /// The time of requests and of the simulator.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The latest output of the functions, and the platform's log lines. A line may arrive a moment after the
    /// response.
    #[must_use]
    pub fn logs(&self) -> Vec<String> {
        self.logs.lines()
    }

    /// Stops everything and waits until all processes have ended.
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

async fn start_simulator(options: &Options) -> Result<Option<Simulator>, Error> {
    let Upstream::Simulator { seed } = options.upstream else { return Ok(None) };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let clock = options.clock.clone();
    let started = Simulator::start(simulator::Options { seed, address, clock }).await;
    started.map(Some).map_err(|cause| Error::new(format!("the simulator did not start: {cause}")))
}

fn open_files(options: &Options, gateway: &str) -> Result<Option<Arc<PublicFiles>>, Error> {
    if !options.public_files {
        return Ok(None);
    }
    PublicFiles::open(options.data.as_deref(), gateway)
        .map(|files| Some(Arc::new(files)))
        .map_err(|cause| Error::new(format!("cannot create the folder of the public files: {cause}")))
}

/// Starts to generate the past of a simulated game, if the template has the table `History`. Also returns the
/// signals for the first events of schedules.
fn start_backfill(
    options: &Options,
    template: &Template,
    dynamodb: &DynamoDb,
    logs: &Logs,
) -> (JoinSet<()>, AtStart) {
    let (newest_minutes, newest_minutes_stored) = watch::channel(false);
    // Nothing is sent: schedules hold the sender until the first minute is recorded.
    let (recording_minutes, minutes_recorded) = mpsc::channel(1);
    let mut backfill = JoinSet::new();
    if options.history > 0
        && let Upstream::Simulator { seed } = &options.upstream
        && let Some(table) = template.tables.get(backfill::TABLE)
    {
        backfill.spawn(backfill::run(backfill::Plan {
            days: options.history,
            seed: *seed,
            now_ms: options.clock.now_ms(),
            table: Table::of_sdk(&dynamodb.sdk(), &table.name),
            database: dynamodb.database().clone(),
            logs: logs.clone(),
            newest_minutes,
            minutes_recorded,
        }));
    }
    (backfill, AtStart { newest_minutes: newest_minutes_stored, minutes_recorded: recording_minutes })
}

/// Serves the public files under their prefix, and passes all other requests to the gateway.
fn serve(listener: TcpListener, gateway: Gateway, files: Option<Arc<PublicFiles>>) -> io::Result<Server> {
    let shared = Arc::new(gateway);
    Server::start(listener, true, move |request, client| {
        let gateway = Arc::clone(&shared);
        let files = files.clone();
        async move {
            match files {
                Some(files) if request.uri().path().starts_with(public_files::PREFIX) => {
                    files.respond(&request).await
                }
                _ => gateway.handle(request, client).await,
            }
        }
    })
}

/// Serves API Gateway's control plane under its paths, and passes all other requests to the Invoke API.
fn serve_lambda(listener: TcpListener, pools: Arc<Pools>, control_plane: ControlPlane) -> io::Result<Server> {
    let shared = Arc::new(control_plane);
    Server::start(listener, true, move |request, _| {
        let pools = Arc::clone(&pools);
        let control_plane = ControlPlane::has(request.uri().path()).then(|| Arc::clone(&shared));
        async move {
            match control_plane {
                Some(control_plane) => control_plane.handle(request).await,
                None => invoke_api::handle(pools, request).await,
            }
        }
    })
}

async fn listen(port: u16, option: &'static str) -> Result<TcpListener, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(cannot_listen(port, option))
}

/// Returns the base URL of the server that will use this listener.
fn url_of(listener: &TcpListener) -> io::Result<String> {
    listener.local_addr().map(|address| format!("http://{address}"))
}

fn cannot_listen(port: u16, option: &'static str) -> impl Fn(io::Error) -> Error {
    move |cause| {
        Error::new(format!(
            "cannot listen on port {port}: {cause}; choose another port with {option} (0 for a free one)"
        ))
    }
}

/// The functions' programs, by logical id.
async fn find_programs(options: &Options, template: &Template) -> Result<BTreeMap<String, PathBuf>, Error> {
    let functions = template.functions.values();
    let (programs, hint) = match &options.binaries {
        Binaries::Build { profile } => {
            let workspace = options.template.parent().unwrap_or(Path::new("."));
            let packages: BTreeSet<_> = functions.clone().map(|function| function.binary.clone()).collect();
            let hint = "its package has no binary of that name".to_owned();
            (build::build(workspace, profile, packages).await?, hint)
        }
        Binaries::Folder(folder) => {
            // A function starts in the folder of its program, where a relative path would not be found.
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let names =
                functions.clone().map(|function| (function.binary.clone(), folder.join(&function.binary)));
            let programs = names.filter(|(_, program)| program.is_file()).collect();
            (programs, format!("it is not in {}", folder.display()))
        }
    };
    functions
        .map(|function| match programs.get(&function.binary) {
            Some(program) => Ok((function.logical_id.clone(), program.clone())),
            None => {
                Err(Error::new(format!("{} has no binary {}: {hint}", function.logical_id, function.binary)))
            }
        })
        .collect()
}

fn pools_of(
    options: &Options,
    template: &Template,
    programs: BTreeMap<String, PathBuf>,
    endpoints: &[(&str, String)],
    places: Places<'_>,
    logs: &Logs,
) -> Arc<Pools> {
    if options.sent_key().is_none() {
        logs.push(&format!(
            "local: {KEY_VARIABLE} is not set: the provider serves no profiles without a key"
        ));
    }
    let concurrency = options.concurrency.get().into();
    let pool = |(logical_id, program): (String, PathBuf)| {
        let mut function = template.functions.get(&logical_id)?.clone();
        complete(&mut function, options, places, endpoints, logs);
        Some((logical_id, Arc::new(Pool::new(function, program, concurrency, logs.clone()))))
    };
    Arc::new(programs.into_iter().filter_map(pool).collect())
}

/// The folders in place of buckets.
#[derive(Clone, Copy)]
struct Places<'a> {
    files: Option<&'a PublicFiles>,
    listings: &'a Folder,
}

/// Completes the function's environment: sets the upstream API key, the places of files, the address of the
/// public ones, and the delay of new keys; and overrides the template's endpoints.
fn complete(
    function: &mut Function,
    options: &Options,
    Places { files, listings }: Places<'_>,
    endpoints: &[(&str, String)],
    logs: &Logs,
) {
    let listings = listings.variable();
    let place = files.map_or_else(String::new, PublicFiles::variable);
    // Browsers resolve a relative address, also behind a proxy. Readers of the index use the address as it
    // is.
    let is_index = function.binary == INDEX.function;
    let relative = public_files::PREFIX.trim_matches('/');
    let delay = options.gateway_key_delay.as_secs().to_string();
    let address = files.map_or("", |files| if is_index { files.url() } else { relative });
    function.environment.retain(|name, value| {
        let resolved = match name.as_str() {
            FILES_VARIABLE => Some(place.as_str()),
            LISTINGS_VARIABLE => Some(listings.as_str()),
            FILES_ADDRESS_VARIABLE => Some(address),
            DELAY_VARIABLE => Some(delay.as_str()),
            _ if !value.starts_with(DYNAMIC_REFERENCE) => return true,
            KEY_VARIABLE => options.sent_key(),
            _ => {
                let binary = &function.binary;
                logs.push(&format!(
                    "local: {binary}: {name} is not set: the local cloud does not have this secret"
                ));
                None
            }
        };
        resolved.inspect(|resolved| (*resolved).clone_into(value)).is_some()
    });
    let endpoints = endpoints.iter().map(|(variable, url)| ((*variable).to_owned(), url.clone()));
    function.environment.extend(endpoints);
}
