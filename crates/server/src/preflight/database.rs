//! Check of the database: it can be reached and written, and its data can be decrypted with the configured secret.
//! Nothing is created or migrated.

use std::fs;
use std::path::Path;

use latchkey_service::StartError;
use latchkey_service::clock::{Clock, SystemClock};
use latchkey_service::secrets::{ServerSecret, WrongSecret};
use latchkey_service::tokens::{self, signing_keys::KeySet};
use latchkey_store::StoredSigningKey;
use rustix::fs::{Access, access};

use super::{Bad, Findings};
use crate::data_folder;
use crate::settings::{Secret, Settings, StorageUrl};
use crate::storage::{self, Inspection};

pub(super) async fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if bad.has("storage.") {
        return;
    }
    if let StorageUrl::Sqlite(path) = &settings.storage.url
        && !is_there(path, settings.storage.create, findings)
    {
        return;
    }
    let Inspection { missing, signing_keys, is_secret_replaced } =
        match storage::inspect(settings, SystemClock.now()).await {
            Ok(look) => look,
            Err(error) => return findings.refuse_as(&error, ""),
        };
    match missing.as_slice() {
        [] => {}
        [one] => findings.notes.push(format!("the start migrates the database: {one}")),
        [first, .., last] => findings.notes.push(format!(
            "the start migrates the database: {first} to {last}, {} migrations",
            missing.len()
        )),
    }
    if is_secret_replaced {
        findings.refuse("server.secret", WrongSecret::Unfinished.to_string());
    } else if !bad.has("server.secret") {
        check_secret(settings, &signing_keys, findings);
    }
}

/// True if the SQLite file should be opened for further checks. A file that is not writable is reported as a problem
/// and not opened; a missing one that the start will create is only noted. A missing file that the start must not
/// create is opened: the attempt fails, and its error is the report.
fn is_there(path: &Path, may_be_made: bool, findings: &mut Findings) -> bool {
    match fs::exists(path) {
        Ok(true) => {}
        Ok(false) if !may_be_made => return true,
        Ok(false) => {
            findings.notes.push(format!("the start makes the database {}", path.display()));
            return false;
        }
        Err(_) => return false, // the check of its folder reports the error
    }
    if access(path, Access::READ_OK | Access::WRITE_OK).is_err() {
        let sentence =
            format!("the database {} cannot be written; give it to the service's user", path.display());
        findings.refuse("storage.url", sentence);
        return false;
    }
    true
}

/// Checks that `server.secret` decrypts the stored signing keys. The keys are encrypted with the secret of the
/// first start.
fn check_secret(settings: &Settings, signing_keys: &[StoredSigningKey], findings: &mut Findings) {
    if signing_keys.is_empty() {
        return;
    }
    let kept = || data_folder::read_kept(&settings.data.dir, data_folder::SECRET_FILE)?.ok();
    let secret = match &settings.server.secret {
        Some(secret) => Some(Secret::new(secret.reveal().to_owned())),
        None => kept(),
    };
    let bytes = |secret: Secret| ServerSecret::new(secret.reveal().as_bytes().to_vec());
    let opened = secret.and_then(bytes).map(|secret| -> Result<_, StartError> {
        Ok(KeySet::open(signing_keys, &tokens::sealing_key(&secret)?).map(drop)?)
    });
    match opened {
        Some(Ok(())) => {}
        Some(Err(StartError::Secret(reason))) => findings.refuse("server.secret", reason.to_string()),
        Some(Err(error)) => findings.refuse("storage.url", error.to_string()),
        None => findings.refuse(
            "server.secret",
            format!(
                "the database was made with a secret that is missing; put it back into {}",
                settings.data.dir.join(data_folder::SECRET_FILE).display()
            ),
        ),
    }
}
