//! Where an export goes. A file is there with all its lines or not at all: it is written under another name beside its
//! place and renamed at the end.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};

use super::{STANDARD, display};
use crate::error::Error;

/// How much is written at a time.
const CHUNK: usize = 256 * 1024;

/// Where an export goes.
pub(super) struct Output {
    writer: BufWriter<Box<dyn AsyncWrite + Unpin>>,
    /// What messages call it.
    name: String,
    /// Nothing for standard output.
    file: Option<Unfinished>,
}

/// A file that is not at its place yet. It goes away when it is dropped.
struct Unfinished {
    written: NamedTempFile,
    place: PathBuf,
    /// Whether it may take the place of another.
    replaces: bool,
}

/// Whether somebody still reads what is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Reads,
    IsGone,
}

impl Output {
    /// The place for an export to `file`.
    ///
    /// # Errors
    /// If nothing can be written there, or if another file is there that is not to be replaced.
    pub(super) fn open(file: &Path, replaces: bool) -> Result<Self, Error> {
        let name = display(file);
        if file.as_os_str() == STANDARD {
            let writer = BufWriter::with_capacity(CHUNK, Box::new(tokio::io::stdout()) as Box<_>);
            return Ok(Self { writer, name: "standard output".to_owned(), file: None });
        }
        let failed = |cause| Error::Write { name: display(file), cause };
        // What is replaced is what a link points to and not the link.
        let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        match fs::metadata(&place) {
            Ok(_) if !replaces => return Err(Error::Exists { path: file.to_owned() }),
            Ok(metadata) if !metadata.is_file() => return Err(Error::NotRegular { path: file.to_owned() }),
            _ => {}
        }
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let written = tempfile::Builder::new()
            .prefix(".export-")
            .suffix(".partial")
            // The usual ones: the process's own mask is taken off.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(failed)?;
        let writer = File::from_std(written.as_file().try_clone().map_err(failed)?);
        let writer = BufWriter::with_capacity(CHUNK, Box::new(writer) as Box<_>);
        Ok(Self { writer, name, file: Some(Unfinished { written, place, replaces }) })
    }

    /// Writes a line.
    pub(super) async fn write(&mut self, row: &impl Serialize) -> Result<Reader, Error> {
        let mut line = match serde_json::to_vec(row) {
            Ok(line) => line,
            Err(error) => return self.judge(Err(error.into())),
        };
        line.push(b'\n');
        let written = self.writer.write_all(&line).await;
        self.judge(written)
    }

    /// Writes the rest, and puts the file in its place.
    pub(super) async fn finish(mut self) -> Result<Reader, Error> {
        let flushed = self.writer.flush().await;
        let reader = self.judge(flushed)?;
        if let Some(Unfinished { written, place, replaces }) = self.file {
            let failed = |cause| Error::Write { name: self.name.clone(), cause };
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

    fn judge(&self, result: io::Result<()>) -> Result<Reader, Error> {
        match result {
            Ok(()) => Ok(Reader::Reads),
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::IsGone),
            Err(cause) => Err(Error::Write { name: self.name.clone(), cause }),
        }
    }
}
