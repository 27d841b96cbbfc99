//! Writes the file of an export. A file appears with all its lines or not at all: it is written under a temporary name in
//! the same folder, and renamed at the end. A file that is replaced keeps its mode, because the new one may have the same
//! readers only.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};

use crate::arguments::STANDARD_STREAM;
use crate::error::Error;

/// How many bytes to write at a time.
const CHUNK: usize = 256 * 1024;

/// The mode of a new file, to which the umask of the process applies.
const USUAL_MODE: u32 = 0o666;
/// The mode of a file that only its owner can read.
const PRIVATE_MODE: u32 = 0o600;

/// The bits of a mode that say who may read and write.
const PERMISSION_BITS: u32 = 0o777;

fn mode_of(file: &Metadata) -> u32 {
    file.permissions().mode() & PERMISSION_BITS
}

/// The file of an export, or standard output.
pub(crate) struct ExportFile {
    writer: BufWriter<Box<dyn AsyncWrite + Unpin>>,
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
    /// Whether only its owner can read it, even if it replaces another.
    is_private: bool,
}

/// Whether the reader of standard output is still there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Connected,
    Disconnected,
}

impl ExportFile {
    /// Creates a temporary file for `file`. If it is private, only its owner can read it; otherwise it has the permissions of the
    /// file that it replaces.
    ///
    /// # Errors
    /// If that fails, or if `file` exists and must not be replaced.
    pub(crate) fn create(file: &Path, replaces: bool, is_private: bool) -> Result<Self, Error> {
        let name = file.display().to_string();
        if file.as_os_str() == STANDARD_STREAM {
            let writer = BufWriter::with_capacity(CHUNK, Box::new(tokio::io::stdout()) as Box<_>);
            return Ok(Self { writer, name: "standard output".to_owned(), file: None });
        }
        let failed = |cause| Error::Write { name: file.display().to_string(), cause };
        // Of a symbolic link, its target is replaced.
        let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let existing = fs::metadata(&place).ok();
        match &existing {
            Some(_) if !replaces => return Err(Error::Exists { path: file.to_owned() }),
            Some(metadata) if !metadata.is_file() => return Err(Error::NotRegular { path: file.to_owned() }),
            _ => {}
        }
        let mode = match &existing {
            _ if is_private => PRIVATE_MODE,
            Some(existing) => mode_of(existing),
            None => USUAL_MODE,
        };
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let written = tempfile::Builder::new()
            .prefix(".export-")
            .suffix(".partial")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(failed)?;
        let writer = File::from_std(written.as_file().try_clone().map_err(failed)?);
        let writer = BufWriter::with_capacity(CHUNK, Box::new(writer) as Box<_>);
        Ok(Self { writer, name, file: Some(TemporaryFile { written, place, replaces, is_private }) })
    }

    /// Writes a line.
    pub(crate) async fn write(&mut self, row: &impl Serialize) -> Result<Reader, Error> {
        let mut line = match serde_json::to_vec(row) {
            Ok(line) => line,
            Err(error) => return self.reader(Err(error.into())),
        };
        line.push(b'\n');
        let written = self.writer.write_all(&line).await;
        self.reader(written)
    }

    /// Writes the rest and renames the file.
    pub(crate) async fn finish(mut self) -> Result<Reader, Error> {
        let flushed = self.writer.flush().await;
        let reader = self.reader(flushed)?;
        if let Some(TemporaryFile { written, place, replaces, is_private }) = self.file {
            let failed = |cause| Error::Write { name: self.name.clone(), cause };
            // Again, because the umask has applied to the temporary file, and the mode may have changed since.
            if !is_private && let Ok(existing) = fs::metadata(&place) {
                let permissions = Permissions::from_mode(mode_of(&existing));
                written.as_file().set_permissions(permissions).map_err(failed)?;
            }
            written.as_file().sync_all().map_err(failed)?;
            if replaces {
                written.persist(&place).map_err(|error| failed(error.error))?;
            } else {
                written.persist_noclobber(&place).map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => Error::Exists { path: place.clone() },
                    _ => failed(error.error),
                })?;
            }
        }
        Ok(reader)
    }

    fn reader(&self, result: io::Result<()>) -> Result<Reader, Error> {
        match result {
            Ok(()) => Ok(Reader::Connected),
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Disconnected),
            Err(cause) => Err(Error::Write { name: self.name.clone(), cause }),
        }
    }
}
