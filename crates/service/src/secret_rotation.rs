//! Replacement of the server secret: everything that is sealed under the old one is sealed anew, value by value. An
//! interrupted replacement goes on when it is started again; no service starts meanwhile.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::EventId;
use latchkey_domain::instance::{Instance, SEEN_LATELY};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BeginSecretRotation, Resealed, SealedColumn, SealedRow, SealedValue, Store, StoreError, StoredSigningKey,
};
use serde_json::Map;
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::factors::totp_binding;
use crate::secrets::{AtRotation, CannotDerive, CannotOpen, KeyUse, SealingKey, ServerSecret, WrongSecret};

/// Number of values that are read, and sealed anew, at once.
const BATCH: u32 = 500;

/// Pause between two looks at the instances that still run.
const POLL: Duration = Duration::from_millis(250);

/// Who else may have the database open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Any number of instances, which report themselves.
    Instances,
    /// Nobody: the caller has checked that the file is in no other process. A service may have started since.
    File,
}

impl Sharing {
    /// Returns the time after the begin of a replacement in which an instance may write under the old secret that had
    /// read the database just before: the rest of its start, and its poll of the shared state. An instance that reports
    /// itself is waited for in any case.
    const fn settling(self) -> Duration {
        match self {
            Self::Instances => Duration::from_secs(5),
            Self::File => Duration::from_secs(2),
        }
    }
}

/// What a replacement has done so far.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// All values of a column are sealed anew; the number of values that it has.
    Sealed(SealedColumn, u64),
    /// The replacement waits until this instance, which started meanwhile, has noticed and stopped.
    WaitsFor(&'a Instance),
}

/// The replacement of the server secret.
pub struct SecretRotation {
    pub sharing: Sharing,
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
        "an earlier rotation is unfinished, and its two secrets are not these: run it again with the server.secret and \
         the server.secret_next that it was begun with"
    )]
    OtherRotation,
    #[error(
        "it does not open all signing keys of the database: is it the secret that the database was made with? Nothing was \
         changed"
    )]
    OtherDatabase,
    #[error(
        "it does not open the database, but server.secret_next does. The secret of this database was never rotated, so the \
         two are likely swapped: exchange them. Nothing was changed"
    )]
    Swapped,
    #[error(
        "it does not open the database, but server.secret_next does. The secret of this database was rotated before, so \
         this rotation is likely done: make server.secret_next the value of server.secret, and remove server.secret_next. \
         Nothing was changed"
    )]
    DoneBefore,
    /// The text names the instance, and says how long a killed one counts.
    #[error(
        "the service runs on this database ({0}). Stop all instances first: what they write under the old secret \
         meanwhile would be lost. One that was killed counts as running until it was not seen for {minutes} minutes: if \
         none runs any more, run the command again in {1} seconds",
        minutes = SEEN_LATELY.as_secs() / 60
    )]
    Running(String, u64),
    #[error(
        "an instance that started meanwhile does not stop ({0}), so the rotation is unfinished: stop it, and run the \
         command again with the same server.secret and server.secret_next"
    )]
    StillRunning(String),
}

/// The keys of one column, under both secrets.
struct Keys {
    old: SealingKey,
    new: SealingKey,
}

impl SecretRotation {
    /// Replaces the secret. `see` is told what was done.
    pub async fn run(&self, mut see: impl FnMut(Progress<'_>)) -> Result<Rotated, RotationError> {
        let was_begun = self.check().await?;
        self.refuse_running().await?;
        self.begin().await?;
        let begun = Instant::now();
        let mut total = self.pass(&mut see).await?;
        // An instance that read the database before the begin notices it only now, and may have written under the old
        // secret until then. What it wrote is sealed anew when it writes no more.
        self.settle(begun, &mut see).await?;
        loop {
            let pass = self.pass(&mut |_| ()).await?;
            total = Rotated { resealed: total.resealed + pass.resealed, unreadable: pass.unreadable };
            if pass.resealed == 0 {
                break;
            }
        }
        // A run that finds nothing to do is no event.
        let is_event = was_begun || total.resealed > 0;
        self.store.finish_secret_rotation(is_event.then(|| self.event())).await?;
        Ok(total)
    }

    /// Seals the values of all columns anew.
    async fn pass(&self, see: &mut impl FnMut(Progress<'_>)) -> Result<Rotated, RotationError> {
        let mut pass = Rotated::default();
        for column in SealedColumn::ALL {
            let (seen, rotated) = self.reseal(column).await?;
            see(Progress::Sealed(column, seen));
            pass.resealed += rotated.resealed;
            pass.unreadable += rotated.unreadable;
        }
        Ok(pass)
    }

    /// Refuses to begin while an instance reports that it runs: it would go on to write for a moment, and its users would
    /// see errors.
    async fn refuse_running(&self) -> Result<(), RotationError> {
        let now = self.clock.now();
        match self.running(now).await? {
            None => Ok(()),
            Some(instance) => {
                let gone = instance.seen_at.plus(SEEN_LATELY).since(now).as_secs() + 1;
                Err(RotationError::Running(name_of(&instance, now), gone))
            }
        }
    }

    /// Waits until no instance writes under the old secret any more: each has noticed the begin, finished its requests,
    /// and said that it stops.
    async fn settle(&self, begun: Instant, see: &mut impl FnMut(Progress<'_>)) -> Result<(), RotationError> {
        let settling = self.sharing.settling();
        let mut told = None;
        loop {
            let Some(instance) = self.running(self.clock.now()).await? else {
                if begun.elapsed() >= settling {
                    return Ok(());
                }
                sleep(POLL).await;
                continue;
            };
            // One that was killed is not seen by then.
            if begun.elapsed() > settling + SEEN_LATELY {
                return Err(RotationError::StillRunning(name_of(&instance, self.clock.now())));
            }
            if told != Some(instance.id) {
                told = Some(instance.id);
                see(Progress::WaitsFor(&instance));
            }
            sleep(POLL).await;
        }
    }

    /// Returns the instance that was seen last, if one reports that it runs.
    async fn running(&self, now: Timestamp) -> Result<Option<Instance>, RotationError> {
        if self.sharing == Sharing::File {
            return Ok(None);
        }
        let seen = self.store.list_instances(now.minus(SEEN_LATELY)).await?;
        Ok(seen.into_iter().max_by_key(|instance| instance.seen_at))
    }

    /// Refuses secrets that are not those of the database, before anything is changed. Returns whether an interrupted
    /// replacement goes on.
    async fn check(&self) -> Result<bool, RotationError> {
        if self.new.fingerprint()? == self.old.fingerprint()? {
            return Err(RotationError::SameSecret);
        }
        let unfinished = self.store.unfinished_secret_rotation().await?;
        // Earlier builds stored the fingerprint of the new secret alone.
        let own = [self.secrets()?, self.new.fingerprint()?];
        if unfinished.as_ref().is_some_and(|unfinished| !own.contains(unfinished)) {
            return Err(RotationError::OtherRotation);
        }
        let kept = self.store.list_sealed(SealedColumn::KeptKeys, None, BATCH).await?;
        let trace = SealedRow::KeptKey(self.trace()?);
        let was_begun = unfinished.is_some() || kept.iter().any(|key| key.row == trace);

        let keys = self.keys(SealedColumn::SigningKeys)?;
        let stored = self.store.list_signing_keys(self.clock.now()).await?;
        let opens = |key: &SealingKey, stored: &StoredSigningKey| {
            key.open(&bound_to(&SealedRow::SigningKey(stored.id)), &stored.sealed).is_ok()
        };
        // Only a replacement by these two secrets has sealed anything under the new one. Otherwise keys of a secret that
        // was never the database's would be stored as those that outlive it.
        let is_known = |stored| opens(&keys.old, stored) || (was_begun && opens(&keys.new, stored));
        if stored.iter().all(is_known) {
            return Ok(unfinished.is_some());
        }
        Err(match stored.iter().all(|stored| opens(&keys.new, stored)) {
            false => RotationError::OtherDatabase,
            true if kept.is_empty() => RotationError::Swapped,
            true => RotationError::DoneBefore,
        })
    }

    /// Returns the fingerprints of both secrets, by which an interrupted replacement knows them.
    fn secrets(&self) -> Result<String, CannotDerive> {
        Ok(format!("{}/{}", self.old.fingerprint()?, self.new.fingerprint()?))
    }

    /// Returns the label of the row that a replacement by these two secrets leaves among the kept keys.
    fn trace(&self) -> Result<String, CannotDerive> {
        Ok(format!("rotated/{}", self.secrets()?))
    }

    /// Stores the keys that outlive the old secret, and marks the replacement as begun.
    async fn begin(&self) -> Result<(), RotationError> {
        let sealing = self.new.sealing_key(KeyUse::KeptKeys)?;
        let seal = |label: String, plain: &[u8]| {
            let sealed =
                sealing.seal(&*self.entropy, &bound_to(&SealedRow::KeptKey(label.clone())), plain)?;
            Ok((label, sealed))
        };
        let keeps = KeyUse::ALL.iter().filter(|key| key.at_rotation() == AtRotation::Keeps);
        let kept = keeps.map(|key| seal(key.as_str().to_owned(), &*Zeroizing::new(self.old.key(*key)?)));
        let mut kept = kept.collect::<Result<Vec<_>, CannotDerive>>()?;
        kept.push(seal(self.trace()?, &[])?);
        let (secrets, now) = (self.secrets()?, self.clock.now());
        Ok(self.store.begin_secret_rotation(BeginSecretRotation { secrets, kept, now }).await?)
    }

    /// Seals the values of a column anew, in batches. Returns the number of values that it has, too.
    async fn reseal(&self, column: SealedColumn) -> Result<(u64, Rotated), RotationError> {
        let keys = self.keys(column)?;
        let (mut after, mut seen, mut rotated) = (None, 0, Rotated::default());
        loop {
            let values = self.store.list_sealed(column, after.as_ref(), BATCH).await?;
            let Some(last) = values.last() else { return Ok((seen, rotated)) };
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

/// Returns an instance in words, for a message.
fn name_of(instance: &Instance, now: Timestamp) -> String {
    let Instance { id, version, seen_at, .. } = instance;
    format!("instance {id}, version {version}, seen {} seconds ago", now.since(*seen_at).as_secs())
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
        // Other rows are traces of replacements, or keys of a later version.
        let Some(key) = KeyUse::parse(label) else { continue };
        let plain = Zeroizing::new(sealing.open(&bound_to(&row), &sealed).map_err(crate::Error::internal)?);
        with_kept.keep(key, &plain);
    }
    Ok(with_kept)
}
