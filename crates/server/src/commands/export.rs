//! Command `latchkey export`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use latchkey_domain::operator::Party;
use latchkey_service::exports::{ExportRequest, Exports, Lines, Secrets};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, open, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{CommandError, count::count};
use crate::cli::ExportArgs;
use crate::data_folder::sync_folder;
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
    let (file, unfinished) = Unfinished::create(&arguments.out)?;
    exports.begin(&request, Party::System, None).await?;
    let users = write(exports, request, file, &arguments.out.display().to_string()).await?;
    unfinished.finish(&arguments.out)?;
    let verb = if users == 1 { "is" } else { "are" };
    println!("{} {verb} in {}.", count(users, "account"), arguments.out.display());
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

/// File of an export under a name of its own until it is complete. Dropping it deletes the file, such as when a signal ends the
/// command: it may hold password hashes.
struct Unfinished {
    path: PathBuf,
    /// Locked, so that another export can tell a file that was left behind.
    file: File,
}

impl Unfinished {
    /// Creates the file. Only its owner may read it. One that a killed export left behind is deleted first.
    fn create(out: &Path) -> Result<(File, Self), CommandError> {
        if out.try_exists().map_err(fault_of(out))? {
            let text = format!("{} exists: name another file, or move it away", out.display());
            return Err(CommandError::Refused(text));
        }
        let mut name = out.as_os_str().to_owned();
        name.push(".unfinished");
        let path = PathBuf::from(name);
        // Kept until the new file is there and locked: of two exports, one takes the place.
        let _left = take_over(&path)?;
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => in_use(&path),
            _ => fault_of(&path)(error),
        })?;
        // A file system without locks has none; what is left there is told, and not deleted.
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        // Another export may have taken the file over before it was locked.
        if locked == Err(Errno::WOULDBLOCK) || !is_at(&file, &path) {
            return Err(in_use(&path));
        }
        let writer = file.try_clone()?;
        Ok((writer, Self { path, file }))
    }

    /// Makes the file durable and gives it its name.
    fn finish(self, out: &Path) -> Result<(), CommandError> {
        self.file.sync_all().map_err(fault_of(&self.path))?;
        std::fs::rename(&self.path, out).map_err(fault_of(out))?;
        let folder = out.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        sync_folder(folder).map_err(fault_of(folder))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // A finished export has no file of this name any more.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Deletes the file of an export that was killed. Returns it, locked; `None` if there is none. Refuses one that an export
/// holds, or that another user owns. It is not written again: who has it open would read what is written.
fn take_over(path: &Path) -> Result<Option<OwnedFd>, CommandError> {
    // Neither a link nor a pipe that somebody put there is followed or waited for.
    let access = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, access, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(fault_of(path)(error.into())),
    };
    let found = fstat(&file).map_err(|error| fault_of(path)(error.into()))?;
    let is_ours = FileType::from_raw_mode(found.st_mode).is_file() && found.st_uid == geteuid().as_raw();
    // Another export may have taken it over between.
    if !is_ours || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_at(&file, path) {
        return Err(in_use(path));
    }
    std::fs::remove_file(path).map_err(fault_of(path))?;
    Ok(Some(file))
}

/// True if the open file has this path.
fn is_at(file: impl AsFd, path: &Path) -> bool {
    let (open, there) = (fstat(file), stat(path));
    open.is_ok_and(|open| there.is_ok_and(|there| (there.st_dev, there.st_ino) == (open.st_dev, open.st_ino)))
}

fn in_use(path: &Path) -> CommandError {
    CommandError::Refused(format!(
        "{} is there: another export writes it, or it is not of an export. Wait for that export, or delete the file",
        path.display()
    ))
}

fn fault_of(path: &Path) -> impl Fn(io::Error) -> CommandError {
    let path = path.display().to_string();
    move |error| CommandError::Refused(format!("{path} cannot be made: {error}"))
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
