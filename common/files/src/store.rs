//! The public files: their names, forms and versions.

use std::collections::BTreeSet;

use common::config::Config;
use common::gzip::Gzip;
use common::lambda::StartError;
use common::time::UnixSeconds;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Attribute, Attributes, ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::bucket::{Bucket, Tag};
use crate::error::Error;

/// The `Cache-Control` header of every file. A CDN keeps a file as long as clients do: for a minute, and for
/// up to an hour while the store fails.
const CACHE_CONTROL: &str = "public, max-age=60, stale-if-error=3600";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One file. It is compressed if its name ends with `.gz`. Otherwise, a CDN compresses it for clients
    /// that accept compression.
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
    e_tag: Tag,
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

/// The variable with the place of the public files. Without it, the service has no public files.
const VARIABLE: &str = "PUBLIC_FILES";

#[derive(Debug)]
pub struct Files(Bucket);

impl Files {
    /// Returns the public files of a function; `None` if they are off.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up, or `PUBLIC_FILES` or the credentials in the environment cannot be
    /// used.
    pub fn of(config: &Config) -> Result<Option<Self>, StartError> {
        Ok(Bucket::open(VARIABLE, config)?.map(Self))
    }

    pub async fn seen(&self, name: &str, form: Form) -> Result<Seen, Error> {
        let mut versions = Vec::new();
        for suffix in form.suffixes() {
            versions.push((*suffix, self.version(&format!("{name}{suffix}")).await?));
        }
        Ok(Seen { name: name.to_owned(), versions })
    }

    /// Returns the stored version and the content of the file; `None` as the content if the file does not
    /// exist.
    pub async fn read(&self, name: &str) -> Result<(Seen, Option<Vec<u8>>), Error> {
        let (version, content) = match self.0.store.get(&Path::from(name)).await {
            Ok(file) => (Some(file.meta.clone().into()), Some(file.bytes().await?.to_vec())),
            Err(object_store::Error::NotFound { .. }) => (None, None),
            Err(error) => return Err(error.into()),
        };
        Ok((Seen { name: name.to_owned(), versions: vec![("", version)] }, content))
    }

    /// Writes all forms of the file. Returns `false` if another run has replaced a form since `seen` was
    /// looked up; that form is left alone.
    ///
    /// # Errors
    /// If the store does not answer in time. Each form then still has either its whole old or its whole new
    /// content.
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
    pub async fn names(&self, folder: &str) -> Result<BTreeSet<String>, Error> {
        let files = self.0.store.list(Some(&Path::from(folder)));
        let name = |file: ObjectMeta| file.location.filename().unwrap_or_default().to_owned();
        Ok(files.map_ok(name).try_collect().await?)
    }

    async fn version(&self, name: &str) -> Result<Option<Version>, Error> {
        Ok(self.0.find(name).await?.map(Version::from))
    }

    async fn put(
        &self,
        name: &str,
        version: Option<Version>,
        bytes: Vec<u8>,
        content_type: &'static str,
    ) -> Result<bool, Error> {
        let attributes = Attributes::from_iter([
            (Attribute::ContentType, content_type),
            (Attribute::CacheControl, CACHE_CONTROL),
        ]);
        let before = version.map(|version| version.e_tag);
        Ok(self.0.put(name, before, bytes.into(), attributes).await?.is_some())
    }
}

/// Returns the compressed content, as a file with the suffix `.gz` has it.
pub fn gzip(content: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Gzip::default().pack(content)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;

    /// The public files in a new folder.
    pub(crate) fn files(folder: &TempDir) -> Files {
        let place = format!("file://{}", folder.path().display());
        let config = Config::from_lookup(move |name| (name == VARIABLE).then(|| place.clone()));
        Files::of(&config).unwrap().unwrap()
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
        let of = |place: &'static str| {
            Files::of(&Config::from_lookup(move |name| (name == VARIABLE).then(|| place.to_owned())))
        };
        assert!(matches!(of(""), Ok(None)));
        for place in ["file:///does/not/exist", "https://example.com", "s3:///key", "bucket"] {
            let error = of(place).unwrap_err().to_string();
            assert!(error.contains(VARIABLE) && !error.contains(place), "{error}");
        }
    }
}
