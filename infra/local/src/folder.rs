//! A folder in place of a bucket.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder in place of a bucket, which functions read and write.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The temporary folder around it, which is deleted when this value is dropped.
    _temporary: Option<TempDir>,
}

impl Folder {
    /// Opens the folder `name` in `data`, or in a new temporary folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn open(data: Option<&Path>, name: &str) -> io::Result<Self> {
        let temporary = data.is_none().then(TempDir::new).transpose()?;
        let around = temporary.as_ref().map(TempDir::path).or(data).unwrap_or(Path::new("."));
        let path = std::path::absolute(around)?.join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, _temporary: temporary })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the value of the functions' variable with this place.
    pub(crate) fn variable(&self) -> String {
        format!("file://{}", self.path.display())
    }
}
