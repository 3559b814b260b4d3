//! A batch of an import: reads what the database has of its records, decides about each, and writes accounts, report and
//! place. The rules are in [`latchkey_domain::imports::judge`].

mod found;

use std::collections::HashSet;
use std::sync::Arc;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::UserId;
use latchkey_domain::imports::{
    Clash, Filling, ImportCounts, Problem, ProblemCode, RecordOutcome, Verdict, judge,
};
use latchkey_domain::profile::Username;
use latchkey_store::{BatchOutcome, BatchRecord, ImportBatch, NewImported, RecordResult, StoreResult};
use uuid::Uuid;

use self::found::{Found, IdentityKey, Known, credential_ids, keys_of};
use super::delete_account;
use super::import_rows::{AccountRows, BatchRows, identity_row};
use crate::form::{Decided, Executor, ManyValues, Script, values};
use crate::tables::audit_events::event_values;
use crate::tables::imports::{INSERT_PROBLEMS, advance, lock_claimed, stored};
use crate::tables::users;

/// Id of an account that an earlier record of a dry run would have created.
const EARLIER: Uuid = Uuid::nil();

pub(crate) async fn run<E: Executor>(engine: &E, batch: ImportBatch) -> StoreResult<BatchOutcome> {
    let rows = batch.records.iter().map(|record| match &record.read {
        Ok(new) if !batch.is_dry_run => AccountRows::of(new, batch.now).map(Some),
        _ => Ok(None),
    });
    let rows = Arc::new(rows.collect::<StoreResult<Vec<_>>>()?);
    let mut reads = Script::default();
    let claimed = batch.is_stored.then(|| lock_claimed(&mut reads, batch.id, batch.claim));
    let found = Found::find(&mut reads, &batch);
    let batch = Arc::new(batch);
    if !batch.is_stored {
        return engine
            .read_long(reads, move |results| {
                let mut decision = Decision::new(&batch);
                decision.decide(&found.read(results)?, &rows)?;
                Ok(decision.outcome())
            })
            .await;
    }
    let kept = (Arc::clone(&batch), Arc::clone(&rows));
    let outcome = engine
        .transact_alone(reads, move |results| {
            let place = match claimed {
                Some(claimed) => results.find(claimed, |cells| cells.of("imports").int("read"))?,
                None => None,
            };
            if place != Some(stored(batch.before.read)) {
                return Ok(Decided::Return(BatchOutcome::Superseded));
            }
            let mut decision = Decision::new(&batch);
            decision.decide(&found.read(results)?, &rows)?;
            let writes = decision.script()?;
            Ok(Decided::done(writes, decision.outcome()))
        })
        .await;
    free_elsewhere(kept);
    outcome
}

/// Frees a batch on another thread, while the next batch is written. It takes a tenth of the time of the write.
fn free_elsewhere<T: Send + 'static>(batch: T) {
    // If no thread can be started, it is freed here.
    let _ = std::thread::Builder::new().name("import-freed".to_owned()).spawn(move || drop(batch));
}

/// Returns the result of a record whose place is not filled in yet.
const fn result_of(outcome: RecordOutcome, problems: Vec<Problem>) -> RecordResult {
    let linked = Vec::new();
    RecordResult {
        place: 0,
        file: None,
        line: 0,
        outcome,
        user_id: None,
        problems,
        linked,
        imported_id: None,
    }
}

/// State of the decision about a batch.
struct Decision<'b> {
    batch: &'b ImportBatch,
    counts: ImportCounts,
    results: Vec<RecordResult>,
    stopped: Option<(u64, Problem)>,
    /// Addresses of earlier records of the batch that were not refused.
    emails: HashSet<&'b str>,
    /// What earlier records of the batch created.
    ids: HashSet<UserId>,
    usernames: HashSet<&'b str>,
    identities: HashSet<IdentityKey<'b>>,
    passkeys: HashSet<&'b [u8]>,
    /// Statements that come before those of new accounts.
    first: Script,
    rows: BatchRows,
}

impl<'b> Decision<'b> {
    fn new(batch: &'b ImportBatch) -> Self {
        Self {
            batch,
            counts: batch.before.clone(),
            results: Vec::with_capacity(batch.records.len()),
            stopped: None,
            emails: HashSet::new(),
            ids: HashSet::new(),
            usernames: HashSet::new(),
            identities: HashSet::new(),
            passkeys: HashSet::new(),
            first: Script::default(),
            rows: BatchRows::default(),
        }
    }

    fn decide(&mut self, known: &Known, rows: &[Option<AccountRows>]) -> StoreResult<()> {
        for (record, rows) in self.batch.records.iter().zip(rows) {
            let result = match &record.read {
                Err(problem) => Some(result_of(RecordOutcome::Refused, vec![problem.clone()])),
                Ok(new) => self.decide_one(known, record, new, rows.as_ref())?,
            };
            let Some(result) = result else { return Ok(()) };
            self.note(record, result);
        }
        Ok(())
    }

    /// Decides about a record; `None` if the import ends before it.
    fn decide_one(
        &mut self,
        known: &Known,
        record: &'b BatchRecord,
        new: &'b NewImported,
        rows: Option<&AccountRows>,
    ) -> StoreResult<Option<RecordResult>> {
        let has_lost_factor = record
            .problems
            .iter()
            .any(|one| one.code == ProblemCode::FactorNotCarried && one.field.as_deref() != Some("passkeys"));
        let clash = Clash { has_lost_factor, ..self.clash(known, new) };
        let verdict = judge(&new.record, &clash, self.batch.policy);
        if !matches!(verdict, Verdict::Refuse(_) | Verdict::Stop(_)) {
            self.emails.insert(new.record.email.key().as_str());
        }
        Ok(Some(match verdict {
            Verdict::Stop(mut problem) => {
                if let Some(file) = &record.file {
                    problem.message = format!("in {file}: {}", problem.message);
                }
                self.stopped = Some((record.line, problem));
                return Ok(None);
            }
            Verdict::Refuse(problem) => result_of(RecordOutcome::Refused, vec![problem]),
            Verdict::Skip(problems) => result_of(RecordOutcome::Skipped, problems),
            Verdict::Update { id, filling, problems } => {
                self.fill(new, id, &filling)?;
                let linked = filling.identities;
                RecordResult { user_id: Some(id), linked, ..result_of(RecordOutcome::Updated, problems) }
            }
            Verdict::Create { replaces, keeps_username } => {
                let problems = self.create(record, new, rows, replaces, keeps_username)?;
                let imported_id = new.record.imported_id.clone().filter(|_| !self.batch.is_dry_run);
                let result = result_of(RecordOutcome::Created, problems);
                RecordResult { user_id: Some(new.id), imported_id, ..result }
            }
        }))
    }

    /// Returns what the database, or an earlier record of the batch, has of a record.
    fn clash(&self, known: &Known, new: &NewImported) -> Clash {
        let mut clash = known.clash(new, self.batch.is_dry_run);
        let earlier = Some(UserId::from(EARLIER));
        clash.is_duplicate |= self.emails.contains(new.record.email.key().as_str());
        if new.record.id.is_some_and(|id| self.ids.contains(&id)) {
            clash.id_owner = earlier;
        }
        if new.username().is_some_and(|name| self.usernames.contains(name.as_str())) {
            clash.username_owner = earlier;
        }
        for (identity, owner) in new.identities.iter().zip(&mut clash.identity_owners) {
            if keys_of(identity).iter().any(|key| self.identities.contains(key)) {
                *owner = earlier;
            }
        }
        clash.is_passkey_taken |= credential_ids(new).any(|id| self.passkeys.contains(id));
        clash
    }

    fn create(
        &mut self,
        record: &BatchRecord,
        new: &'b NewImported,
        rows: Option<&AccountRows>,
        replaces: Option<UserId>,
        keeps_username: bool,
    ) -> StoreResult<Vec<Problem>> {
        let batch = self.batch;
        if let Some(pending) = replaces.filter(|_| !batch.is_dry_run) {
            delete_account::delete(&mut self.first, pending);
        }
        if let Some(rows) = rows {
            self.rows.create(rows, new, keeps_username, (batch.id, record.place, batch.now))?;
        }
        self.ids.insert(new.id);
        self.remember_identities(new, 0..new.identities.len());
        self.passkeys.extend(credential_ids(new));
        let username = new.username().map(Username::as_str);
        if keeps_username {
            self.usernames.extend(username);
            return Ok(Vec::new());
        }
        let taken =
            |_| Problem::of(ProblemCode::UsernameTaken, "username", "another account has the username");
        Ok(username.map(taken).into_iter().collect())
    }

    fn fill(&mut self, new: &'b NewImported, id: UserId, filling: &Filling) -> StoreResult<()> {
        self.remember_identities(new, filling.identities.iter().copied());
        let now = self.batch.now;
        if self.batch.is_dry_run {
            return Ok(());
        }
        if let Some(metadata) = &filling.metadata {
            users::set_metadata(&mut self.first, id, metadata)?;
        }
        if let Some(password) = new.password.as_ref().filter(|_| filling.takes_password) {
            users::save_password(&mut self.first, id, password, new.record.has_proven_password(), now);
        }
        users::touch(&mut self.first, id, now);
        self.rows.identities.extend(filling.identities.iter().map(|at| identity_row(new, *at, id, now)));
        let event = AuditEvent { user_id: Some(id), ..new.event.clone() };
        self.rows.events.push(event_values(event)?.into());
        Ok(())
    }

    fn remember_identities(&mut self, new: &'b NewImported, places: impl IntoIterator<Item = usize>) {
        let keys = places.into_iter().map(|at| &new.identities[at]);
        self.identities.extend(keys.map(|one| keys_of(one)[0]));
    }

    /// Counts a result, and adds the place of its record and the problems of its fields.
    fn note(&mut self, record: &BatchRecord, mut result: RecordResult) {
        self.counts.count(result.outcome);
        result.problems.splice(0..0, record.problems.iter().cloned());
        for problem in &result.problems {
            self.counts.note(problem);
        }
        let (place, file, line) = (record.place, record.file.clone(), record.line);
        self.results.push(RecordResult { place, file, line, ..result });
    }

    /// Takes the script that writes the batch.
    fn script(&mut self) -> StoreResult<Script> {
        let mut writes = std::mem::take(&mut self.first);
        std::mem::take(&mut self.rows).write(&mut writes);
        let lines = self.results.iter().flat_map(|result| self.report_lines(result)).collect();
        writes.change_many(&INSERT_PROBLEMS, lines);
        advance(&mut writes, self.batch.id, &self.counts, self.batch.now)?;
        Ok(writes)
    }

    fn report_lines(&self, result: &RecordResult) -> Vec<ManyValues> {
        let row =
            |(number, line): (u32, String)| values![self.batch.id, stored(result.place), number, line].into();
        (0..).zip(result.report_lines()).map(row).collect()
    }

    fn outcome(self) -> BatchOutcome {
        BatchOutcome::Written { counts: self.counts, results: self.results, stopped: self.stopped }
    }
}
