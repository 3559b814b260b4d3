//! The storm: sign-ins saturate the hashing while others read; and the flood, when many more sign in than can be
//! served and all of them come back at once.

use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::load::{Load, Measured, drive};
use crate::process::Server;
use crate::row::median;
use crate::rows::Pace;
use crate::scripts::{Get, Pick, SignIn};
use crate::world::World;

/// Connections that sign in without a pause.
const STORM: usize = 64;
/// Connections of the flood: more than the queue takes.
const FLOOD: usize = 256;
/// Session reads per second beside the storm, and their connections.
const READS: f64 = 2_000.0;
const READERS: usize = 16;

/// What was seen, medians of all rounds.
#[derive(Debug, Clone)]
pub(crate) struct Storm {
    /// Sign-ins per second with nothing beside them.
    pub(crate) alone: f64,
    /// Sign-ins per second with the reads beside them.
    pub(crate) beside: f64,
    /// Reads answered per second, of [`READS`].
    pub(crate) reads: f64,
    /// Milliseconds from when a read was due.
    pub(crate) read_p50: f64,
    /// The same for 99 of 100.
    pub(crate) read_p99: f64,
    /// Sign-ins per second in the flood.
    pub(crate) flood: f64,
    /// Refusals per second in the flood, all of them 503.
    pub(crate) refusals: f64,
    /// Most memory in MB.
    pub(crate) peak: f64,
}

/// Measures the storm in interleaved rounds.
pub(crate) fn measure(world: &World, pace: Pace) -> Result<Storm> {
    let service = &world.service;
    service.forget_peak();
    let (mut alone, mut beside, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let (mut p50, mut p99, mut flood, mut refusals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..pace.rounds {
        alone.push(sign_ins(service, world.people.count, STORM, pace)?.per_second());
        let (signed_in, read) = both(world, pace)?;
        beside.push(signed_in.per_second());
        reads.push(read.per_second());
        p50.push(read.ms(0.5));
        p99.push(read.ms(0.99));
        let flooded = sign_ins(service, world.people.count, FLOOD, pace)?;
        flood.push(flooded.per_second());
        refusals.push(busy(&flooded)?);
    }
    Ok(Storm {
        alone: median(alone),
        beside: median(beside),
        reads: median(reads),
        read_p50: median(p50),
        read_p99: median(p99),
        flood: median(flood),
        refusals: median(refusals),
        peak: service.memory()?.peak,
    })
}

fn both(world: &World, pace: Pace) -> Result<(Measured, Measured)> {
    let service = &world.service;
    let readers = &world.bearers[..world.bearers.len().min(1_000)];
    let mut get = Get::by_bearers("/api/auth/sessions/current", readers, Pick::InTurn);
    let load = Load { rate: Some(READS), connections: READERS, ..storm_load(service, READERS, pace) };
    std::thread::scope(|scope| {
        let storm = scope.spawn(|| sign_ins(service, world.people.count, STORM, pace));
        let read = drive(&load, &mut get)?;
        let storm = storm.join().map_err(|_| BenchError::other("the driver of the storm panicked"))??;
        Ok((storm, read))
    })
}

fn sign_ins(service: &Server, people: u64, connections: usize, pace: Pace) -> Result<Measured> {
    drive(&storm_load(service, connections, pace), &mut SignIn::new(people, u64::MAX))
}

fn storm_load(service: &Server, connections: usize, pace: Pace) -> Load {
    let length = pace.length.max(Duration::from_secs(2));
    // A full queue is as old as the storm: it has to fill before anything is counted.
    Load { address: service.address, connections, rate: None, warm_up: Duration::from_secs(1), length }
}

/// Refusals per second; any other than 503 is a fault.
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
