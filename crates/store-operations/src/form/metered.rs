//! An executor that counts the audit events of the scripts that were committed.

use std::ops::Deref;

use latchkey_domain::audit::AuditKind;
use latchkey_store::StoreResult;

use super::{Decided, Executor, Pages, Receiver, Repeat, Results, Script, Slot};
use crate::meter::Meter;
use crate::tables::audit_events::kind_written;

/// An engine's executor, with the metrics of its storage.
pub struct Metered<E> {
    executor: E,
    meter: Meter,
}

/// Numbers of audit events, by kind. Most scripts have none.
type Events = Vec<(AuditKind, u64)>;

impl<E> Metered<E> {
    pub(crate) fn new(executor: E) -> Self {
        Self { executor, meter: Meter::default() }
    }

    pub(crate) fn into_inner(self) -> E {
        self.executor
    }

    pub(crate) const fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl<E> Deref for Metered<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.executor
    }
}

/// Finds the statements of a script that insert audit events.
fn inserts(script: &Script) -> Vec<(Slot, AuditKind)> {
    let statements = script.statements().iter().enumerate();
    statements.filter_map(|(at, one)| Some((Slot::at(at), kind_written(one)?))).collect()
}

/// Returns the events that the statements inserted. A conditional one may have inserted none.
fn inserted(results: &Results<'_>, inserts: &[(Slot, AuditKind)]) -> StoreResult<Events> {
    inserts.iter().map(|(slot, kind)| Ok((*kind, results.affected(*slot)?))).collect()
}

impl<E: Executor> Executor for Metered<E> {
    const HAS_ONE_WRITER: bool = E::HAS_ONE_WRITER;

    async fn read<T, F>(&self, script: Script, finish: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        self.executor.read(script, finish).await
    }

    async fn read_long<T, F>(&self, script: Script, finish: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        self.executor.read_long(script, finish).await
    }

    async fn read_pages<P, R>(&self, pages: P, receiver: R) -> StoreResult<()>
    where
        P: Pages,
        R: Receiver<P::Page>,
    {
        self.executor.read_pages(pages, receiver).await
    }

    async fn write<T, F>(&self, script: Script, repeat: Repeat, finish: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let inserts = inserts(&script);
        let finish = move |results: &Results<'_>| Ok((finish(results)?, inserted(results, &inserts)?));
        let (outcome, events) = self.executor.write(script, repeat, finish).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }

    async fn write_unless_contested<T, F>(&self, script: Script, finish: F) -> StoreResult<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let inserts = inserts(&script);
        let finish = move |results: &Results<'_>| Ok((finish(results)?, inserted(results, &inserts)?));
        let written = self.executor.write_unless_contested(script, finish).await?;
        Ok(written.map(|(outcome, events)| {
            self.meter.count_events(&events);
            outcome
        }))
    }

    async fn transact<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        let decide = counting(inserts(&reads), decide);
        let (outcome, events) = self.executor.transact(reads, decide).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }

    async fn transact_alone<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        let decide = counting(inserts(&reads), decide);
        let (outcome, events) = self.executor.transact_alone(reads, decide).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }
}

/// Makes a decision whose outcome has the events that its scripts inserted; `first` are those of the script before it.
fn counting<T: Send + 'static>(
    first: Vec<(Slot, AuditKind)>,
    decide: impl Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
) -> impl Fn(&Results<'_>) -> StoreResult<Decided<(T, Events)>> + Send + Sync + 'static {
    move |results| {
        Ok(match decide(results)? {
            Decided::Return(outcome) => Decided::Return((outcome, Events::new())),
            Decided::Retry => Decided::Retry,
            Decided::Write(script, finish) => {
                let (mut events, inserts) = (inserted(results, &first)?, inserts(&script));
                Decided::write(script, move |results| {
                    let outcome = finish(results)?;
                    events.extend(inserted(results, &inserts)?);
                    Ok((outcome, events))
                })
            }
        })
    }
}
