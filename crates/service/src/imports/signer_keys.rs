//! Signer keys of Firebase's hashes. Each is stored once, sealed, and the hashes name it by its id.

use latchkey_domain::imports::{Problem, ProblemCode};
use latchkey_store::BatchRecord;
use zeroize::Zeroizing;

use super::{Imports, RunningImport};
use crate::error::Result;

/// Maximum number of signer keys in a file. A Firebase project has one.
const MOST: usize = 16;

impl Imports {
    /// Stores the signer keys in the hashes of a batch, and completes the hashes with their ids.
    pub(super) async fn store_signer_keys(
        &self,
        running: &mut RunningImport,
        records: &mut [BatchRecord],
    ) -> Result<()> {
        for record in records {
            let Ok(new) = &mut record.read else { continue };
            let Some(hash) = &new.record.password else { continue };
            let Some(key) = hash.signer_key() else { continue };
            let known = running.signer_keys.iter().find(|(known, _)| known.as_slice() == key);
            let id = match known.map(|(_, id)| *id) {
                Some(id) => id,
                None if running.signer_keys.len() >= MOST => {
                    let message = "the file has more than 16 signer keys";
                    record.problems.push(Problem::of(ProblemCode::HashUnknown, "passwordHash", message));
                    continue;
                }
                None => {
                    let id = self.passwords.save_hash_key(key).await?;
                    running.signer_keys.push((Zeroizing::new(key.to_vec()), id));
                    id
                }
            };
            let named = hash.clone().with_key(id).to_password_hash();
            new.password = Some(named);
        }
        Ok(())
    }
}
