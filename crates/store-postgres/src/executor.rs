//! Scripts on PostgreSQL: each goes to the server in one round trip, with the beginning and the end of its transaction.

use latchkey_store::StoreResult;
use latchkey_store_operations::form::{
    Decided, Executor, Repeat, ResultSource, Results, Row, Script, Slot, Statement, TakeRequest, Taken,
};

use crate::errors::{EngineFault, Fallible, again, driver};
use crate::rows::PostgresRow;
use crate::script::{self, Answer, Answers};
use crate::store::Postgres;
use crate::transact::Step;
use crate::{listen, profile_writes, takes};

/// A script in the driver's terms.
struct Prepared {
    script: script::Script,
    places: Vec<Place>,
    is_changing: bool,
}

/// The place of a statement's result.
enum Place {
    /// The statement has none: it was not sent, or nobody asks for it.
    None,
    At(script::Slot),
    Take(script::Slot, TakeRequest),
}

impl Prepared {
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
        Statement::Announce => {
            listen::announce(store, sent);
            Place::None
        }
    })
}

/// The results of a script.
struct Received<'a> {
    prepared: &'a Prepared,
    answers: &'a Answers,
}

impl Received<'_> {
    fn answer(&self, slot: Slot) -> StoreResult<&Answer> {
        match self.prepared.places.get(slot.index()) {
            Some(Place::At(at)) => Ok(self.answers.at(*at)),
            _ => Err(driver(EngineFault::NoRow)),
        }
    }
}

impl ResultSource for Received<'_> {
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()> {
        for row in &self.answer(slot)?.rows {
            if !each(&PostgresRow(row))? {
                break;
            }
        }
        Ok(())
    }

    fn affected(&self, slot: Slot) -> StoreResult<u64> {
        Ok(self.answer(slot)?.affected)
    }

    fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        match self.prepared.places.get(slot.index()) {
            Some(Place::Take(at, request)) => takes::outcome(self.answers.at(*at), request),
            Some(Place::None) => Ok(Taken::Yes),
            _ => Err(driver(EngineFault::NoRow)),
        }
    }
}

fn finish<T>(
    prepared: &Prepared,
    answers: &Answers,
    made: impl FnOnce(&Results<'_>) -> StoreResult<T>,
) -> StoreResult<T> {
    made(&Results::new(&Received { prepared, answers }))
}

/// The next step after the reads. A script that is empty is sent only to keep what the reads claimed.
fn step<T: Send + 'static>(store: &Postgres, reads: &Prepared, decided: Decided<T>) -> Fallible<Step<T>> {
    match decided {
        Decided::Answer(answer) => Ok(Step::Answer(answer)),
        Decided::Again => Err(again(EngineFault::Moved)),
        Decided::Write(script, made) => {
            let writes = Prepared::of(store, script)?;
            if writes.script.is_empty() && !reads.is_changing {
                return Ok(Step::Answer(finish(&writes, &Answers::default(), made)?));
            }
            let sent = Prepared { script: script::Script::default(), ..writes };
            Ok(Step::write(writes.script, move |answers| Ok(finish(&sent, answers, made)?)))
        }
    }
}

impl Executor for Postgres {
    const HAS_ONE_WRITER: bool = false;

    async fn read<T, F>(&self, script: Script, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Prepared::of(self, script)?;
        let answers = self.read_script(&prepared.script).await?;
        finish(&prepared, &answers, made)
    }

    async fn read_long<T, F>(&self, script: Script, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Prepared::of(self, script)?;
        let answers = self.read_long_script(&prepared.script).await?;
        finish(&prepared, &answers, made)
    }

    async fn write<T, F>(&self, script: Script, repeat: Repeat, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Prepared::of(self, script)?;
        let answers = match repeat {
            Repeat::Harmless => self.repeat_script(&prepared.script).await?,
            Repeat::Never => self.write_script(&prepared.script).await?,
        };
        finish(&prepared, &answers, made)
    }

    async fn write_unless_contested<T, F>(&self, script: Script, made: F) -> StoreResult<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        let prepared = Prepared::of(self, script)?;
        let answers = self.try_script(&prepared.script).await?;
        answers.map(|answers| finish(&prepared, &answers, made)).transpose()
    }

    async fn transact<T, F>(&self, reads: Script, decide: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        let reads = Prepared::of(self, reads)?;
        self.transact_script(&reads.script, |answers| {
            let decided = finish(&reads, answers, &decide)?;
            step(self, &reads, decided)
        })
        .await
    }
}
