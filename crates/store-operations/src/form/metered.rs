//! An executor that counts the audit events of the scripts that were committed.

use std::ops::Deref;

use latchkey_domain::audit::AuditKind;
use latchkey_store::StoreResult;

use super::erased::{self, AnyDecide, AnyFinish, AnyOutcome};
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
        erased::typed(self.write_any(script, repeat, erased::finish(finish)).await?)
    }

    async fn write_unless_contested<T, F>(&self, script: Script, finish: F) -> StoreResult<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let written = self.write_any_unless_contested(script, erased::finish(finish)).await?;
        written.map(erased::typed).transpose()
    }

    async fn transact<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        erased::typed(self.transact_any(reads, erased::decide(decide)).await?)
    }

    async fn transact_alone<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        erased::typed(self.transact_any_alone(reads, erased::decide(decide)).await?)
    }
}

/// Writes with erased types, so that an engine's way through a transaction is compiled once and not once per operation.
impl<E: Executor> Metered<E> {
    async fn write_any(&self, script: Script, repeat: Repeat, finish: AnyFinish) -> StoreResult<AnyOutcome> {
        let finish = counting_finish(&script, finish);
        let (outcome, events) = self.executor.write(script, repeat, finish).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }

    async fn write_any_unless_contested(
        &self,
        script: Script,
        finish: AnyFinish,
    ) -> StoreResult<Option<AnyOutcome>> {
        let finish = counting_finish(&script, finish);
        let written = self.executor.write_unless_contested(script, finish).await?;
        Ok(written.map(|(outcome, events)| {
            self.meter.count_events(&events);
            outcome
        }))
    }

    async fn transact_any(&self, reads: Script, decide: AnyDecide) -> StoreResult<AnyOutcome> {
        let decide = counting(inserts(&reads), decide);
        let (outcome, events) = self.executor.transact(reads, decide).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }

    async fn transact_any_alone(&self, reads: Script, decide: AnyDecide) -> StoreResult<AnyOutcome> {
        let decide = counting(inserts(&reads), decide);
        let (outcome, events) = self.executor.transact_alone(reads, decide).await?;
        self.meter.count_events(&events);
        Ok(outcome)
    }
}

/// Computes the outcome of a script together with the events that it inserted.
fn counting_finish(
    script: &Script,
    finish: AnyFinish,
) -> impl FnOnce(&Results<'_>) -> StoreResult<(AnyOutcome, Events)> + Send + 'static {
    let inserts = inserts(script);
    move |results| Ok((finish(results)?, inserted(results, &inserts)?))
}

/// Makes a decision whose outcome has the events that its scripts inserted; `first` are those of the script before it.
fn counting(
    first: Vec<(Slot, AuditKind)>,
    decide: AnyDecide,
) -> impl Fn(&Results<'_>) -> StoreResult<Decided<(AnyOutcome, Events)>> + Send + Sync + 'static {
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
