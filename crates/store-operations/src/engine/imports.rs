//! Operations on imports: implementation of [`Imports`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{ImportId, UserId};
use latchkey_domain::imports::{ImportCounts, ImportJob, ImportState};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BatchOutcome, BeginImport, BegunImport, ImportBatch, ImportPage, ImportPosition, Imports, StoreResult,
    UndoImport, UndoneBatch,
};
use uuid::Uuid;

use super::Engine;
use crate::form::{Decided, Executor, Repeat, Script};
use crate::operations::{delete_account, import_batch};
use crate::tables::{audit_events, imported_accounts, imports, settings};

#[crate::measured]
#[async_trait]
impl<E: Executor> Imports for Engine<E> {
    async fn begin_import(&self, begin: BeginImport) -> StoreResult<BegunImport> {
        let mut reads = Script::default();
        // Two imports that begin at once may find none to lock.
        settings::lock_version(&mut reads);
        imports::lock_open(&mut reads);
        let open = imports::list_open(&mut reads);
        self.transact(reads, move |results| {
            let open = results.list(open, |cells| {
                let job = imports::read_import(cells)?;
                Ok((job, cells.array::<32>("digest")?))
            })?;
            let mut writes = Script::default();
            Ok(match find_open(&begin, &open) {
                Open::Running(id) => Decided::Return(BegunImport::Running(id)),
                Open::OtherOfFile(id) => Decided::Return(BegunImport::OtherOfFile(id)),
                Open::Changed(id) => Decided::Return(BegunImport::Changed(id)),
                Open::Same(job) => {
                    imports::resume(&mut writes, job.id, begin.claim, begin.now);
                    let job = ImportJob { state: ImportState::Running, active_at: begin.now, ..job.clone() };
                    Decided::done(writes, BegunImport::Resumed(job))
                }
                Open::None => {
                    imports::begin(&mut writes, &begin);
                    audit_events::record(&mut writes, begin.event.clone())?;
                    Decided::done(writes, BegunImport::Begun(job_of(&begin)))
                }
            })
        })
        .await
    }

    async fn write_import_batch(&self, batch: ImportBatch) -> StoreResult<BatchOutcome> {
        import_batch::run(&self.0, batch).await
    }

    async fn renew_import(&self, id: ImportId, claim: Uuid, now: Timestamp) -> StoreResult<bool> {
        let mut script = Script::default();
        let renewed = imports::renew(&mut script, id, claim, now);
        self.write(script, Repeat::Harmless, move |results| Ok(results.affected(renewed)? > 0)).await
    }

    async fn end_import(
        &self,
        id: ImportId,
        claim: Uuid,
        state: ImportState,
        line: Option<String>,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let mut script = Script::default();
        let ended = imports::end(&mut script, id, claim, state, now);
        if let Some(line) = &line {
            imports::insert_end(&mut script, id, claim, line);
        }
        self.write(script, Repeat::Harmless, move |results| Ok(results.affected(ended)? > 0)).await
    }

    async fn find_import(&self, id: ImportId) -> StoreResult<Option<ImportJob>> {
        let mut script = Script::default();
        let found = imports::find(&mut script, id);
        self.read(script, move |results| imports::import(results, found)).await
    }

    async fn list_imports(&self, position: ImportPosition, limit: u32) -> StoreResult<ImportPage> {
        let mut script = Script::default();
        let total = imports::total(&mut script);
        let page = imports::list(&mut script, position, limit);
        self.read(script, move |results| {
            let total = results.find(total, |cells| imports::count(cells.of("imports"), "total"))?;
            let mut jobs = results.list(page, imports::read_import)?;
            let has_more = jobs.len() > limit as usize;
            jobs.truncate(limit as usize);
            if matches!(position, ImportPosition::Before(_)) {
                jobs.reverse();
            }
            Ok(ImportPage { jobs, total: total.unwrap_or_default(), has_more })
        })
        .await
    }

    async fn list_import_problems(
        &self,
        id: ImportId,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<(u64, String)>> {
        let mut script = Script::default();
        let listed = imports::list_problems(&mut script, id, imports::stored(after), limit);
        self.read_long(script, move |results| {
            results.list(listed, |cells| {
                let place = imports::count(cells.of("import_problems"), "place")?;
                Ok((place, cells.text("line")?.to_owned()))
            })
        })
        .await
    }

    async fn list_imported_ids(
        &self,
        id: ImportId,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<(u64, UserId, Option<String>)>> {
        let mut script = Script::default();
        let listed = imported_accounts::list_ids(&mut script, id, imports::stored(after), limit);
        self.read_long(script, move |results| results.list(listed, imported_accounts::read_id)).await
    }

    async fn undo_import_batch(&self, undo: UndoImport) -> StoreResult<UndoneBatch> {
        let mut reads = Script::default();
        let (after, limit) = (imports::stored(undo.after), imports::stored(undo.events.len() as u64));
        imported_accounts::lock_page(&mut reads, undo.id, after, limit);
        let page = imported_accounts::find_page(&mut reads, undo.id, after, limit);
        self.transact(reads, move |results| {
            let found = results.list(page, imported_accounts::read_found)?;
            let mut writes = Script::default();
            imports::interrupt(&mut writes, undo.id);
            let mut undone =
                UndoneBatch { last: found.last().map(|last| last.place), ..UndoneBatch::default() };
            for (account, event) in found.iter().zip(&undo.events) {
                match account {
                    one if !one.is_there => undone.gone += 1,
                    one if one.has_signed_in => undone.signed_in += 1,
                    one if one.has_changed => undone.changed += 1,
                    one => {
                        undone.deleted += 1;
                        audit_events::record_of(&mut writes, event.clone(), one.user_id)?;
                        delete_account::delete(&mut writes, one.user_id);
                    }
                }
            }
            if undone.deleted > 0 {
                imports::forget_file(&mut writes, undo.id, &[0; 32]);
            }
            Ok(Decided::done(writes, undone))
        })
        .await
    }

    async fn end_undo(&self, id: ImportId, event: AuditEvent, now: Timestamp) -> StoreResult<bool> {
        let mut reads = Script::default();
        let found = imports::find_not_undone(&mut reads, id);
        self.transact(reads, move |results| {
            if !results.any(found)? {
                return Ok(Decided::Return(false));
            }
            let mut writes = Script::default();
            imports::end_undo(&mut writes, id, now);
            audit_events::record(&mut writes, event.clone())?;
            Ok(Decided::done(writes, true))
        })
        .await
    }
}

/// What the imports that run or were interrupted mean for one that begins.
enum Open<'a> {
    None,
    Same(&'a ImportJob),
    Running(ImportId),
    OtherOfFile(ImportId),
    Changed(ImportId),
}

fn find_open<'a>(begin: &BeginImport, open: &'a [(ImportJob, [u8; 32])]) -> Open<'a> {
    // A dry run has to remember what its earlier records have, so it begins anew.
    let is_same = |digest: &[u8; 32]| *digest == begin.digest && !begin.is_dry_run;
    let same = open.iter().find(|(_, digest)| is_same(digest)).map(|(job, _)| job);
    let is_of_file = |job: &ImportJob| begin.takes_over && job.source == begin.source;
    let is_alive =
        |job: &ImportJob| job.state == ImportState::Running && begin.now.since(job.active_at) < begin.idle;
    let running = open.iter().map(|(job, _)| job).find(|job| is_alive(job));
    if let Some(running) = running.filter(|job| !begin.takes_over || Some(job.id) != same.map(|same| same.id))
    {
        // Nothing tells here whether its process was killed.
        return if is_of_file(running) { Open::OtherOfFile(running.id) } else { Open::Running(running.id) };
    }
    if let Some(same) = same {
        return Open::Same(same);
    }
    let wrote = |job: &ImportJob| !job.is_dry_run && job.counts.created + job.counts.updated > 0;
    let changed = open.iter().map(|(job, _)| job).find(|job| is_of_file(job) && wrote(job));
    changed.map_or(Open::None, |job| Open::Changed(job.id))
}

fn job_of(begin: &BeginImport) -> ImportJob {
    ImportJob {
        id: begin.id,
        state: ImportState::Running,
        from: begin.from.clone(),
        source: begin.source.clone(),
        is_dry_run: begin.is_dry_run,
        policy: begin.policy,
        counts: ImportCounts::default(),
        started_at: begin.now,
        active_at: begin.now,
        ended_at: None,
    }
}
