//! A batch of an import: reads what the database has of its records, decides about each, and writes accounts, report and
//! place. The rules are in [`latchkey_domain::imports::judge`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::imports::{
    Clash, Filling, ImportCounts, Occupant, Problem, ProblemCode, RecordOutcome, Verdict, judge,
};
use latchkey_domain::profile::Username;
use latchkey_store::{BatchOutcome, BatchRecord, ImportBatch, NewImported, RecordResult, StoreResult};
use serde_json::Value as Json;
use uuid::Uuid;

use super::delete_account;
use super::import_rows::{AccountRows, BatchRows, identity_row};
use crate::form::{Decided, Executor, ManyValues, Results, Script, Slot, values};
use crate::tables::audit_events::event_values;
use crate::tables::imports::{
    FIND_IDENTITIES, FIND_IDS, FIND_OCCUPANTS, FIND_PASSKEYS, FIND_RESERVED, FIND_USERNAMES, INSERT_PROBLEMS,
    LOCK_OCCUPANTS, advance, lock_claimed, read_many, read_occupant, stored,
};
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

/// Handles of the statements that read what the database has of the records of a batch.
#[derive(Clone, Copy)]
struct Found {
    occupants: Option<Slot>,
    reserved: Option<Slot>,
    ids: Option<Slot>,
    usernames: Option<Slot>,
    identities: Option<Slot>,
    passkeys: Option<Slot>,
}

/// What the database has of the records of a batch.
struct Known {
    occupants: HashMap<String, Occupant>,
    reserved: HashSet<String>,
    ids: HashSet<UserId>,
    usernames: HashMap<String, UserId>,
    identities: HashMap<(String, String), UserId>,
    /// Credential ids.
    passkeys: HashSet<Vec<u8>>,
}

impl Found {
    fn find(reads: &mut Script, batch: &ImportBatch) -> Self {
        let news = || batch.records.iter().filter_map(|record| record.read.as_ref().ok());
        let emails: Vec<Json> = news().map(|new| new.record.email.key().as_str().into()).collect();
        let ids: Vec<Json> = news()
            .filter_map(|new| new.record.id)
            .map(|id| id.as_uuid().simple().to_string().into())
            .collect();
        let usernames: Vec<Json> =
            news().filter_map(|new| new.username()).map(|name| name.as_str().into()).collect();
        let identities: Vec<Json> = news().flat_map(|new| &new.identities).flat_map(issuers_of).collect();
        let passkeys: Vec<Json> =
            news().flat_map(|new| credential_ids(new)).map(|id| hex::encode(id).into()).collect();
        if !batch.is_dry_run && !emails.is_empty() {
            read_many(reads, &LOCK_OCCUPANTS, &emails, Vec::new());
        }
        let mut many =
            |sql, keys: &[Json], more| (!keys.is_empty()).then(|| read_many(reads, sql, keys, more));
        Self {
            occupants: many(&FIND_OCCUPANTS, &emails, Vec::new()),
            reserved: many(&FIND_RESERVED, &emails, values![batch.now]),
            ids: many(&FIND_IDS, &ids, Vec::new()),
            usernames: many(&FIND_USERNAMES, &usernames, Vec::new()),
            identities: many(&FIND_IDENTITIES, &identities, Vec::new()),
            passkeys: many(&FIND_PASSKEYS, &passkeys, Vec::new()),
        }
    }

    fn read(self, results: &Results<'_>) -> StoreResult<Known> {
        let occupants = list(results, self.occupants, read_occupant)?;
        let reserved =
            list(results, self.reserved, |cells| Ok(cells.of("undo_tokens").text("email")?.to_owned()))?;
        let ids = list(results, self.ids, |cells| cells.of("users").id("id"))?;
        let usernames = list(results, self.usernames, |cells| {
            let username = cells.of("profiles").text("username")?.to_owned();
            Ok((username, cells.id("user_id")?))
        })?;
        let identities = list(results, self.identities, |cells| {
            let key =
                (cells.of("identities").text("provider")?.to_owned(), cells.text("subject")?.to_owned());
            Ok((key, cells.id("user_id")?))
        })?;
        let passkeys = list(results, self.passkeys, |cells| cells.of("passkeys").bytes("credential_id"))?;
        Ok(Known {
            occupants: occupants.into_iter().collect(),
            reserved: reserved.into_iter().collect(),
            ids: ids.into_iter().collect(),
            usernames: usernames.into_iter().collect(),
            identities: identities.into_iter().collect(),
            passkeys: passkeys.into_iter().collect(),
        })
    }
}

/// Decodes the rows of a statement, if it was added.
fn list<T, R>(results: &Results<'_>, slot: Option<Slot>, read: R) -> StoreResult<Vec<T>>
where
    R: FnMut(&mut crate::form::Cells<'_>) -> StoreResult<T>,
{
    slot.map_or(Ok(Vec::new()), |slot| results.list(slot, read))
}

/// Returns the credential ids of the passkeys of a record.
fn credential_ids(new: &NewImported) -> impl Iterator<Item = &[u8]> {
    new.record.passkeys.iter().map(|passkey| passkey.credential_id.as_bytes())
}

/// Returns the keys under which an identity may be stored: with its issuer, and without one.
fn issuers_of(identity: &latchkey_domain::identity::VerifiedIdentity) -> Vec<Json> {
    use latchkey_domain::identity::Issuer;
    let key = |issuer: &Issuer| {
        Json::from(vec![identity.provider.as_str(), issuer.as_str(), identity.subject.as_str()])
    };
    let unknown = Issuer::unknown();
    if identity.issuer == unknown { vec![key(&unknown)] } else { vec![key(&identity.issuer), key(&unknown)] }
}

impl Known {
    fn clash(&self, new: &NewImported, is_dry_run: bool) -> Clash {
        let key: &EmailKey = new.record.email.key();
        let earlier = |was_seen: bool| (is_dry_run && was_seen).then(|| EARLIER.into());
        let occupant = self.occupants.get(key.as_str()).cloned();
        let is_reserved = self.reserved.contains(key.as_str());
        let username = new.username();
        Clash {
            is_duplicate: new.seen.email && (is_dry_run || is_reserved || occupant.is_some()),
            is_reserved,
            id_owner: new.record.id.filter(|id| self.ids.contains(id)).or_else(|| earlier(new.seen.id)),
            username_owner: username
                .and_then(|name| self.usernames.get(name.as_str()).copied())
                .or_else(|| earlier(new.seen.username)),
            identity_owners: self.identity_owners(new, is_dry_run),
            is_passkey_taken: (is_dry_run && new.seen.passkey)
                || credential_ids(new).any(|id| self.passkeys.contains(id)),
            occupant,
        }
    }

    fn identity_owners(&self, new: &NewImported, is_dry_run: bool) -> Vec<Option<UserId>> {
        let key = |identity: &latchkey_domain::identity::VerifiedIdentity| {
            (identity.provider.as_str().to_owned(), identity.subject.as_str().to_owned())
        };
        new.identities
            .iter()
            .enumerate()
            .map(|(at, one)| {
                let is_earlier = is_dry_run && new.seen.identities.contains(&at);
                self.identities.get(&key(one)).copied().or(is_earlier.then(|| EARLIER.into()))
            })
            .collect()
    }
}

/// Returns the result of a record whose place is not filled in yet.
const fn result_of(outcome: RecordOutcome, problems: Vec<Problem>) -> RecordResult {
    let linked = Vec::new();
    RecordResult { place: 0, line: 0, outcome, user_id: None, problems, linked, imported_id: None }
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
    identities: HashSet<(&'b str, &'b str)>,
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
        let clash = self.clash(known, new);
        let verdict = judge(&new.record, &clash, self.batch.policy);
        if !matches!(verdict, Verdict::Refuse(_) | Verdict::Stop(_)) {
            self.emails.insert(new.record.email.key().as_str());
        }
        Ok(Some(match verdict {
            Verdict::Stop(problem) => {
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
            if self.identities.contains(&(identity.provider.as_str(), identity.subject.as_str())) {
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
            users::save_password(&mut self.first, id, password, true, now);
        }
        users::touch(&mut self.first, id, now);
        self.rows.identities.extend(filling.identities.iter().map(|at| identity_row(new, *at, id, now)));
        let event = AuditEvent { user_id: Some(id), ..new.event.clone() };
        self.rows.events.push(event_values(event)?.into());
        Ok(())
    }

    fn remember_identities(&mut self, new: &'b NewImported, places: impl IntoIterator<Item = usize>) {
        let keys = places.into_iter().map(|at| &new.identities[at]);
        self.identities.extend(keys.map(|one| (one.provider.as_str(), one.subject.as_str())));
    }

    /// Counts a result, and adds the place of its record and the problems of its fields.
    fn note(&mut self, record: &BatchRecord, mut result: RecordResult) {
        self.counts.count(result.outcome);
        result.problems.splice(0..0, record.problems.iter().cloned());
        for problem in &result.problems {
            self.counts.note(problem);
        }
        self.results.push(RecordResult { place: record.place, line: record.line, ..result });
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
