//! The file of a report. It is opened before the import begins, so that one that cannot be written ends the command while
//! nothing has happened yet.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use latchkey_service::imports::{ImportEnd, Imports, RecordResult, ReportPosition, RunningImport};

use super::{CommandError, refused, unreadable};
use crate::cli::ImportFile;

/// The file of a report.
pub(super) struct Report {
    file: BufWriter<File>,
    error: Option<std::io::Error>,
}

/// Device and inode of a file.
type Identity = (u64, u64);

/// Opens the file of the report, with mode 600 if it is new, if there is to be one. What it has stays until the import
/// begins.
pub(super) fn open(arguments: &ImportFile) -> Result<Option<Report>, CommandError> {
    let Some(path) = &arguments.report else { return Ok(None) };
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let unwritable = |error| refused(format!("{} cannot be written: {error}", path.display()));
    let file = options.open(path).map_err(unwritable)?;
    let metadata = file.metadata()?;
    // A terminal or a pipe that is given as both has nothing that could be written over.
    if metadata.is_file() && sources(arguments)?.contains(&identity(&metadata)) {
        let path = path.display();
        return Err(refused(format!("{path} is read by the import: give --report another file")));
    }
    Ok(Some(Report { file: BufWriter::new(file), error: None }))
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// Returns the files that the import reads.
fn sources(arguments: &ImportFile) -> Result<Vec<Identity>, CommandError> {
    let mut found = Vec::new();
    for path in [&arguments.path, &arguments.url_file, &arguments.hash_config].into_iter().flatten() {
        if path.as_os_str() == "-" {
            let file = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
            found.push(identity(&file.metadata()?));
        } else {
            found.extend(files_of(path).map_err(|error| unreadable(path, &error))?);
        }
    }
    Ok(found)
}

/// Returns a file, or the files of a folder.
fn files_of(path: &Path) -> std::io::Result<Vec<Identity>> {
    let metadata = path.metadata()?;
    if !metadata.is_dir() {
        return Ok(vec![identity(&metadata)]);
    }
    // The import passes over links in a folder.
    path.read_dir()?.map(|entry| Ok(identity(&entry?.metadata()?))).collect()
}

impl Report {
    /// Takes away what the file had.
    pub(super) fn begin(&self) -> Result<(), CommandError> {
        let file = self.file.get_ref();
        // A pipe has nothing, and cannot be cut.
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(())
    }

    /// Writes the lines about records of a dry run, which the database does not have.
    pub(super) fn write(&mut self, results: &[RecordResult]) {
        self.write_lines(results.iter().flat_map(RecordResult::report_lines));
    }

    fn write_lines(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if let Err(error) = writeln!(self.file, "{line}") {
                self.error.get_or_insert(error);
            }
        }
    }

    /// Writes the whole report of an import, those parts included that an earlier process wrote.
    pub(super) async fn finish(
        mut self,
        imports: &Imports,
        running: &RunningImport,
        end: Option<&ImportEnd>,
    ) -> Result<(), CommandError> {
        if running.job.is_dry_run {
            self.write_lines(end.and_then(ImportEnd::report_line));
            return self.error.map_or_else(|| self.file.flush(), Err).map_err(CommandError::from);
        }
        let mut position = ReportPosition::default();
        loop {
            let (lines, next) = imports.report_page(running.job.id, position).await?;
            if lines.is_empty() {
                return Ok(self.file.flush()?);
            }
            for line in lines {
                writeln!(self.file, "{line}")?;
            }
            position = next;
        }
    }
}
