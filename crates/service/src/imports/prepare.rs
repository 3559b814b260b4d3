//! What a record needs to become an account: ids, sealed secrets, issuers, folded text. It is made on the thread that reads
//! the file, so that nothing of it happens in a transaction.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::identity::{Issuer, ProviderKey, VerifiedIdentity};
use latchkey_domain::ids::{FactorId, PasskeyId, ProfileId, UserId};
use latchkey_domain::imported_hash::ImportedHash;
use latchkey_domain::imports::{ImportIdentity, ImportRecord, Problem, ProblemCode};
use latchkey_domain::operator::Party;
use latchkey_domain::passkey::RpId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{Bio, Name, Profile, Username};
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_import::Entry;
use latchkey_store::{BatchRecord, NewImported, NewImportedTotp, SeenBefore};
use latchkey_webauthn::CoseKey;

use super::seen::Seen;
use super::{Imports, RunningImport};
use crate::factors::Factors;
use crate::kernel::Kernel;

/// Least difference of two times.
const MOMENT: Duration = Duration::from_millis(1);

/// Maker of batches' records.
pub(super) struct Preparer {
    kernel: Arc<Kernel>,
    factors: Arc<Factors>,
    /// Issuer of each configured provider.
    configured: HashMap<ProviderKey, Issuer>,
    /// Issuers of built-in providers that are not configured.
    known: HashMap<ProviderKey, Issuer>,
    /// Relying party id under which passkeys are usable.
    rp_id: Option<RpId>,
    party: Party,
    import_id: String,
    started_at: Timestamp,
    is_dry_run: bool,
    seen: Arc<Mutex<Seen>>,
}

impl Preparer {
    pub(super) fn new(imports: &Imports, running: &RunningImport, seen: Arc<Mutex<Seen>>) -> Self {
        let providers = imports.shared.providers.load();
        let known: HashMap<_, _> = providers.issuers().into_iter().collect();
        let issuer = |key: &ProviderKey| known.get(key).cloned().unwrap_or_else(Issuer::unknown);
        Self {
            kernel: Arc::clone(&imports.kernel),
            factors: Arc::clone(&imports.factors),
            configured: providers.all().map(|one| (one.key.clone(), issuer(&one.key))).collect(),
            known,
            rp_id: imports.sessions.factor_rules().rp_id,
            party: running.party,
            import_id: running.job.id.to_string(),
            started_at: running.job.started_at,
            is_dry_run: running.job.is_dry_run,
            seen,
        }
    }

    /// Takes note of a record that an earlier process wrote.
    pub(super) fn skip(&self, entry: &Entry) {
        if let Ok(record) = &entry.read {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).skip(record);
        }
    }

    /// Makes the record of a batch.
    pub(super) fn prepare(&self, place: u64, entry: Entry, now: Timestamp) -> BatchRecord {
        let Entry { file, line, read, mut problems } = entry;
        let read = read.map(|record| Box::new(self.account(*record, &mut problems, now)));
        BatchRecord { place, file, line, read, problems }
    }

    fn account(&self, mut record: ImportRecord, problems: &mut Vec<Problem>, now: Timestamp) -> NewImported {
        let id = record.id.unwrap_or_else(|| UserId::new(now, self.kernel.id_bytes(now)));
        // A sign-in from the start of the import on counts as one here, which an undo respects.
        record.last_sign_in_at = record.last_sign_in_at.map(|time| time.min(self.started_at.minus(MOMENT)));
        self.check_factors(&mut record, problems);
        self.settle_issuers(&mut record);
        let identities = record.identities.iter().map(|one| self.identity(one, &record, problems)).collect();
        let profile = self.profile(id, &record, now);
        let text = if self.is_dry_run { SearchText::default() } else { text_of(profile.as_ref()) };
        NewImported {
            id,
            password: record.password.as_ref().and_then(stored_hash),
            identities,
            totp: self.totp(id, &record, problems, now),
            passkey_ids: record
                .passkeys
                .iter()
                .map(|_| PasskeyId::new(now, self.kernel.id_bytes(now)))
                .collect(),
            seen: SeenBefore::default(),
            event: self.event(now),
            profile,
            text,
            record,
        }
    }

    fn event(&self, now: Timestamp) -> AuditEvent {
        let mut event = self.kernel.event(AuditKind::UserImported, self.party, None, now);
        event.details.insert("importId".to_owned(), self.import_id.as_str().into());
        event
    }

    /// Gives each identity its issuer: that of the file, else that of its provider. Two that are the same then are one.
    fn settle_issuers(&self, record: &mut ImportRecord) {
        for one in &mut record.identities {
            let of_provider = || self.configured.get(&one.provider).or_else(|| self.known.get(&one.provider));
            if one.issuer.is_none() {
                one.issuer = Some(of_provider().cloned().unwrap_or_else(Issuer::unknown));
            }
        }
        let mut met = HashSet::new();
        record
            .identities
            .retain(|one| met.insert((one.provider.clone(), one.issuer.clone(), one.subject.clone())));
    }

    fn identity(
        &self,
        identity: &ImportIdentity,
        record: &ImportRecord,
        problems: &mut Vec<Problem>,
    ) -> VerifiedIdentity {
        let ImportIdentity { provider, issuer, subject, email } = identity.clone();
        if !self.configured.contains_key(&provider) {
            let message = "the identity is kept, and works once its provider is configured";
            problems.push(Problem::of(ProblemCode::ProviderNotConfigured, "identities", message));
        }
        let is_own = |email: &latchkey_domain::email::Email| email.key() == record.email.key();
        VerifiedIdentity {
            issuer: issuer.unwrap_or_else(Issuer::unknown),
            provider,
            subject,
            // Only the source knows who verified another address.
            email_verified: record.email_verified && email.as_ref().is_some_and(is_own),
            email,
            name: Name::default(),
            avatar_url: None,
        }
    }

    fn totp(
        &self,
        id: UserId,
        record: &ImportRecord,
        problems: &mut Vec<Problem>,
        now: Timestamp,
    ) -> Vec<NewImportedTotp> {
        let mut factors = Vec::new();
        for totp in &record.totp {
            let factor = FactorId::new(now, self.kernel.id_bytes(now));
            match self.factors.seal_totp(&totp.secret, (id, factor)) {
                Some(secret) => factors.push(NewImportedTotp { id: factor, name: totp.name.clone(), secret }),
                None => problems.push(Problem::of(
                    ProblemCode::FactorNotCarried,
                    "totp",
                    "the secret is not valid",
                )),
            }
        }
        factors
    }

    /// Leaves out passkeys whose key cannot verify anything, and two-step sign-in that nobody could pass.
    fn check_factors(&self, record: &mut ImportRecord, problems: &mut Vec<Problem>) {
        let mut tell = |field: &str, message: &str| {
            problems.push(Problem::of(ProblemCode::FactorNotCarried, field, message));
        };
        let count = record.passkeys.len();
        record.passkeys.retain(|passkey| CoseKey::parse(&passkey.public_key).is_ok());
        if record.passkeys.len() < count {
            tell("passkeys", "the public key of a passkey is not valid");
        }
        let is_usable = |of: &RpId| Some(of) == self.rp_id.as_ref();
        if !record.passkeys.iter().all(|passkey| is_usable(&passkey.rp_id)) {
            tell("passkeys", "a passkey of another passkeys.rp_id is kept, and works under that one alone");
        }
        let has_factor =
            !record.totp.is_empty() || record.passkeys.iter().any(|passkey| is_usable(&passkey.rp_id));
        if record.has_two_step && !has_factor {
            record.has_two_step = false;
            tell("twoStep", "two-step sign-in is off, because no passkey of the account works here");
        }
    }

    fn profile(&self, user_id: UserId, record: &ImportRecord, now: Timestamp) -> Option<Profile> {
        let is_empty = record.name.as_str().is_empty()
            && record.username.is_none()
            && record.avatar_url.is_none()
            && record.bio.is_none()
            && record.custom.is_empty()
            && record.profile_metadata.as_map().is_empty();
        if !record.has_profile.unwrap_or(!is_empty || self.kernel.site.create_profile_on_sign_up) {
            return None;
        }
        let created_at = record.created_at.unwrap_or(now);
        Some(Profile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            user_id,
            name: record.name.clone(),
            username: record.username.clone(),
            avatar_url: record.avatar_url.clone(),
            bio: record.bio.clone(),
            metadata: record.profile_metadata.clone(),
            custom: record.custom.clone(),
            created_at,
            // As that of the account, by which an export of what changed since a day goes.
            updated_at: record.updated_at.map_or(now, |time| time.min(now)),
            version: 1,
        })
    }
}

/// Returns a hash in the form in which it is stored; `None` for one with a signer key, which is stored before the batch.
fn stored_hash(hash: &ImportedHash) -> Option<PasswordHash> {
    hash.signer_key().is_none().then(|| hash.to_password_hash())
}

fn text_of(profile: Option<&Profile>) -> SearchText {
    profile.map_or_else(SearchText::default, |profile| {
        let (username, bio) = (profile.username.as_ref(), profile.bio.as_ref());
        SearchText::of(profile.name.as_str(), username.map(Username::as_str), bio.map(Bio::as_str))
    })
}
