//! Startup time, idle memory and binary size.

use std::time::Duration;

use crate::error::Result;
use crate::load::{Load, drive};
use crate::process::Server;
use crate::row::median;
use crate::scripts::SignUp;
use crate::time::pause;
use crate::world::Places;

/// Number of people for which the memory goal of the search is defined.
const SEARCHED: u64 = 1_000_000;
/// Number of starts with an empty and with a full database each.
const STARTS: usize = 7;
/// Time after which the service has freed the memory of its hashing threads.
const FREED_AFTER: Duration = Duration::from_secs(75);

/// Results of the starts; times are in milliseconds, sizes in MB.
#[derive(Debug, Clone)]
pub(crate) struct Starts {
    /// Milliseconds from the start of the process to the first response, with an empty folder, where the schema is made.
    pub(crate) empty: f64,
    /// Milliseconds to the first response with a database without people.
    pub(crate) again: f64,
    /// Milliseconds to the first response with the largest seeded database.
    pub(crate) full: f64,
    /// Number of people in that database.
    pub(crate) people: u64,
    /// Memory of an idle service started with an empty folder, after two seconds.
    pub(crate) idle: f64,
    /// Memory of that service after its first sign-ups, and when none came for a while.
    pub(crate) after_sign_ups: f64,
    pub(crate) idle_again: f64,
    /// Memory of an idle service with the seeded database, after the search index is loaded.
    pub(crate) idle_full: f64,
    /// Size of the binary.
    pub(crate) binary: f64,
}

impl Starts {
    /// Additional memory with the seeded database compared to an empty one, which is mostly the search index.
    pub(crate) fn search(&self) -> f64 {
        self.idle_full - self.idle
    }

    /// Memory goal of the search in MB; `None` if there is none for this number of people.
    pub(crate) fn search_goal(&self) -> Option<f64> {
        (self.people == SEARCHED).then_some(400.0)
    }
}

/// Measures start-up times, idle memory and binary size.
pub(crate) fn measure(places: &Places, people: u64) -> Result<Starts> {
    let (mut empty, mut again, mut full) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let data = places.fresh_data(0)?;
        empty.push(places.start(&data)?.started_in.as_secs_f64() * 1e3);
        again.push(places.start(&data)?.started_in.as_secs_f64() * 1e3);
    }
    let data = places.fresh_data(people)?;
    drop(places.start(&data)?); // updates the schema, so that the measured starts do not
    for _ in 0..STARTS {
        full.push(places.start(&data)?.started_in.as_secs_f64() * 1e3);
    }
    let idle_full = settled(&places.start(&data)?)?;
    let data = places.fresh_data(0)?;
    let small = places.start(&data)?;
    let idle = settled(&small)?;
    sign_up_some(&small)?;
    let after_sign_ups = small.memory()?.now;
    pause(FREED_AFTER);
    let idle_again = small.memory()?.now;
    #[allow(clippy::cast_precision_loss, reason = "a file's size")]
    let binary = std::fs::metadata(&places.latchkey)?.len() as f64 / 1e6;
    let (empty, again, full) = (median(empty), median(again), median(full));
    Ok(Starts { empty, again, full, people, idle, after_sign_ups, idle_again, idle_full, binary })
}

/// Signs people up on all hashing threads.
fn sign_up_some(server: &Server) -> Result<()> {
    let length = Duration::from_secs(1);
    let load = Load { address: server.address, connections: 8, rate: None, warm_up: Duration::ZERO, length };
    drive(&load, &mut SignUp::new("first", u64::MAX)).map(|_| ())
}

/// Memory of a service, measured once it is idle.
fn settled(server: &Server) -> Result<f64> {
    pause(Duration::from_secs(2));
    let mut used = server.processor_time()?;
    for _ in 0..60 {
        pause(Duration::from_secs(1));
        let now = server.processor_time()?;
        if now - used < 0.05 {
            break;
        }
        used = now;
    }
    Ok(server.memory()?.now)
}
