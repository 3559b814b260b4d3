//! Imports: accounts are taken over from another service, in batches that are written with the place in the file. The files
//! are read by `latchkey-import`; the decision what becomes of a record is in [`latchkey_domain::imports`].

mod begin;
mod filling;
mod pace;
mod prepare;
mod report;
mod run;
mod seen;
mod signer_keys;
mod stop;
mod undo;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::{ImportJob, ImportState};
use latchkey_domain::limits::Rate;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;

pub use latchkey_import::{FirebaseHashes, ImportOptions};

pub use begin::{RunningImport, StartImport};
pub use latchkey_store::{IMPORT_RETENTION, ImportKey, ImportPage, ImportPosition, RecordResult};
pub use report::ReportPosition;
pub use run::{Control, ImportEnd, Progress};
pub use stop::Stop;
pub use undo::UndoneImport;
pub use upload::Upload;

use crate::error::{Error, Result};
use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::passwords::Passwords;
use crate::refusal::IMPORT_NOT_FOUND;
use crate::sessions::Sessions;
use crate::shared::Shared;

/// Time without a batch after which a running import counts as interrupted.
const IDLE: Duration = Duration::from_secs(30);

settings! {
    /// The rate limit of imports over HTTP.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on files to import that one address uploads.
        "limits.import_uploads_per_address" => uploads: Rate = "10/1h";
    }
}

/// The use cases of imports.
pub struct Imports {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) factors: Arc<Factors>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) limits: Limits,
}

impl Imports {
    /// Lists one page of the imports, newest first.
    pub async fn list(&self, position: ImportPosition, limit: u32) -> Result<ImportPage> {
        let now = self.kernel.now();
        let page = self.kernel.store.list_imports(position, limit).await?;
        let jobs = page.jobs.into_iter().map(|job| shown(job, now)).collect();
        Ok(ImportPage { jobs, ..page })
    }

    pub async fn find(&self, id: ImportId) -> Result<ImportJob> {
        let job = self.kernel.store.find_import(id).await?.ok_or(Error::Refused(&IMPORT_NOT_FOUND))?;
        Ok(shown(job, self.kernel.now()))
    }
}

/// Lists the formats that are read: the name of each, and what it reads, for people.
pub fn formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    latchkey_import::FORMATS.iter().map(|format| (format.name, format.about))
}

/// Returns an import as it is shown: one whose process was killed has failed.
fn shown(job: ImportJob, now: Timestamp) -> ImportJob {
    let is_silent = now.since(job.active_at) >= IDLE;
    if job.state == ImportState::Running && is_silent {
        return ImportJob { state: ImportState::Failed, ended_at: Some(job.active_at), ..job };
    }
    job
}
