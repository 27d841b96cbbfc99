//! The store of the files: a bucket in S3, or a folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::config::{Config, ConfigError};
use common::lambda::StartError;
use common::time::UnixSeconds;
use common::upstream::http;
use futures_util::TryStreamExt;
use libdeflater::{CompressionLvl, Compressor};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
    UpdateVersion,
};

use crate::connector::Connector;

/// The timeout of one request to S3.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for all attempts of a request.
const RETRY_TIMEOUT: Duration = Duration::from_secs(8);
/// The maximum number of retries of a request.
const RETRIES: usize = 2;

/// The `Cache-Control` header of every file. A CDN keeps a file as long as clients do: for a minute, and for up to an hour while the
/// store fails.
const CACHE_CONTROL: &str = "public, max-age=60, stale-if-error=3600";

/// gzip level 6 takes a fifth of the time of the highest level, and produces 2 % more bytes.
const LEVEL: i32 = 6;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bucket or folder did not accept the request.
    #[error("the public files cannot be read or written")]
    Store(#[from] object_store::Error),
    /// The folder cannot be locked.
    #[error("the folder of the public files cannot be locked")]
    Lock(#[from] io::Error),
    /// The content cannot be written as JSON.
    #[error("the content cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The content cannot be compressed.
    #[error("the content cannot be compressed")]
    Compression,
}

/// The forms in which a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One file. It is compressed if its name ends with `.gz`. Otherwise, a CDN compresses it for clients that accept compression.
    Plain,
    /// Two files: one uncompressed, and one compressed with the suffix `.gz`.
    Both,
}

impl Form {
    const fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &[""],
            Self::Both => &["", ".gz"],
        }
    }
}

/// The stored version of a file, which a run looks up before it reads the data of the next version.
#[derive(Debug)]
pub struct Seen {
    name: String,
    /// The suffix and the version of each form; `None` if the form does not exist.
    versions: Vec<(&'static str, Option<Version>)>,
}

/// A version of a stored file: its entity tag, and when it was written.
#[derive(Debug)]
struct Version {
    e_tag: Option<String>,
    written_at: UnixSeconds,
}

impl From<ObjectMeta> for Version {
    fn from(file: ObjectMeta) -> Self {
        Self { e_tag: file.e_tag, written_at: UnixSeconds::new(file.last_modified.timestamp()) }
    }
}

impl Seen {
    /// Whether a form of the file does not exist, or was written before `time`.
    #[must_use]
    pub fn is_older_than(&self, time: UnixSeconds) -> bool {
        let is_older =
            |version: &Option<Version>| version.as_ref().is_none_or(|version| version.written_at < time);
        self.versions.iter().any(|(_, version)| is_older(version))
    }
}

/// The public files.
#[derive(Debug)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
    /// A folder has no conditional writes. Instead, a process locks this file, which is beside the folder, while it writes.
    lock: Option<PathBuf>,
}

impl Files {
    /// Returns the public files of a function; `None` if they are off.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up, or `PUBLIC_FILES` or the credentials in the environment cannot be used.
    pub fn of(config: &Config) -> Result<Option<Self>, StartError> {
        let Some(url) = &config.public_files else { return Ok(None) };
        let unusable =
            || ConfigError::new("PUBLIC_FILES", "a folder that exists, or a bucket with credentials");
        if url.scheme() == "file" {
            let folder = url.to_file_path().map_err(|()| unusable())?;
            let lock = Some(folder.with_extension("lock"));
            let store = LocalFileSystem::new_with_prefix(folder).map_err(|_| unusable())?;
            return Ok(Some(Self { store: Arc::new(store), lock }));
        }
        let client = http::client(|client| client.timeout(REQUEST_TIMEOUT))?;
        let retries =
            RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(url.host_str().unwrap_or_default())
            .with_region(&config.aws_region)
            .with_retry(retries)
            .with_http_connector(Connector(client));
        for (variable, key) in [
            ("AWS_ACCESS_KEY_ID", AmazonS3ConfigKey::AccessKeyId),
            ("AWS_SECRET_ACCESS_KEY", AmazonS3ConfigKey::SecretAccessKey),
            ("AWS_SESSION_TOKEN", AmazonS3ConfigKey::Token),
            ("AWS_ENDPOINT_URL", AmazonS3ConfigKey::Endpoint),
            ("AWS_ENDPOINT_URL_S3", AmazonS3ConfigKey::Endpoint),
        ] {
            // An empty variable counts as unset.
            if let Some(value) = std::env::var(variable).ok().filter(|value| !value.is_empty()) {
                builder = builder.with_config(key, value);
            }
        }
        let store = builder.build().map_err(|_| unusable())?;
        Ok(Some(Self { store: Arc::new(store), lock: None }))
    }

    /// Returns the stored version of the file.
    ///
    /// # Errors
    /// If the store does not answer in time.
    pub async fn seen(&self, name: &str, form: Form) -> Result<Seen, Error> {
        let mut versions = Vec::new();
        for suffix in form.suffixes() {
            versions.push((*suffix, self.version(&format!("{name}{suffix}")).await?));
        }
        Ok(Seen { name: name.to_owned(), versions })
    }

    /// Returns the stored version and the content of the file; `None` as the content if the file does not exist.
    ///
    /// # Errors
    /// If the store does not answer in time.
    pub async fn read(&self, name: &str) -> Result<(Seen, Option<Vec<u8>>), Error> {
        let (version, content) = match self.store.get(&Path::from(name)).await {
            Ok(file) => (Some(file.meta.clone().into()), Some(file.bytes().await?.to_vec())),
            Err(object_store::Error::NotFound { .. }) => (None, None),
            Err(error) => return Err(error.into()),
        };
        Ok((Seen { name: name.to_owned(), versions: vec![("", version)] }, content))
    }

    /// Writes all forms of the file. Returns `false` if another run has replaced a form since `seen` was looked up; that form is left
    /// alone.
    ///
    /// # Errors
    /// If the store does not answer in time. Each form then still has either its whole old or its whole new content.
    pub async fn replace(&self, seen: Seen, content: &[u8]) -> Result<bool, Error> {
        let mut is_written = true;
        for (suffix, version) in seen.versions {
            let name = format!("{}{suffix}", seen.name);
            let is_gzip = std::path::Path::new(&name).extension().is_some_and(|extension| extension == "gz");
            let (bytes, content_type) = if is_gzip {
                (gzip(content)?, "application/gzip")
            } else {
                (content.to_vec(), "application/json")
            };
            is_written &= self.put(&name, version, bytes, content_type).await?;
        }
        Ok(is_written)
    }

    /// Returns the names of the files in `folder`, without the name of the folder.
    ///
    /// # Errors
    /// If the store does not answer in time.
    pub async fn names(&self, folder: &str) -> Result<BTreeSet<String>, Error> {
        let files = self.store.list(Some(&Path::from(folder)));
        let name = |file: ObjectMeta| file.location.filename().unwrap_or_default().to_owned();
        Ok(files.map_ok(name).try_collect().await?)
    }

    async fn version(&self, name: &str) -> Result<Option<Version>, Error> {
        match self.store.head(&Path::from(name)).await {
            Ok(file) => Ok(Some(file.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn put(
        &self,
        name: &str,
        version: Option<Version>,
        bytes: Vec<u8>,
        content_type: &'static str,
    ) -> Result<bool, Error> {
        let e_tag = version.map(|version| version.e_tag);
        let mut options = PutOptions::default();
        let lock = self.lock.as_ref().map(File::create).transpose()?;
        if let Some(lock) = &lock {
            lock.lock()?;
            if self.version(name).await?.map(|version| version.e_tag) != e_tag {
                return Ok(false);
            }
        } else {
            options.mode = match e_tag {
                Some(e_tag) => PutMode::Update(UpdateVersion { e_tag, version: None }),
                None => PutMode::Create,
            };
            options.attributes = Attributes::from_iter([
                (Attribute::ContentType, content_type),
                (Attribute::CacheControl, CACHE_CONTROL),
            ]);
        }
        match self.store.put_opts(&Path::from(name), bytes.into(), options).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::Precondition { .. } | object_store::Error::AlreadyExists { .. }) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the compressed content, for a file with the suffix `.gz`. The same content always gives the same bytes.
///
/// # Errors
/// If the content cannot be compressed.
pub fn gzip(content: &[u8]) -> Result<Vec<u8>, Error> {
    let level = CompressionLvl::new(LEVEL).unwrap_or_default();
    let mut compressor = Compressor::new(level);
    let mut compressed = vec![0; compressor.gzip_compress_bound(content.len())];
    let length = compressor.gzip_compress(content, &mut compressed).map_err(|_| Error::Compression)?;
    compressed.truncate(length);
    Ok(compressed)
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;

    /// The public files in a new folder.
    pub(crate) fn files(folder: &TempDir) -> Files {
        let place = format!("file://{}", folder.path().display());
        let config = Config::from_lookup(|name| (name == "PUBLIC_FILES").then(|| place.clone()));
        Files::of(&config.unwrap()).unwrap().unwrap()
    }

    #[tokio::test]
    async fn only_the_version_that_was_seen_is_replaced() {
        let folder = TempDir::new().unwrap();
        let files = files(&folder);
        let [first, second] =
            [files.seen("a/b.json", Form::Both).await, files.seen("a/b.json", Form::Both).await];
        let later = files.seen("a/b.json", Form::Both).await.unwrap();
        assert!(files.replace(second.unwrap(), b"[2]").await.unwrap());
        assert!(
            !files.replace(first.unwrap(), b"[1, 1]").await.unwrap(),
            "the file was written after it was seen"
        );
        let content = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!(content("a/b.json"), b"[2]");
        assert_eq!(content("a/b.json.gz"), gzip(b"[2]").unwrap());
        assert!(!files.replace(later, b"[3]").await.unwrap(), "the file did not exist when it was seen");
        let seen = files.seen("a/b.json", Form::Both).await.unwrap();
        assert!(!seen.is_older_than(UnixSeconds::new(0)) && seen.is_older_than(UnixSeconds::new(i64::MAX)));
        assert!(files.replace(seen, b"[4, 4]").await.unwrap());
        assert_eq!(content("a/b.json"), b"[4, 4]");
        assert_eq!(files.names("a").await.unwrap(), ["b.json", "b.json.gz"].map(str::to_owned).into());
    }

    #[test]
    fn a_place_that_cannot_be_used_is_an_error_and_none_is_no_files() {
        let of = |place: &str| {
            Config::from_lookup(|name| (name == "PUBLIC_FILES").then(|| place.to_owned()))
                .map_err(StartError::from)
                .and_then(|config| Files::of(&config))
        };
        assert!(matches!(of(""), Ok(None)));
        for place in ["file:///does/not/exist", "https://example.com", "s3:///key", "bucket"] {
            let error = of(place).unwrap_err().to_string();
            assert!(error.contains("PUBLIC_FILES") && !error.contains(place), "{error}");
        }
    }
}
