//! `DynamoDB` in this process. The crate `dynamodb` implements it; this layer adds faults on demand, counts
//! requests, and sums up consumed capacity.

mod capacity;
mod fault;
mod response;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dynamodb::operation;
use dynoxide::Database;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, http::request};
use serde_json::{Value, json};
use simulator::Clock;
use tables::SdkConfig;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::capacity::Consumed;
pub use self::fault::Fault;
use self::fault::Faults;
pub use self::response::Refusal;
use crate::arn::REGION;
use crate::error::Error;
use crate::server::{self, Body, CloseConnection, Server};
use crate::template::Table;

/// `DynamoDB`'s limit for a request.
const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;
/// The file with the database in the folder of `--data`.
const FILE: &str = "dynamodb.sqlite";
/// The file in the folder of `--data` that a running cloud locks.
const LOCK_FILE: &str = "lock";
/// Expired items are first deleted `FIRST_EXPIRY` after the start, then every `EXPIRY_INTERVAL`. With a
/// million rows, a deletion takes half a minute of processor time. On AWS, expired items can stay for days.
const FIRST_EXPIRY: Duration = Duration::from_mins(10);
const EXPIRY_INTERVAL: Duration = Duration::from_hours(6);

pub struct DynamoDb {
    server: Server,
    shared: Arc<Shared>,
    expiry: Option<JoinHandle<()>>,
    /// Keeps other clouds from using the folder of `--data`.
    lock: Option<Lock>,
}

/// The lock of the folder of `--data`.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process that is being started can have the file open for a moment, so closing the file
        // would not release the lock.
        let _ = self.0.unlock();
    }
}

struct Shared {
    database: Database,
    faults: Faults,
    requests: Counts,
    /// The requests that were carried out without a fault.
    carried_out: Counts,
    consumed: Mutex<Consumed>,
}

/// Numbers of requests by operation.
type Counts = Mutex<BTreeMap<String, u64>>;

impl DynamoDb {
    /// Creates the tables and listens. `expires`: expired items are deleted regularly.
    ///
    /// # Errors
    /// When the database in `data` cannot be used, or `DynamoDB` refuses a table.
    pub(crate) fn start<'table>(
        listener: TcpListener,
        data: Option<&Path>,
        expires: bool,
        clock: &Clock,
        tables: impl Iterator<Item = &'table Table>,
    ) -> Result<Self, Error> {
        let lock = data.map(lock).transpose()?;
        let database = match data {
            Some(folder) => open(folder).map_err(|reason| unusable(folder, reason))?,
            None => Database::memory_with_clock(Arc::new(TableClock(clock.clone()))).map_err(failed)?,
        };
        for table in tables {
            create(&database, table, data)?;
        }
        let expiry = expires.then(|| tokio::spawn(expire_regularly(database.clone())));
        let mut dynamodb = Self::serve(listener, database)?;
        (dynamodb.expiry, dynamodb.lock) = (expiry, lock);
        Ok(dynamodb)
    }

    /// Serves the database. Its tables are unchanged, and expired items stay.
    pub fn serve(listener: TcpListener, database: Database) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            database,
            faults: Faults::default(),
            requests: Mutex::default(),
            carried_out: Mutex::default(),
            consumed: Mutex::default(),
        });
        let state = Arc::clone(&shared);
        // Without half_close: a fault could keep the request of a disconnected client hanging.
        let server = Server::start(listener, false, move |request, _| respond(Arc::clone(&state), request))
            .map_err(failed)?;
        Ok(Self { server, shared, expiry: None, lock: None })
    }

    /// The base URL, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// The embedded database, for bulk access. Faults do not apply to it, and nothing is counted.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.shared.database
    }

    /// The SDK's configuration for requests from this process. Faults do not apply to them, and nothing is
    /// counted.
    #[must_use]
    pub fn sdk(&self) -> SdkConfig {
        dynamodb::sdk(self.shared.database.clone(), REGION)
    }

    /// Applies `fault` to matching requests from now on. If several faults match, the fault that was set
    /// first applies.
    pub fn set_fault(&self, fault: Fault) {
        self.shared.faults.add(fault);
    }

    /// Removes all faults. Requests that already hang continue to hang.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// The number of requests for `operation`, such as `Query`, since the start.
    #[must_use]
    pub fn requests(&self, operation: &str) -> u64 {
        number(&self.shared.requests, operation)
    }

    /// The number of requests for `operation` that have been carried out without a fault.
    #[must_use]
    pub fn carried_out(&self, operation: &str) -> u64 {
        number(&self.shared.carried_out, operation)
    }

    /// The capacity consumed since the start, by requests with `ReturnConsumedCapacity`.
    #[must_use]
    pub fn consumed(&self) -> Consumed {
        *self.shared.consumed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes expired items, which otherwise happens every few hours, and returns their number. A database
    /// in memory uses the cloud's clock, a database in a folder the system's clock.
    pub async fn expire(&self) -> Result<usize, Error> {
        let database = self.shared.database.clone();
        match tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
            Ok(swept) => swept.map_err(failed),
            Err(ended) => Err(failed(ended)),
        }
    }
}

impl Drop for DynamoDb {
    fn drop(&mut self) {
        if let Some(expiry) = &self.expiry {
            expiry.abort();
        }
    }
}

/// The cloud's clock, for the database.
struct TableClock(Clock);

impl dynoxide::storage_backend::Clock for TableClock {
    fn now_unix_secs(&self) -> u64 {
        u64::try_from(self.0.now_ms() / 1000).unwrap_or_default()
    }

    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit into 53 bits")]
    fn now_unix_secs_f64(&self) -> f64 {
        self.0.now_ms() as f64 / 1000.0
    }
}

/// Creates the folder if necessary, and locks it until the returned value is dropped.
///
/// # Errors
/// When the folder cannot be used, or another cloud uses it.
fn lock(folder: &Path) -> Result<Lock, Error> {
    std::fs::create_dir_all(folder).map_err(|error| unusable(folder, error))?;
    let file = File::create(folder.join(LOCK_FILE)).map_err(|error| unusable(folder, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(unusable(folder, "another local cloud uses it")),
        Err(TryLockError::Error(error)) => Err(unusable(folder, error)),
    }
}

/// # Errors
/// A sentence about why the folder cannot be used.
fn open(folder: &Path) -> Result<Database, String> {
    let path = folder.join(FILE);
    let file = path.to_str().ok_or("its name is not UTF-8")?;
    let database = Database::new(file).map_err(|error| error.to_string())?;
    // Without bulk loading, each row waits for the disk. A development tool need not survive a power failure.
    database.enable_bulk_loading().map_err(|error| error.to_string())?;
    Ok(database)
}

fn failed(error: impl Display) -> Error {
    Error::new(format!("the embedded DynamoDB failed: {error}"))
}

fn unusable(folder: &Path, reason: impl Display) -> Error {
    Error::new(format!(
        "cannot keep data in {}: {reason}; choose another folder with --data",
        folder.display()
    ))
}

/// Creates the table, unless an earlier run created it.
fn create(database: &Database, table: &Table, data: Option<&Path>) -> Result<(), Error> {
    let place = format!("{}.Properties", table.logical_id);
    let invalid = |reason: &dyn Display| Error::template(&place, reason);
    let metadata = database.get_table_metadata(&table.name).map_err(failed)?;
    let time_to_live = match metadata {
        None => {
            let request =
                serde_json::from_value(table.definition.clone()).map_err(|error| invalid(&error))?;
            database.create_table(request).map_err(|error| invalid(&error))?;
            None
        }
        Some(metadata) => {
            let found = serde_json::from_str::<Value>(&metadata.key_schema).unwrap_or_default();
            if Some(&found) != table.definition.get("KeySchema") {
                let reason = format!("the key of its table {} differs from the template's", table.name);
                return Err(unusable(data.unwrap_or(Path::new(".")), reason));
            }
            if metadata.ttl_enabled { metadata.ttl_attribute } else { None }
        }
    };
    if time_to_live == table.time_to_live {
        return Ok(());
    }
    let Some(attribute) = table.time_to_live.as_ref().or(time_to_live.as_ref()) else { return Ok(()) };
    let request = json!({
        "TableName": table.name,
        "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": table.time_to_live.is_some()},
    });
    let request = serde_json::from_value(request).map_err(|error| invalid(&error))?;
    database.update_time_to_live(request).map(drop).map_err(|error| invalid(&error))
}

async fn expire_regularly(database: Database) {
    tokio::time::sleep(FIRST_EXPIRY).await;
    loop {
        let database = database.clone();
        // On a separate thread, so that requests are handled meanwhile and the runtime can end without
        // waiting for the deletion. The result is ignored, because requests also show a failure of the
        // database.
        std::thread::spawn(move || database.sweep_ttl().map(drop));
        tokio::time::sleep(EXPIRY_INTERVAL).await;
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = match server::read(body, MAX_REQUEST_BYTES).await {
        Body::Complete(body) => body,
        Body::TooLarge => return server::empty_response(StatusCode::PAYLOAD_TOO_LARGE),
        Body::Incomplete => return server::empty_response(StatusCode::BAD_REQUEST),
    };
    let operation = operation(&parts.headers);
    count(&shared.requests, operation);
    let Some(fault) = shared.faults.next_for(operation) else {
        let response = shared.carry_out(operation, &parts, body).await;
        count(&shared.carried_out, operation);
        return response;
    };
    if !fault.delay.is_zero() {
        tokio::time::sleep(fault.delay).await;
    }
    if fault.hang {
        std::future::pending::<()>().await;
    }
    if fault.close {
        let mut response = Response::default();
        response.extensions_mut().insert(CloseConnection);
        return response;
    }
    if let Some(refusal) = fault.refusal {
        return refusal.response();
    }
    let Some(split) = fault.split(operation, &body) else {
        return shared.carry_out(operation, &parts, body).await;
    };
    // DynamoDB refuses a batch if it can process none of it.
    let Some(processed) = split.processed.clone() else {
        return Refusal::ProvisionedThroughputExceeded.response();
    };
    let response = shared.carry_out(operation, &parts, processed).await;
    split.complete(response).await
}

fn number(counts: &Counts, operation: &str) -> u64 {
    counts.lock().unwrap_or_else(PoisonError::into_inner).get(operation).copied().unwrap_or_default()
}

fn count(counts: &Counts, operation: &str) {
    *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(operation.to_owned()).or_default() += 1;
}

impl Shared {
    fn consume(&self, consumed: Consumed) {
        let mut total = self.consumed.lock().unwrap_or_else(PoisonError::into_inner);
        total.read_units += consumed.read_units;
        total.write_units += consumed.write_units;
    }

    async fn carry_out(&self, operation: &str, head: &request::Parts, body: Bytes) -> Response<Full<Bytes>> {
        let is_requested = capacity::is_requested(&body);
        let response = dynamodb::respond(&self.database, head, body).await;
        if is_requested {
            self.consume(capacity::of_response(operation, response.body()));
        }
        response.map(Full::new)
    }
}
