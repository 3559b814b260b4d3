//! Command `latchkey export`.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use latchkey_domain::operator::Party;
use latchkey_service::exports::{ExportRequest, Lines, Secrets};

use super::CommandError;
use crate::cli::ExportArgs;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, arguments: ExportArgs) -> Result<(), CommandError> {
    let secrets = if arguments.with_secrets { Secrets::Included } else { Secrets::Left };
    let request = ExportRequest { secrets, since: arguments.since };
    let exports = &assembly.service.exports;
    if arguments.out == Path::new("-") {
        exports.begin(&request, Party::System, None).await?;
        exports.clone().write(request, Box::new(Output(std::io::stdout()))).await?;
        return Ok(());
    }
    let (file, unfinished) = create(&arguments.out)?;
    exports.begin(&request, Party::System, None).await?;
    let synced = file.try_clone()?;
    let written = exports.clone().write(request, Box::new(Output(file))).await;
    let users = match written {
        Ok(users) => users,
        Err(error) => {
            std::fs::remove_file(&unfinished)?;
            return Err(error.into());
        }
    };
    synced.sync_all()?;
    std::fs::rename(&unfinished, &arguments.out)?;
    println!("{users} accounts are in {}.", arguments.out.display());
    Ok(())
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

struct Output<W>(W);

#[async_trait]
impl<W: Write + Send> Lines for Output<W> {
    async fn take(&mut self, lines: Vec<u8>) -> bool {
        match self.0.write_all(&lines) {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, "the export could not be written");
                false
            }
        }
    }
}
