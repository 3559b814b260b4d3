//! Helpers of the cases, each of which makes one call of the store, or the request for it: imports.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::identity::{Issuer, ProviderKey, Subject, VerifiedIdentity};
use latchkey_domain::ids::{ImportId, PasskeyId};
use latchkey_domain::imports::{
    ConflictPolicy, ImportIdentity, ImportJob, ImportRecord, ImportState, ProblemCode, RecordOutcome,
};
use latchkey_domain::profile::{Metadata, Name, NewProfile, Profile, Username};
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::AppMetadata;
use latchkey_store::{
    BatchOutcome, BatchRecord, BeginImport, BegunImport, ImportBatch, NewImported, RecordResult, SeenBefore,
};
use serde_json::{Map, json};
use uuid::Uuid;

use super::fixtures::{World, at, email, object, password};

/// A record of a verified account with a password, a username and an identity at Google.
pub(super) fn record(name: &str) -> ImportRecord {
    let identity = ImportIdentity {
        provider: ProviderKey::parse("google").unwrap(),
        issuer: None,
        subject: Subject::parse(name).unwrap(),
        email: Some(email(name)),
    };
    ImportRecord {
        id: None,
        imported_id: None,
        email: email(name),
        email_verified: true,
        password: None,
        is_password_proven: None,
        hash_key: None,
        has_profile: None,
        name: Name::parse(name).unwrap(),
        username: Some(Username::parse(&format!("{name}-handle")).unwrap()),
        avatar_url: None,
        bio: None,
        metadata: AppMetadata::new(object(json!({"importedId": format!("u-{name}"), "plan": "pro"})))
            .unwrap(),
        profile_metadata: Metadata::default(),
        custom: Map::new(),
        locale: None,
        is_banned: false,
        deletes_at: None,
        first_verified_at: None,
        is_contested: false,
        created_at: Some(at(-1_000)),
        updated_at: None,
        last_sign_in_at: None,
        identities: vec![identity],
        has_two_step: false,
        totp: Vec::new(),
        user_handle: None,
        passkeys: Vec::new(),
    }
}

/// A record without what an account that is there does not take.
pub(super) fn nameless(name: &str) -> ImportRecord {
    ImportRecord { name: Name::default(), username: None, ..record(name) }
}

impl World {
    pub(super) fn begin(&self, digest: u8, now: Timestamp) -> BeginImport {
        BeginImport {
            id: self.id(now, ImportId::new),
            from: "csv".to_owned(),
            source: "users.csv".to_owned(),
            digest: [digest; 32],
            is_dry_run: false,
            policy: ConflictPolicy::Skip,
            claim: self.id(now, ImportId::new).as_uuid(),
            takes_over: true,
            idle: Duration::from_mins(1),
            event: self.event(AuditKind::ImportStarted, now),
            now,
        }
    }

    fn imported(&self, record: ImportRecord, now: Timestamp) -> NewImported {
        let id = record.id.unwrap_or_else(|| self.user_id(now));
        let identity = |one: &ImportIdentity| VerifiedIdentity {
            provider: one.provider.clone(),
            issuer: Issuer::parse("https://accounts.google.com").unwrap(),
            subject: one.subject.clone(),
            email: one.email.clone(),
            email_verified: true,
            name: Name::default(),
            avatar_url: None,
        };
        let new = NewProfile { id: self.profile_id(now), name: record.name.clone(), avatar_url: None };
        let profile = Profile { username: record.username.clone(), ..new.into_profile(id, now) };
        let username = record.username.as_ref().map(Username::as_str);
        NewImported {
            id,
            password: Some(password("imported")),
            identities: record.identities.iter().map(identity).collect(),
            totp: Vec::new(),
            passkey_ids: record.passkeys.iter().map(|_| self.id(now, PasskeyId::new)).collect(),
            text: SearchText::of(record.name.as_str(), username, None),
            profile: Some(profile),
            seen: SeenBefore::default(),
            event: self.event(AuditKind::UserImported, now),
            record,
        }
    }

    pub(super) fn batch(
        &self,
        job: &(ImportJob, Uuid),
        records: Vec<ImportRecord>,
        now: Timestamp,
    ) -> ImportBatch {
        let before = job.0.counts.clone();
        let one = |(place, record): (u64, ImportRecord)| BatchRecord {
            place,
            file: None,
            line: place + 1,
            read: Ok(Box::new(self.imported(record, now))),
            problems: Vec::new(),
        };
        ImportBatch {
            id: job.0.id,
            claim: job.1,
            policy: job.0.policy,
            records: (before.read + 1..).zip(records).map(one).collect(),
            before,
            is_dry_run: false,
            is_stored: true,
            now,
        }
    }

    pub(super) async fn begun_import(&self, policy: ConflictPolicy, now: Timestamp) -> (ImportJob, Uuid) {
        let begin = BeginImport { policy, ..self.begin(1, now) };
        let claim = begin.claim;
        match self.begin_import(begin).await.unwrap() {
            BegunImport::Begun(job) => (job, claim),
            other => panic!("{other:?}"),
        }
    }

    /// Writes a batch, and returns the outcome of each record.
    pub(super) async fn write(&self, job: &mut (ImportJob, Uuid), batch: ImportBatch) -> Vec<RecordResult> {
        match self.write_import_batch(batch).await.unwrap() {
            BatchOutcome::Written { counts, results, .. } => {
                job.0.counts = counts;
                results
            }
            BatchOutcome::Superseded => panic!("superseded"),
        }
    }

    /// Imports records, and returns the outcome of each.
    pub(super) async fn import(
        &self,
        policy: ConflictPolicy,
        records: Vec<ImportRecord>,
        now: Timestamp,
    ) -> Vec<RecordResult> {
        let mut job = self.begun_import(policy, now).await;
        let batch = self.batch(&job, records, now);
        let results = self.write(&mut job, batch).await;
        self.end_import(job.0.id, job.1, ImportState::Done, None, now).await.unwrap();
        results
    }
}

/// Outcomes with the codes of their problems.
pub(super) fn told(results: &[RecordResult]) -> Vec<(RecordOutcome, Vec<ProblemCode>)> {
    let told = |one: &RecordResult| (one.outcome, one.problems.iter().map(|problem| problem.code).collect());
    results.iter().map(told).collect()
}
