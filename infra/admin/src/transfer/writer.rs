//! Writes the file of an export. It is written under a temporary name in the same folder, and renamed at the end. A file that is
//! replaced keeps its permissions.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, BufWriter};

use crate::arguments::STANDARD_STREAM;
use crate::error::Error;

/// How many bytes to write at a time.
const CHUNK: usize = 256 * 1024;
/// The mode of a new file, to which the umask of the process applies, and that of a file that only its owner can read.
const USUAL_MODE: u32 = 0o666;
const PRIVATE_MODE: u32 = 0o600;

/// The file of an export, or standard output.
pub(super) struct Writer {
    output: BufWriter<Box<dyn AsyncWrite + Unpin>>,
    /// Its name in messages.
    name: String,
    /// `None` for standard output.
    file: Option<TemporaryFile>,
}

/// A file that is not at its place yet. It is deleted when it is dropped.
struct TemporaryFile {
    written: NamedTempFile,
    place: PathBuf,
    /// Whether it may replace an existing file.
    replaces: bool,
    /// What it gets at the end.
    permissions: Option<Permissions>,
}

impl Writer {
    /// Creates a temporary file for `file`.
    ///
    /// # Errors
    /// If that fails, or if `file` exists and must not be replaced.
    pub(super) fn create(file: &Path, replaces: bool, is_private: bool) -> Result<Self, Error> {
        let name = file.display().to_string();
        if file.as_os_str() == STANDARD_STREAM {
            let output = BufWriter::with_capacity(CHUNK, Box::new(tokio::io::stdout()) as Box<_>);
            return Ok(Self { output, name: "standard output".to_owned(), file: None });
        }
        // Of a symbolic link, its target is replaced.
        let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let existing = fs::metadata(&place).ok();
        if existing.is_some() && !replaces {
            return Err(Error::Exists { path: file.to_owned() });
        }
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            return Err(Error::NotRegular { path: file.to_owned() });
        }
        let permissions = existing.filter(|_| !is_private).map(|existing| existing.permissions());
        let mode = if is_private || permissions.is_some() { PRIVATE_MODE } else { USUAL_MODE };
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |cause| Error::Write { name: name.clone(), cause };
        let written = tempfile::Builder::new()
            .prefix(".export-")
            .suffix(".partial")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(failed)?;
        let output = File::from_std(written.as_file().try_clone().map_err(failed)?);
        let output = BufWriter::with_capacity(CHUNK, Box::new(output) as Box<_>);
        Ok(Self { output, name, file: Some(TemporaryFile { written, place, replaces, permissions }) })
    }

    /// Writes a line.
    pub(super) async fn write(&mut self, row: &impl Serialize) -> Result<(), Error> {
        let failed = |cause| Error::Write { name: self.name.clone(), cause };
        let mut line = serde_json::to_vec(row).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.output.write_all(&line).await.map_err(failed)
    }

    /// Writes the rest and renames the file.
    pub(super) async fn finish(mut self) -> Result<(), Error> {
        let failed = |cause| Error::Write { name: self.name.clone(), cause };
        self.output.flush().await.map_err(failed)?;
        let Some(TemporaryFile { written, place, replaces, permissions }) = self.file else { return Ok(()) };
        if let Some(permissions) = permissions {
            written.as_file().set_permissions(permissions).map_err(failed)?;
        }
        written.as_file().sync_all().map_err(failed)?;
        let placed = if replaces { written.persist(&place) } else { written.persist_noclobber(&place) };
        placed.map(drop).map_err(|error| match error.error {
            cause if cause.kind() == io::ErrorKind::AlreadyExists => Error::Exists { path: place },
            cause => failed(cause),
        })
    }
}
