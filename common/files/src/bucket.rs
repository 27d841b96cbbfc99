//! A bucket in S3, or a folder.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::config::{Config, ConfigError};
use common::lambda::StartError;
use common::upstream::http;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Attributes, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig,
    UpdateVersion,
};
use reqwest::Url;

use crate::connector::Connector;
use crate::error::Error;

/// The timeout of one request to S3.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for all attempts of a request.
const RETRY_TIMEOUT: Duration = Duration::from_secs(8);
/// The maximum number of retries of a request.
const RETRIES: usize = 2;

/// The entity tag of an object, or `None` if the store gives none.
pub(crate) type Tag = Option<String>;

pub(crate) const PLACE: &str = "s3://BUCKET or file:///FOLDER";

fn place(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| match url.scheme() {
        "s3" => url.host_str().is_some() && matches!(url.path(), "" | "/"),
        scheme => scheme == "file",
    })
}

#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// A folder has no conditional writes. Instead, a process locks this file, which is beside the folder,
    /// while it writes.
    lock: Option<PathBuf>,
}

impl Bucket {
    /// Returns the bucket or folder that the variable names; `None` if it is unset.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up, or the place or the credentials in the environment cannot be used.
    pub(crate) fn open(variable: &'static str, config: &Config) -> Result<Option<Self>, StartError> {
        let Some(place) = config.value(variable, PLACE, place)? else { return Ok(None) };
        let unusable = || ConfigError::new(variable, "a folder that exists, or a bucket with credentials");
        if place.scheme() == "file" {
            let folder = place.to_file_path().map_err(|()| unusable())?;
            let lock = Some(folder.with_added_extension("lock"));
            let store = LocalFileSystem::new_with_prefix(folder).map_err(|_| unusable())?;
            return Ok(Some(Self { store: Arc::new(store), lock }));
        }
        let client = http::client(|client| client.timeout(REQUEST_TIMEOUT))?;
        let retries =
            RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(place.host_str().unwrap_or_default())
            .with_region(config.region())
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

    /// Returns the stored version of the object; `None` if it does not exist.
    pub(crate) async fn find(&self, name: &str) -> Result<Option<ObjectMeta>, Error> {
        match self.store.head(&Path::from(name)).await {
            Ok(object) => Ok(Some(object)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces the version of the object with the tag `before`, `None` if it does not exist, and returns the
    /// new tag. Returns `None` if another run has replaced the object.
    pub(crate) async fn put(
        &self,
        name: &str,
        before: Option<Tag>,
        content: PutPayload,
        attributes: Attributes,
    ) -> Result<Option<Tag>, Error> {
        let mut options = PutOptions::default();
        let lock = self.lock.as_ref().map(File::create).transpose()?;
        if let Some(lock) = &lock {
            lock.lock()?;
            if self.find(name).await?.map(|object| object.e_tag) != before {
                return Ok(None);
            }
        } else {
            options.mode = match before {
                Some(e_tag) => PutMode::Update(UpdateVersion { e_tag, version: None }),
                None => PutMode::Create,
            };
            options.attributes = attributes;
        }
        match self.store.put_opts(&Path::from(name), content, options).await {
            Ok(written) => Ok(Some(written.e_tag)),
            Err(object_store::Error::Precondition { .. } | object_store::Error::AlreadyExists { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_whole_bucket_or_a_folder() {
        for text in ["s3://bucket", "s3://bucket/", "file:///folder"] {
            assert!(place(text).is_some(), "{text}");
        }
        for text in ["s3://", "s3://bucket/folder", "https://bucket", "folder"] {
            assert!(place(text).is_none(), "{text}");
        }
    }
}
