//! Replacement of the server secret: everything that is sealed under the old one is sealed anew, value by value. An
//! interrupted replacement goes on when it is started again; no service starts meanwhile.

use std::sync::Arc;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::EventId;
use latchkey_store::{
    BeginSecretRotation, Resealed, SealedColumn, SealedRow, SealedValue, Store, StoreError,
};
use serde_json::Map;
use zeroize::Zeroizing;

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::factors::totp_binding;
use crate::secrets::{AtRotation, CannotDerive, CannotOpen, KeyUse, SealingKey, ServerSecret, WrongSecret};

/// Number of values that are read, and sealed anew, at once.
const BATCH: u32 = 500;

/// The replacement of the server secret.
pub struct SecretRotation {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub old: ServerSecret,
    pub new: ServerSecret,
}

/// Numbers of values of a replacement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Values that were sealed anew.
    pub resealed: u64,
    /// Values that neither secret opens. They were unreadable before, and stay as they are.
    pub unreadable: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] CannotDerive),
    #[error("both secrets are the same: make another one, such as by `openssl rand -hex 32`")]
    SameSecret,
    #[error(
        "an earlier rotation to another secret is unfinished: run it again with that one first, then rotate to this one"
    )]
    OtherRotation,
    #[error(
        "neither secret opens the signing keys of the database: is server.secret the one it was made with?"
    )]
    OtherDatabase,
}

/// The keys of one column, under both secrets.
struct Keys {
    old: SealingKey,
    new: SealingKey,
}

impl SecretRotation {
    /// Replaces the secret. `see` gets the number of values of each column that were looked at.
    pub async fn run(&self, mut see: impl FnMut(SealedColumn, u64)) -> Result<Rotated, RotationError> {
        let was_begun = self.check().await?;
        self.begin().await?;
        let mut total = Rotated::default();
        loop {
            let mut pass = Rotated::default();
            for column in SealedColumn::ALL {
                let rotated = self.reseal(column, &mut see).await?;
                pass.resealed += rotated.resealed;
                pass.unreadable += rotated.unreadable;
            }
            total = Rotated { resealed: total.resealed + pass.resealed, unreadable: pass.unreadable };
            // An instance that had not noticed yet may have written under the old secret.
            if pass.resealed == 0 {
                break;
            }
        }
        // A run that finds nothing to do is no event.
        let is_event = was_begun || total.resealed > 0;
        self.store.finish_secret_rotation(is_event.then(|| self.event())).await?;
        Ok(total)
    }

    /// Refuses secrets that are not those of the database, before anything is changed. Returns whether an interrupted
    /// replacement goes on.
    async fn check(&self) -> Result<bool, RotationError> {
        let fingerprint = self.new.fingerprint()?;
        if fingerprint == self.old.fingerprint()? {
            return Err(RotationError::SameSecret);
        }
        let unfinished = self.store.unfinished_secret_rotation().await?;
        if unfinished.as_ref().is_some_and(|unfinished| *unfinished != fingerprint) {
            return Err(RotationError::OtherRotation);
        }
        let keys = self.keys(SealedColumn::SigningKeys)?;
        let stored = self.store.list_signing_keys(self.clock.now()).await?;
        let is_known = stored.iter().all(|key| {
            let row = SealedRow::SigningKey(key.id);
            keys.new.open(&bound_to(&row), &key.sealed).is_ok()
                || keys.old.open(&bound_to(&row), &key.sealed).is_ok()
        });
        if is_known { Ok(unfinished.is_some()) } else { Err(RotationError::OtherDatabase) }
    }

    /// Stores the keys that outlive the old secret, and marks the replacement as begun.
    async fn begin(&self) -> Result<(), RotationError> {
        let sealing = self.new.sealing_key(KeyUse::KeptKeys)?;
        let kept = KeyUse::ALL.iter().filter(|key| key.at_rotation() == AtRotation::Keeps);
        let kept = kept.map(|key| {
            let (label, plain) = (key.as_str().to_owned(), Zeroizing::new(self.old.key(*key)?));
            let row = SealedRow::KeptKey(label.clone());
            Ok((label, sealing.seal(&*self.entropy, &bound_to(&row), &*plain)?))
        });
        let kept = kept.collect::<Result<Vec<_>, CannotDerive>>()?;
        let (fingerprint, now) = (self.new.fingerprint()?, self.clock.now());
        Ok(self.store.begin_secret_rotation(BeginSecretRotation { fingerprint, kept, now }).await?)
    }

    /// Seals the values of a column anew, in batches.
    async fn reseal(
        &self,
        column: SealedColumn,
        see: &mut impl FnMut(SealedColumn, u64),
    ) -> Result<Rotated, RotationError> {
        let keys = self.keys(column)?;
        let (mut after, mut seen, mut rotated) = (None, 0, Rotated::default());
        loop {
            let values = self.store.list_sealed(column, after.as_ref(), BATCH).await?;
            let Some(last) = values.last() else { return Ok(rotated) };
            after = Some(last.row.clone());
            seen += values.len() as u64;
            let mut changed = Vec::new();
            for value in values {
                match keys.reseal(&value, &*self.entropy) {
                    Ok(None) => {}
                    Ok(Some(to)) => changed.push(Resealed { row: value.row, from: value.sealed, to }),
                    Err(CannotOpen) => rotated.unreadable += 1,
                }
            }
            if !changed.is_empty() {
                rotated.resealed += self.store.reseal(changed).await?;
            }
            see(column, seen);
        }
    }

    fn keys(&self, column: SealedColumn) -> Result<Keys, CannotDerive> {
        let key = KeyUse::of_column(column);
        Ok(Keys { old: self.old.sealing_key(key)?, new: self.new.sealing_key(key)? })
    }

    fn event(&self) -> AuditEvent {
        let now = self.clock.now();
        AuditEvent {
            id: EventId::new(now, self.entropy.bytes()),
            at: now,
            kind: AuditKind::SecretRotated,
            actor: Actor::System,
            user_id: None,
            session_id: None,
            client: None,
            details: Map::new(),
        }
    }
}

impl Keys {
    /// Seals a value anew; `None` if the new secret opens it already.
    fn reseal(&self, value: &SealedValue, entropy: &dyn Entropy) -> Result<Option<Vec<u8>>, CannotOpen> {
        let bound_to = bound_to(&value.row);
        if self.new.open(&bound_to, &value.sealed).is_ok() {
            return Ok(None);
        }
        let plain = Zeroizing::new(self.old.open(&bound_to, &value.sealed)?);
        self.new.seal(entropy, &bound_to, &plain).map(Some).map_err(|_| CannotOpen)
    }
}

/// Returns what the value of a row is bound to.
fn bound_to(row: &SealedRow) -> Vec<u8> {
    match row {
        SealedRow::SigningKey(id) => id.to_string().into_bytes(),
        SealedRow::Totp(factor, user) => totp_binding(*user, *factor).into_bytes(),
        SealedRow::Provider(key) | SealedRow::KeptKey(key) => key.clone().into_bytes(),
        SealedRow::OAuthFlow(state) => state.as_bytes().to_vec(),
        SealedRow::Mail(id) => id.to_string().into_bytes(),
        SealedRow::HashKey(id) => id.as_uuid().as_bytes().to_vec(),
    }
}

/// Adds the keys of the database that outlived earlier secrets to the secret.
pub(crate) async fn with_kept_keys(
    secret: ServerSecret,
    store: &dyn Store,
) -> Result<ServerSecret, crate::StartError> {
    if store.unfinished_secret_rotation().await?.is_some() {
        return Err(WrongSecret::Unfinished.into());
    }
    let sealing = secret.sealing_key(KeyUse::KeptKeys)?;
    let mut with_kept = secret;
    for SealedValue { row, sealed } in store.list_sealed(SealedColumn::KeptKeys, None, BATCH).await? {
        let SealedRow::KeptKey(label) = &row else { continue };
        // A later version may keep keys that this one does not know.
        let Some(key) = KeyUse::parse(label) else { continue };
        let plain = Zeroizing::new(sealing.open(&bound_to(&row), &sealed).map_err(crate::Error::internal)?);
        with_kept.keep(key, &plain);
    }
    Ok(with_kept)
}
