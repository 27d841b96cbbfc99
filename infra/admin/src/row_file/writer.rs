//! Writes the file of an export under a temporary name in the same folder, and renames it at the end. A
//! private file is readable only by its owner. Any other file keeps the permissions of the file that it
//! replaces.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, BufWriter};

use crate::arguments::STANDARD_STREAM;
use crate::console::Progress;
use crate::error::Error;

/// How many bytes to write at a time.
const CHUNK: usize = 256 * 1024;
/// The mode of a new file that is not private, before the umask of the process applies.
const USUAL_MODE: u32 = 0o666;

/// The file of an export, or standard output.
pub(crate) struct Writer {
    output: BufWriter<Box<dyn AsyncWrite + Unpin>>,
    name: String,
    /// `None` for standard output.
    file: Option<TemporaryFile>,
    exported: Exported,
    progress: Progress,
}

/// The number of exported rows, and of values that were skipped because they are corrupt or missing.
#[derive(Default)]
pub(crate) struct Exported {
    pub(crate) rows: u64,
    pub(crate) skipped: u64,
}

/// A file that is not yet at its final path. Dropping it deletes it.
struct TemporaryFile {
    written: NamedTempFile,
    place: PathBuf,
    /// Whether the file may replace an existing file.
    replaces: bool,
    /// The permissions of the replaced file. A new file that is not private gets them when it is complete.
    permissions: Option<Permissions>,
}

impl TemporaryFile {
    fn create(file: &Path, replaces: bool, is_private: bool) -> Result<Self, Error> {
        let existing = fs::metadata(file).ok();
        if existing.is_some() && !replaces {
            return Err(Error::Exists { path: file.to_owned() });
        }
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            return Err(Error::NotRegular { path: file.to_owned() });
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        if existing.is_none() && !is_private {
            builder.permissions(Permissions::from_mode(USUAL_MODE));
        }
        builder.prefix(".export-").suffix(".partial");
        let written = builder
            .tempfile_in(folder)
            .map_err(|cause| Error::Write { name: file.display().to_string(), cause })?;
        let kept = if is_private { None } else { existing };
        let permissions = kept.map(|existing| existing.permissions());
        Ok(Self { written, place: file.to_owned(), replaces, permissions })
    }

    /// Moves the file to its place.
    fn persist(self) -> io::Result<()> {
        if let Some(permissions) = self.permissions {
            self.written.as_file().set_permissions(permissions)?;
        }
        self.written.as_file().sync_all()?;
        let place = &self.place;
        let placed =
            if self.replaces { self.written.persist(place) } else { self.written.persist_noclobber(place) };
        placed?;
        Ok(())
    }
}

impl Writer {
    /// Creates a temporary file for `file`. If `is_private`, only the owner can read the final file.
    ///
    /// # Errors
    /// If the temporary file cannot be created, or if `file` exists and must not be replaced.
    pub(super) fn create(file: &Path, replaces: bool, is_private: bool) -> Result<Self, Error> {
        let is_file = file.as_os_str() != STANDARD_STREAM;
        let name = if is_file { file.display().to_string() } else { "standard output".to_owned() };
        let (output, file): (Box<dyn AsyncWrite + Unpin>, _) = if is_file {
            let file = TemporaryFile::create(file, replaces, is_private)?;
            let reopened = file.written.reopen();
            let output = reopened.map_err(|cause| Error::Write { name: name.clone(), cause })?;
            (Box::new(File::from_std(output)), Some(file))
        } else {
            (Box::new(tokio::io::stdout()), None)
        };
        let output = BufWriter::with_capacity(CHUNK, output);
        Ok(Self { output, name, file, exported: Exported::default(), progress: Progress::new() })
    }

    /// Writes a line. `None` stands for a row that cannot be read, and is counted as skipped.
    pub(crate) async fn write(&mut self, row: Option<impl Serialize>) -> Result<(), Error> {
        let Some(row) = row else {
            self.skip(1);
            return Ok(());
        };
        let failed = |cause| Error::Write { name: self.name.clone(), cause };
        let mut line = serde_json::to_vec(&row).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.output.write_all(&line).await.map_err(failed)?;
        self.exported.rows += 1;
        self.progress.show(format_args!("exported {}", self.exported.rows));
        Ok(())
    }

    /// Counts values that cannot be exported.
    pub(crate) const fn skip(&mut self, values: u64) {
        self.exported.skipped += values;
    }

    /// Writes the buffered lines, and renames the file.
    pub(super) async fn finish(mut self) -> Result<Exported, Error> {
        let failed = |cause| Error::Write { name: self.name.clone(), cause };
        self.output.flush().await.map_err(failed)?;
        if let Some(file) = self.file {
            file.persist().map_err(failed)?;
        }
        Ok(self.exported)
    }
}
