//! Measurements of overload. In the storm, sign-ins saturate password hashing while other clients read. In the flood,
//! far more sign-ins arrive than can be served, and are retried at once.

use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::load::{Load, Measured, drive};
use crate::process::Server;
use crate::row::{Medians, median};
use crate::rows::Pace;
use crate::scripts::{Get, Pick, SignIn};
use crate::world::World;

/// Number of connections that sign in continuously in the storm.
const STORM: usize = 64;
/// Number of connections in the flood, more than the hashing queue holds.
const FLOOD: usize = 256;
/// Number of reads per second during the storm, and number of connections for them.
const READS: f64 = 2_000.0;
const READERS: usize = 16;

/// Results of storm and flood, medians of all rounds.
#[derive(Debug, Clone)]
pub(crate) struct Storm {
    /// Sign-ins per second without other load.
    pub(crate) alone: f64,
    /// Sign-ins per second during the reads.
    pub(crate) beside: f64,
    /// Reads without concurrent sign-ins. Latency counts from the time at which a request was due.
    pub(crate) reads_alone: Medians,
    /// Reads while sign-ins saturate the password hashing.
    pub(crate) reads_beside: Medians,
    /// Sign-ins per second in the flood.
    pub(crate) flood: f64,
    /// Error responses per second in the flood, all of them 503.
    pub(crate) refusals: f64,
    /// Peak memory of the service in MB.
    pub(crate) peak: f64,
}

/// Measures storm and flood in interleaved rounds.
pub(crate) fn measure(world: &World, pace: Pace) -> Result<Storm> {
    let service = &world.service;
    service.forget_peak();
    let (mut alone, mut beside, mut flood, mut refusals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut reads_alone, mut reads_beside) = (Vec::new(), Vec::new());
    for _ in 0..pace.rounds {
        reads_alone.push(read(world, pace)?);
        alone.push(sign_ins(service, world.people.count, STORM, pace)?.per_second());
        let (signed_in, seen) = both(world, pace)?;
        beside.push(signed_in.per_second());
        reads_beside.push(seen);
        let flooded = sign_ins(service, world.people.count, FLOOD, pace)?;
        flood.push(flooded.per_second());
        refusals.push(busy(&flooded)?);
    }
    Ok(Storm {
        alone: median(alone),
        beside: median(beside),
        reads_alone: Medians::of(&reads_alone),
        reads_beside: Medians::of(&reads_beside),
        flood: median(flood),
        refusals: median(refusals),
        peak: service.memory()?.peak,
    })
}

fn both(world: &World, pace: Pace) -> Result<(Measured, Measured)> {
    std::thread::scope(|scope| {
        let storm = scope.spawn(|| sign_ins(&world.service, world.people.count, STORM, pace));
        let seen = read(world, pace);
        let storm = storm.join().map_err(|_| BenchError::other("the driver of the storm panicked"))??;
        Ok((storm, seen?))
    })
}

/// Runs the reads without other load, in an open loop.
fn read(world: &World, pace: Pace) -> Result<Measured> {
    let readers = &world.bearers[..world.bearers.len().min(1_000)];
    let mut get = Get::by_bearers("/api/auth/sessions/current", readers, Pick::InTurn);
    drive(&Load { rate: Some(READS), ..storm_load(&world.service, READERS, pace) }, &mut get)
}

fn sign_ins(service: &Server, people: u64, connections: usize, pace: Pace) -> Result<Measured> {
    drive(&storm_load(service, connections, pace), &mut SignIn::new(people, u64::MAX))
}

fn storm_load(service: &Server, connections: usize, pace: Pace) -> Load {
    let length = pace.length.max(Duration::from_secs(2));
    // The hashing queue fills during the warm-up.
    Load { address: service.address, connections, rate: None, warm_up: Duration::from_secs(1), length }
}

/// Error responses per second; any status other than 503 is a fault.
fn busy(seen: &Measured) -> Result<f64> {
    match seen.refused().find(|(status, _)| *status != 503) {
        Some((status, count)) => {
            Err(BenchError::Server(format!("the flood got status {status} {count} times")))
        }
        None => {
            Ok(seen.refused().map(|(_, refused)| crate::load::count(refused)).sum::<f64>() / seen.seconds)
        }
    }
}
