//! Reads and replaces the object.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use common::config::{Config, ConfigError};
use common::gzip::unpack;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use object_store::path::Path;
use object_store::{Attributes, GetOptions, GetRange, ObjectMeta, ObjectStore};
use tokio::time::{timeout, timeout_at};

use super::index::{Index, LARGEST, TAIL};
use super::listing::Listing;
use super::object::Object;
use super::stamp::Stamp;
use crate::bucket::{Bucket, PLACE, Tag};
use crate::error::Error;

const NAME: &str = "listings";

const VARIABLE: &str = "LISTINGS";

/// The time limit of the first connection.
const WARM_UP: Duration = Duration::from_secs(2);

/// The maximum number of attempts to replace the object. An attempt fails if another run replaces it at the
/// same time.
const ATTEMPTS: usize = 3;

/// The place of the running auctions.
#[derive(Debug)]
pub struct Listings {
    bucket: Bucket,
    /// The version that this process has written last.
    written: Mutex<Option<Version>>,
}

#[derive(Debug)]
struct Version {
    /// `None` if the object is corrupt.
    stamp: Option<Stamp>,
    tag: Tag,
}

impl Listings {
    /// Returns the running auctions of a function.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up, or `LISTINGS` or the credentials in the environment cannot be used.
    pub fn of(config: &Config) -> Result<Self, StartError> {
        let bucket = Bucket::open(VARIABLE, config)?.ok_or(ConfigError::new(VARIABLE, PLACE))?;
        Ok(Self { bucket, written: Mutex::default() })
    }

    /// Opens the connection that the first request needs.
    pub async fn warm_up(&self) {
        // A failure will show again at the first request. While S3 fails, a function must still start within
        // Lambda's ten seconds.
        let _ = timeout(WARM_UP, self.bucket.find(NAME)).await;
    }

    /// Returns the index of the newest version.
    ///
    /// # Errors
    /// If the store does not answer in time, or the object is missing or corrupt.
    pub async fn index(&self, invocation: &Invocation) -> Result<Index, Error> {
        in_time(invocation, self.newest()).await
    }

    /// Returns the auctions of an id, cheapest first; `None` if the id is not in the index.
    ///
    /// # Errors
    /// [`Error::Replaced`] if the index is of an earlier version. Otherwise, if the store does not answer in
    /// time, or the object is missing or corrupt.
    pub async fn auctions(
        &self,
        invocation: &Invocation,
        index: &Index,
        id: &AuctionItemId,
    ) -> Result<Option<Vec<Listing>>, Error> {
        let Some(range) = index.blocks.get(id) else { return Ok(None) };
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: index.tag.clone(),
            ..GetOptions::default()
        };
        let (block, _) = in_time(invocation, self.get(options)).await?;
        let content = unpack(&block, LARGEST).ok_or(Error::Corrupt("a block cannot be unpacked"))?;
        Ok(Some(serde_json::from_slice(&content)?))
    }

    /// Replaces the object at the time `now`. Returns `false` if the stored auctions are of a later time, or
    /// if other runs replace the object during every attempt.
    ///
    /// # Errors
    /// If the store does not answer. The object then still has either its whole old or its whole new content.
    pub async fn replace(&self, object: &Object, now: UnixMilliseconds) -> Result<bool, Error> {
        let content = object.content()?;
        let mut before = self.written().take();
        for _ in 0..ATTEMPTS {
            if before.is_none() {
                before = self.stored().await?;
            }
            if before
                .as_ref()
                .and_then(|before| before.stamp)
                .is_some_and(|stamp| stamp.stays(&object.stamp, now))
            {
                return Ok(false);
            }
            let tag = before.take().map(|before| before.tag);
            if let Some(tag) = self.bucket.put(NAME, tag, content.clone(), Attributes::default()).await? {
                *self.written() = Some(Version { stamp: Some(object.stamp), tag });
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn written(&self) -> MutexGuard<'_, Option<Version>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn newest(&self) -> Result<Index, Error> {
        let options = GetOptions { range: Some(GetRange::Suffix(TAIL)), ..GetOptions::default() };
        let (end, object) = self.get(options).await?;
        Index::parse(&end, object.size, object.e_tag)
    }

    /// Returns the stored version; `None` if there is no object.
    async fn stored(&self) -> Result<Option<Version>, Error> {
        match self.newest().await {
            Ok(index) => Ok(Some(Version { stamp: Some(index.stamp), tag: index.tag })),
            Err(Error::Store(object_store::Error::NotFound { .. })) => Ok(None),
            Err(Error::Corrupt(_) | Error::Json(_)) => {
                let object = self.bucket.find(NAME).await?;
                Ok(object.map(|object| Version { stamp: None, tag: object.e_tag }))
            }
            // S3 has no end of an empty object.
            Err(error) => match self.bucket.find(NAME).await? {
                Some(object) if object.size == 0 => Ok(Some(Version { stamp: None, tag: object.e_tag })),
                _ => Err(error),
            },
        }
    }

    async fn get(&self, options: GetOptions) -> Result<(Bytes, ObjectMeta), Error> {
        let object = self.bucket.store.get_opts(&Path::from(NAME), options).await?;
        let meta = object.meta.clone();
        Ok((object.bytes().await?, meta))
    }
}

/// Awaits the response until the deadline for a client's request.
async fn in_time<T>(
    invocation: &Invocation,
    response: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let response = timeout_at(invocation.upstream_deadline(), response);
    invocation.waiting_for(response).await.unwrap_or(Err(Error::Timeout))
}
