//! Measurement of the search under write load: its latency while other clients write bios, and whether fresh writes are
//! found.

use std::sync::Arc;

use crate::error::{BenchError, Result};
use crate::fresh_words::{FreshWordResults, FreshWords};
use crate::load::{Load, Measured, Script, drive};
use crate::patches::Patch;
use crate::row::{Medians, median};
use crate::rows::{Pace, load};
use crate::scripts::Bearer;
use crate::searches;
use crate::world::World;

/// Number of bio writes per second, and number of connections for them.
const WRITES: f64 = 500.0;
const WRITERS: usize = 16;
/// Number of accounts of which only the bios are written, and number of accounts that write the words to be found.
const OTHERS: usize = 1_000;
const SEARCHED: usize = 64;

/// Results of the search under write load.
#[derive(Debug, Clone)]
pub(crate) struct BesideWrites {
    /// Searches for common words without write load, medians of all rounds.
    pub(crate) alone: Medians,
    /// Searches for common words during the writes.
    pub(crate) beside: Medians,
    /// Achieved bio writes per second, of [`WRITES`].
    pub(crate) writes: f64,
    /// Searches during the same writes, each for a word that was written just before; results of all rounds.
    pub(crate) found: FreshWordResults,
}

/// Runs the searches with and without writes in interleaved rounds.
pub(crate) fn measure(world: &World, pace: Pace) -> Result<BesideWrites> {
    searches::wait_until_warm(&world.service)?;
    let (mine, others) = divided(&world.bearers)?;
    let mut writes = Patch::bios(Arc::new(others));
    let (mut common, mut fresh) = (searches::common_words(), FreshWords::new(mine)?);
    let (mut alone, mut beside, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let one_client = load(&world.service, 1, pace);
    for _ in 0..pace.rounds {
        alone.push(without_refusals(drive(&one_client, &mut common)?)?);
        let (seen, bios) = beside_writes(&one_client, &mut common, &mut writes)?;
        beside.push(seen);
        written.push(bios.per_second());
        fresh.begin_round();
        let (_, bios) = beside_writes(&one_client, &mut fresh, &mut writes)?;
        written.push(bios.per_second());
    }
    Ok(BesideWrites {
        alone: Medians::of(&alone),
        beside: Medians::of(&beside),
        writes: median(written),
        found: fresh.finish()?,
    })
}

/// Splits the accounts into those that write the words to be found, and all others. They must differ, because a later
/// write would overwrite the word.
fn divided(bearers: &[Bearer]) -> Result<(Vec<Bearer>, Vec<Bearer>)> {
    let (mine, others) = bearers.split_at(SEARCHED.min(bearers.len() / 2));
    if mine.is_empty() {
        return Err(BenchError::Server("search beside writes needs two people with sessions".to_owned()));
    }
    let step = (others.len() / OTHERS).max(1);
    Ok((mine.to_vec(), others.iter().step_by(step).take(OTHERS).cloned().collect()))
}

/// Runs a request script during a constant rate of writes. Returns the results of both.
fn beside_writes(load: &Load, script: &mut dyn Script, writes: &mut Patch) -> Result<(Measured, Measured)> {
    let bios = Load { rate: Some(WRITES), connections: WRITERS, ..*load };
    std::thread::scope(|scope| {
        let others = scope.spawn(|| drive(&bios, writes));
        let seen = drive(load, script);
        let bios = others.join().map_err(|_| BenchError::other("the driver of the writes panicked"))??;
        Ok((without_refusals(seen?)?, without_refusals(bios)?))
    })
}

/// Fails if a result contains error responses.
fn without_refusals(seen: Measured) -> Result<Measured> {
    if let Some((status, count)) = seen.refused().next() {
        return Err(BenchError::Server(format!("search beside writes got status {status} {count} times")));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearers(count: usize) -> Vec<Bearer> {
        (0..count).map(|n| Bearer { token: String::new(), user_id: n.to_string() }).collect()
    }

    #[test]
    fn nobody_writes_over_a_word_that_is_searched_for() {
        for count in [2, 36, 5_000] {
            let (mine, others) = divided(&bearers(count)).unwrap();
            assert!(!mine.is_empty() && mine.len() <= SEARCHED);
            assert!(!others.is_empty() && others.len() <= OTHERS);
            assert!(mine.iter().all(|one| others.iter().all(|other| one.user_id != other.user_id)));
        }
    }

    #[test]
    fn one_alone_cannot_write_beside_another() {
        assert!(divided(&bearers(1)).is_err());
    }
}
