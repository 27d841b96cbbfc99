//! The embedded `DynamoDB` of the local cloud, and the program under test, which uses it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use dynoxide::Database;
use serde_json::{Value, json};

pub(crate) struct DynamoDb {
    pub(crate) database: Database,
    pub(crate) endpoint: String,
}

impl DynamoDb {
    /// Serves an empty database.
    pub(crate) fn serve() -> Self {
        let database = Database::memory().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let served = database.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let _server = local::DynamoDb::serve(listener, served).unwrap();
                std::future::pending::<()>().await;
            });
        });
        Self { database, endpoint }
    }

    pub(crate) fn create_table(&self, request: Value) {
        self.database.create_table(serde_json::from_value(request).unwrap()).unwrap();
    }

    pub(crate) fn rows(&self, table: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut request = json!({"TableName": table});
        loop {
            let page = self.database.scan(serde_json::from_value(request.clone()).unwrap()).unwrap();
            let page = serde_json::to_value(&page).unwrap();
            rows.extend(page["Items"].as_array().unwrap().iter().cloned());
            match &page["LastEvaluatedKey"] {
                Value::Null => return rows,
                last => request["ExclusiveStartKey"] = last.clone(),
            }
        }
    }

    pub(crate) fn put(&self, table: &str, row: &Value) {
        let request = json!({"TableName": table, "Item": row});
        self.database.put_item(serde_json::from_value(request).unwrap()).unwrap();
    }

    pub(crate) fn delete_row(&self, table: &str, key: &Value) {
        let request = json!({"TableName": table, "Key": key});
        self.database.delete_item(serde_json::from_value(request).unwrap()).unwrap();
    }
}

/// The program with this endpoint and no other configuration of the AWS SDK.
pub(crate) fn command(endpoint: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admin"));
    command.args(arguments).env_clear().env("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
    command.env("AWS_EC2_METADATA_DISABLED", "true").env("HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The program may exit before it has read everything.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().unwrap()
    })
}

/// A path of a new file for one test.
pub(crate) fn path(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{count}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
