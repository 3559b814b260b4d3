//! Command `latchkey export`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use latchkey_domain::operator::Party;
use latchkey_service::exports::{ExportRequest, Exports, Lines, Secrets};

use super::CommandError;
use crate::cli::ExportArgs;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, arguments: ExportArgs) -> Result<(), CommandError> {
    let secrets = if arguments.with_secrets { Secrets::Included } else { Secrets::Left };
    let request = ExportRequest { secrets, since: arguments.since };
    let exports = &assembly.service.exports;
    if arguments.out == Path::new("-") {
        exports.begin(&request, Party::System, None).await?;
        write(exports, request, std::io::stdout(), "standard output").await?;
        return Ok(());
    }
    let (file, unfinished) = create(&arguments.out)?;
    exports.begin(&request, Party::System, None).await?;
    let synced = file.try_clone()?;
    let users = match write(exports, request, file, &arguments.out.display().to_string()).await {
        Ok(users) => users,
        Err(error) => {
            std::fs::remove_file(&unfinished)?;
            return Err(error);
        }
    };
    synced.sync_all()?;
    std::fs::rename(&unfinished, &arguments.out)?;
    println!("{users} accounts are in {}.", arguments.out.display());
    Ok(())
}

/// Writes the export; returns the number of accounts. A reader that goes away is an error, in contrast to other commands:
/// what it has is not whole.
async fn write(
    exports: &Arc<Exports>,
    request: ExportRequest,
    to: impl Write + Send + 'static,
    name: &str,
) -> Result<u64, CommandError> {
    let fault = Arc::<Mutex<_>>::default();
    let output = Output { to, fault: Arc::clone(&fault) };
    let written = exports.clone().write(request, Box::new(output)).await;
    match fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
        None => Ok(written?),
        Some(error) => {
            let text = format!("{name} cannot be written: {error}; the export is not whole");
            Err(CommandError::Refused(text))
        }
    }
}

/// Creates the file under a name of its own until it is complete. Only its owner may read it.
fn create(path: &Path) -> Result<(File, PathBuf), CommandError> {
    if path.try_exists()? {
        let text = format!("{} exists: name another file, or move it away", path.display());
        return Err(CommandError::Refused(text));
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    let unfinished = PathBuf::from(name);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
    match opened {
        Ok(file) => Ok((file, unfinished)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let text = format!("{} is left of another export: delete it", unfinished.display());
            Err(CommandError::Refused(text))
        }
        Err(error) => Err(error.into()),
    }
}

struct Output<W> {
    to: W,
    /// Why the last lines were not written.
    fault: Arc<Mutex<Option<io::Error>>>,
}

#[async_trait]
impl<W: Write + Send> Lines for Output<W> {
    async fn take(&mut self, lines: Vec<u8>) -> bool {
        let fault = self.to.write_all(&lines).and_then(|()| self.to.flush()).err();
        let is_written = fault.is_none();
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        is_written
    }
}
