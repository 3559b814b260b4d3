//! An import of an uploaded file: it begins in the request, and runs after the response.

use std::sync::Arc;

use latchkey_domain::client::Client;
use latchkey_domain::imports::{ConflictPolicy, ImportJob};
use latchkey_domain::operator::Party;
use latchkey_import::{Format, ImportOptions, Input, ReadError, Records};
use sha2::{Digest, Sha256};

use super::{Control, Imports, StartImport};
use crate::error::{Error, Result};
use crate::refusal::FORMAT_UNKNOWN;

const LIMIT: &str = "import uploads, per address";

/// A file to import.
pub struct Upload {
    /// Name of the format.
    pub from: String,
    pub bytes: Vec<u8>,
    pub options: ImportOptions,
    pub policy: ConflictPolicy,
    pub is_dry_run: bool,
}

impl Imports {
    /// Begins the import of an uploaded file. It runs on after the call.
    pub async fn upload(
        self: &Arc<Self>,
        upload: Upload,
        party: Party,
        client: Option<&Client>,
    ) -> Result<ImportJob> {
        let format = Format::find(&upload.from).ok_or(Error::Refused(&FORMAT_UNKNOWN))?;
        if let Some(client) = client {
            self.kernel.limits.take_here(LIMIT, self.limits.uploads, client.address, self.kernel.now())?;
        }
        let file = Sha256::digest(&upload.bytes).into();
        let options = ImportOptions { now: self.kernel.now(), ..upload.options };
        let records = Records::open(format, Input::Bytes(upload.bytes.into()), options.clone());
        let records = records.map_err(|error| unreadable(&error))?;
        let start = StartImport {
            format,
            source: "upload".to_owned(),
            file,
            options: &options,
            policy: upload.policy,
            is_dry_run: upload.is_dry_run,
            is_stored: true,
            takes_over: false,
        };
        let mut running = self.begin(start, party, client).await?;
        let (job, imports) = (running.job.clone(), Arc::clone(self));
        // Requests are served beside it.
        let control = Control { is_shared: Some(Box::new(|| true)), ..Control::default() };
        tokio::spawn(async move {
            if let Err(error) = imports.run(&mut running, records, &control, |_| {}).await {
                tracing::error!(import = %running.job.id, %error, "an import of an uploaded file ended early");
            }
        });
        Ok(job)
    }
}

fn unreadable(error: &ReadError) -> Error {
    Error::Validation {
        field: "body",
        reason: latchkey_domain::reason::Reason::Malformed,
        problem: format!("cannot be read in this format: {error}"),
    }
}
