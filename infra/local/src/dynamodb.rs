//! DynamoDB in this process, so that history is recorded and read without an account: `dynoxide` does the work, and this
//! layer in front of it does what DynamoDB does on bad days and an embedded database never does by itself.

mod batch_write;
mod capacity;
mod engine;
mod fault;
mod in_process;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dynoxide::Database;
use dynoxide::auth_material::{self, AuthMaterial};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, http::request};
use serde_json::{Value, json};
use simulator::Clock;
use tables::SdkConfig;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use self::capacity::Consumed;
use self::engine::Engine;
use self::fault::Faults;
pub use self::fault::{Fault, Refusal};
use crate::Error;
use crate::server::{self, Body, CloseUnanswered, Server};
use crate::template::Table;

/// DynamoDB's bound on a request.
const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;
const JSON: &str = "application/x-amz-json-1.0";
/// The file in the folder of `--data`.
const FILE: &str = "dynamodb.sqlite";
/// When what has expired is deleted, counted from the start. `DynamoDB` takes up to days; each time costs half a minute of
/// one processor for a million rows.
const FIRST_EXPIRY: Duration = Duration::from_mins(10);
const EXPIRY_INTERVAL: Duration = Duration::from_hours(6);

/// The local cloud's `DynamoDB`.
pub struct DynamoDb {
    server: Server,
    shared: Arc<Shared>,
    expiry: JoinHandle<()>,
}

struct Shared {
    database: Database,
    engine: Engine,
    faults: Faults,
    requests: Mutex<BTreeMap<String, u64>>,
    consumed: Mutex<Consumed>,
}

impl DynamoDb {
    /// Listens, with the tables in place.
    ///
    /// # Errors
    /// When there is no database in `data`, or when `DynamoDB` would not create such tables.
    pub(crate) fn start<'table>(
        listener: TcpListener,
        data: Option<&Path>,
        clock: &Clock,
        tables: impl Iterator<Item = &'table Table>,
    ) -> Result<Self, Error> {
        let database = match data {
            Some(folder) => open(folder)
                .map_err(|reason| Error::Data { path: folder.to_owned(), reason: one_line(&reason) })?,
            None => Database::memory_with_clock(Arc::new(TableClock(clock.clone())))
                .map_err(|error| Error::DynamoDb(one_line(&error.to_string())))?,
        };
        for table in tables {
            create(&database, table, data)?;
        }
        let engine =
            Engine::start(database.clone()).map_err(|error| Error::DynamoDb(one_line(&error.to_string())))?;
        let shared = Arc::new(Shared {
            database,
            engine,
            faults: Faults::default(),
            requests: Mutex::default(),
            consumed: Mutex::default(),
        });
        let state = Arc::clone(&shared);
        // A client that hung up must not be waited for: a fault may let its request wait forever.
        let server = Server::start(listener, false, move |request, _| answer(Arc::clone(&state), request))
            .map_err(|error| Error::DynamoDb(one_line(&error.to_string())))?;
        let expiry = tokio::spawn(expire_regularly(shared.database.clone()));
        Ok(Self { server, shared, expiry })
    }

    /// Where it listens, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// What it works with, for those who would be too slow over HTTP. Faults do not happen there, and nothing is counted.
    pub(crate) fn database(&self) -> &Database {
        &self.shared.database
    }

    /// What the SDK needs to know to reach it from this process. Faults do not happen there, and nothing is counted.
    pub(crate) fn sdk(&self) -> SdkConfig {
        in_process::sdk(Arc::clone(&self.shared))
    }

    /// From now on, `fault` happens to the requests that it is for. Several may be set: the one that was set first and is
    /// due happens.
    pub fn set_fault(&self, fault: Fault) {
        self.shared.faults.set(fault);
    }

    /// Ends every fault, except for requests that wait already.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// How many requests for `operation`, such as `Query`, have come since the start.
    #[must_use]
    pub fn requests(&self, operation: &str) -> u64 {
        let requests = self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(operation).copied().unwrap_or_default()
    }

    /// What was consumed since the start, by requests that asked to be told (`ReturnConsumedCapacity`).
    #[must_use]
    pub fn consumed(&self) -> Consumed {
        *self.shared.consumed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes what has expired, which otherwise happens every few hours, and returns how many items that were. In memory
    /// the cloud's clock counts, in a file the system's.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub async fn expire(&self) -> Result<usize, Error> {
        let database = self.shared.database.clone();
        match tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
            Ok(swept) => swept.map_err(|error| Error::DynamoDb(one_line(&error.to_string()))),
            Err(ended) => Err(Error::DynamoDb(one_line(&ended.to_string()))),
        }
    }
}

impl Drop for DynamoDb {
    fn drop(&mut self) {
        self.expiry.abort();
    }
}

/// The cloud's clock as the database reads it.
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

/// # Errors
/// A sentence about why there is no database in the folder.
fn open(folder: &Path) -> Result<Database, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let file = folder.join(FILE);
    let file = file.to_str().ok_or("its name is no UTF-8")?;
    let database = Database::new(file).map_err(|error| error.to_string())?;
    // Without it every row waits for the disk. What this gives up, surviving a power failure, a development tool can.
    database.enable_bulk_loading().map_err(|error| error.to_string())?;
    Ok(database)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Creates the table unless it is there from an earlier run.
fn create(database: &Database, table: &Table, data: Option<&Path>) -> Result<(), Error> {
    let broken = |reason: String| Error::Template {
        place: format!("{}.Properties", table.logical_id),
        reason: one_line(&reason),
    };
    let metadata =
        database.get_table_metadata(&table.name).map_err(|error| Error::DynamoDb(error.to_string()))?;
    let time_to_live = match metadata {
        None => {
            let request = serde_json::from_value(table.definition.clone())
                .map_err(|error| broken(error.to_string()))?;
            database.create_table(request).map_err(|error| broken(error.to_string()))?;
            None
        }
        Some(metadata) => {
            let found = serde_json::from_str::<Value>(&metadata.key_schema).unwrap_or_default();
            if Some(&found) != table.definition.get("KeySchema") {
                return Err(Error::Data {
                    path: data.unwrap_or(Path::new(".")).to_owned(),
                    reason: format!("its table {} has another key than the template", table.name),
                });
            }
            metadata.ttl_attribute.filter(|_| metadata.ttl_enabled)
        }
    };
    if time_to_live == table.time_to_live {
        return Ok(());
    }
    let (attribute, enabled) = match (&table.time_to_live, &time_to_live) {
        (Some(attribute), _) => (attribute, true),
        (None, Some(attribute)) => (attribute, false),
        (None, None) => return Ok(()),
    };
    let request = json!({
        "TableName": table.name,
        "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": enabled},
    });
    let request = serde_json::from_value(request).map_err(|error| broken(error.to_string()))?;
    database.update_time_to_live(request).map(drop).map_err(|error| broken(error.to_string()))
}

async fn expire_regularly(database: Database) {
    tokio::time::sleep(FIRST_EXPIRY).await;
    loop {
        let database = database.clone();
        // A thread of its own: a runtime that ends waits for what runs on its threads. It lets requests through, and a
        // failure shows in them, too.
        std::thread::spawn(move || database.sweep_ttl().map(drop));
        tokio::time::sleep(EXPIRY_INTERVAL).await;
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = match server::read(body, MAX_REQUEST_BYTES).await {
        Body::Whole(body) => body,
        Body::TooLarge => return bare(StatusCode::PAYLOAD_TOO_LARGE),
        Body::Broken => return bare(StatusCode::BAD_REQUEST),
    };
    let operation = operation(&parts.headers);
    shared.count(operation);
    let Some(fault) = shared.faults.take(operation) else {
        return shared.carry_out(operation, &parts, body).await;
    };
    if !fault.delay.is_zero() {
        tokio::time::sleep(fault.delay).await;
    }
    if fault.hang {
        std::future::pending::<()>().await;
    }
    if fault.close {
        let mut response = Response::default();
        response.extensions_mut().insert(CloseUnanswered);
        return response;
    }
    if let Some(refusal) = fault.refusal {
        return refuse(refusal);
    }
    let Some(split) = fault.split(operation, &body) else {
        return shared.carry_out(operation, &parts, body).await;
    };
    // DynamoDB refuses a batch of which it can process nothing.
    let Some(processed) = split.processed.clone() else {
        return refuse(Refusal::ProvisionedThroughputExceeded);
    };
    let answer = shared.carry_out(operation, &parts, processed).await;
    split.complete(answer).await
}

/// The operation that a request names, or nothing.
fn operation(headers: &HeaderMap) -> &str {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    target.rsplit_once('.').map_or("", |(_, operation)| operation)
}

impl Shared {
    fn count(&self, operation: &str) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        match requests.get_mut(operation) {
            Some(count) => *count += 1,
            None => drop(requests.insert(operation.to_owned(), 1)),
        }
    }

    fn consume(&self, consumed: Consumed) {
        *self.consumed.lock().unwrap_or_else(PoisonError::into_inner) += consumed;
    }

    async fn carry_out(&self, operation: &str, parts: &request::Parts, body: Bytes) -> Response<Full<Bytes>> {
        if operation == "BatchWriteItem"
            && is_plain(parts)
            && let Some(response) = self.write_batch(body.clone()).await
        {
            return response;
        }
        let asked = capacity::is_asked_for(&body);
        let Ok((head, body)) = self.engine.send(parts, body).await else {
            return refuse(Refusal::InternalServerError);
        };
        if asked {
            self.consume(capacity::of_answer(operation, &body));
        }
        Response::from_parts(head, Full::new(body))
    }

    /// Writes a batch without the way through the engine's server, which reads every request four times: this takes less
    /// than half as long. `None` for what only the server understands, and for what is refused, so that the server can say
    /// it in DynamoDB's words.
    async fn write_batch(&self, body: Bytes) -> Option<Response<Full<Bytes>>> {
        let database = self.database.clone();
        let write = move || database.batch_write_item(batch_write::read(&body)?).ok();
        let written = tokio::task::spawn_blocking(write).await.ok()??;
        self.consume(capacity::of_writes(written.consumed_capacity.as_deref().unwrap_or_default()));
        let body = serde_json::to_vec(&written).ok()?;
        Some(response(StatusCode::OK, Bytes::from(body)))
    }
}

/// Whether a request comes the way every SDK sends it. What does not is for the engine's server to judge.
fn is_plain(parts: &request::Parts) -> bool {
    let text = |name| parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let material = AuthMaterial {
        authorization: text(AUTHORIZATION.as_str()),
        query: parts.uri.query().unwrap_or_default(),
        has_date_header: parts.headers.contains_key("x-amz-date") || parts.headers.contains_key(DATE),
    };
    parts.method == Method::POST
        && parts.uri.path() == "/"
        && text(CONTENT_TYPE.as_str()) == Some(JSON)
        && !parts.headers.contains_key("origin")
        && auth_material::validate(material).is_none()
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Ok(request_id) = HeaderValue::try_from(Uuid::new_v4().simple().to_string()) {
        headers.insert("x-amzn-requestid", request_id);
    }
    response
}

fn refuse(refusal: Refusal) -> Response<Full<Bytes>> {
    let body = json!({"__type": refusal.qualified_name(), "message": refusal.message()});
    let mut response = response(refusal.status(), Bytes::from(body.to_string()));
    response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(refusal.name()));
    response
}

fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}
