//! Execution of scripts on PostgreSQL. Each script takes one round trip, with its BEGIN and COMMIT.

use latchkey_store::StoreResult;
use latchkey_store_operations::form::{
    Decided, Executor, Pages, Receiver, Repeat, ResultSource, Results, Row, Script, Slot, Statement,
    TakeRequest, Taken,
};

use crate::errors::{EngineFault, Fallible, conflict, driver};
use crate::opening::Opening;
use crate::rows::PostgresRow;
use crate::script::{self, Output, Outputs};
use crate::store::Postgres;
use crate::transact::Decision;
use crate::{columns, listen, profile_writes, takes};

/// A script of an operation, translated to the driver's statements.
struct Translated {
    script: script::Script,
    places: Vec<Place>,
    is_changing: bool,
}

/// Place of a statement's result among the results that the driver returns.
enum Place {
    /// There is no result: the statement was not sent, or its result is never requested.
    None,
    At(script::Slot),
    Take(script::Slot, TakeRequest),
}

impl Translated {
    fn of(store: &Postgres, script: Script) -> StoreResult<Self> {
        let is_changing = script.is_changing();
        let mut sent = script::Script::default();
        let places = script.into_statements().into_iter().map(|one| add(store, &mut sent, one));
        let places = places.collect::<StoreResult<_>>()?;
        Ok(Self { script: sent, places, is_changing })
    }
}

fn add(store: &Postgres, sent: &mut script::Script, statement: Statement) -> StoreResult<Place> {
    Ok(match statement {
        Statement::Read(sql, values) | Statement::Change(sql, values) => {
            let values = values.into_iter().map(Into::into).collect();
            Place::At(sent.add(sql.postgres(), values))
        }
        Statement::Take(request) if request.takes.is_empty() => Place::None,
        Statement::Take(request) => Place::Take(takes::add(sent, &request), request),
        Statement::Profile(write) => {
            profile_writes::add(sent, &write)?;
            Place::None
        }
        Statement::Rows(sql, rows) => {
            sent.add(sql.postgres(), columns::of_rows(&rows));
            Place::None
        }
        Statement::NewProfiles(profiles) => {
            profile_writes::add_all(sent, &profiles);
            Place::None
        }
        Statement::Announce => {
            listen::announce(store, sent);
            Place::None
        }
    })
}

/// Results of a script as the driver received them, addressed by the [`Place`] of each statement.
struct Received<'a> {
    prepared: &'a Translated,
    outputs: &'a Outputs,
}

impl Received<'_> {
    fn output(&self, slot: Slot) -> StoreResult<&Output> {
        match self.prepared.places.get(slot.index()) {
            Some(Place::At(at)) => Ok(self.outputs.at(*at)),
            _ => Err(driver(EngineFault::NoRow)),
        }
    }
}

impl ResultSource for Received<'_> {
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()> {
        for row in &self.output(slot)?.rows {
            if !each(&PostgresRow(row))? {
                break;
            }
        }
        Ok(())
    }

    fn affected(&self, slot: Slot) -> StoreResult<u64> {
        Ok(self.output(slot)?.affected)
    }

    fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        match self.prepared.places.get(slot.index()) {
            Some(Place::Take(at, request)) => takes::outcome(self.outputs.at(*at), request),
            Some(Place::None) => Ok(Taken::Yes),
            _ => Err(driver(EngineFault::NoRow)),
        }
    }
}

fn finish<T>(
    prepared: &Translated,
    outputs: &Outputs,
    made: impl FnOnce(&Results<'_>) -> StoreResult<T>,
) -> StoreResult<T> {
    made(&Results::new(&Received { prepared, outputs }))
}

/// Translates the decision of an operation for the second round trip. A decision to write commits the transaction even
/// if it adds no statement, because the script of the first round trip may have changed rows too.
fn continue_with<T: Send + 'static>(
    store: &Postgres,
    reads: &Translated,
    decided: Decided<T>,
) -> Fallible<Decision<T>> {
    match decided {
        Decided::Return(outcome) => Ok(Decision::Return(outcome)),
        Decided::Retry => Err(conflict(EngineFault::Contention)),
        Decided::Write(script, made) => {
            let writes = Translated::of(store, script)?;
            if writes.script.is_empty() && !reads.is_changing {
                return Ok(Decision::Return(finish(&writes, &Outputs::default(), made)?));
            }
            let sent = Translated { script: script::Script::default(), ..writes };
            Ok(Decision::write(writes.script, move |outputs| Ok(finish(&sent, outputs, made)?)))
        }
    }
}

/// Executes an operation in a transaction that begins with the opening.
async fn decide_in<T, F>(store: &Postgres, opening: &Opening, reads: Script, decide: F) -> StoreResult<T>
where
    T: Send + 'static,
    F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync,
{
    let reads = Translated::of(store, reads)?;
    store
        .transact_script(opening, &reads.script, |outputs| {
            let decided = finish(&reads, outputs, &decide)?;
            continue_with(store, &reads, decided)
        })
        .await
}

impl Executor for Postgres {
    const HAS_ONE_WRITER: bool = false;

    async fn read<T, F>(&self, script: Script, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Translated::of(self, script)?;
        let outputs = self.read_script(&prepared.script).await?;
        finish(&prepared, &outputs, made)
    }

    async fn read_long<T, F>(&self, script: Script, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Translated::of(self, script)?;
        let outputs = self.read_long_script(&prepared.script).await?;
        finish(&prepared, &outputs, made)
    }

    async fn read_pages<P, R>(&self, mut pages: P, mut receiver: R) -> StoreResult<()>
    where
        P: Pages,
        R: Receiver<P::Page>,
    {
        let mut snapshot = self.snapshot().await?;
        while let Some(script) = pages.next() {
            let prepared = Translated::of(self, script)?;
            let outputs = snapshot.read(&prepared.script).await?;
            let page = finish(&prepared, &outputs, |results| pages.read(results))?;
            if !receiver.take(page).await {
                break;
            }
        }
        Ok(())
    }

    async fn write<T, F>(&self, script: Script, repeat: Repeat, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Translated::of(self, script)?;
        let outputs = match repeat {
            Repeat::Harmless => self.write_idempotent_script(&prepared.script).await?,
            Repeat::Never => self.write_script(&prepared.script).await?,
        };
        finish(&prepared, &outputs, made)
    }

    async fn write_unless_contested<T, F>(&self, script: Script, made: F) -> StoreResult<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Translated::of(self, script)?;
        let outputs = self.try_write_script(&prepared.script).await?;
        outputs.map(|outputs| finish(&prepared, &outputs, made)).transpose()
    }

    async fn transact<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        decide_in(self, &self.openings().writes, reads, decide).await
    }

    async fn transact_alone<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        decide_in(self, &self.openings().many_writes, reads, decide).await
    }
}
