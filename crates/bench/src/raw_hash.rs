//! Baseline of the sign-ins: password hashes per second on all cores, without any other work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use argon2::{Block, Params};
use latchkey_argon2id::Kernel;

use crate::error::{BenchError, Result};
use crate::load::count;
use crate::people::{COST, PASSWORD};
use crate::process::own_processor_time;
use crate::row::Limit;
use crate::time::{now, pause};

/// Hashes per second on all cores together, with reused memory.
pub(crate) fn limit(length: Duration) -> Result<Limit> {
    let cores = std::thread::available_parallelism()?.get();
    let params = Params::new(COST.0, COST.1, 1, Some(32)).map_err(|_| BenchError::other("argon2"))?;
    let (made, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (start, used) = (now(), own_processor_time()?);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| hash_until(&params, &stop, &made));
        }
        pause(length);
        stop.store(true, Ordering::Relaxed);
    });
    let made = count(made.load(Ordering::Relaxed));
    let processor = (own_processor_time()? - used) * 1e6 / made.max(1.0);
    Ok(Limit { per_second: made / start.elapsed().as_secs_f64(), processor })
}

fn hash_until(params: &Params, stop: &AtomicBool, made: &AtomicU64) {
    let mut memory = vec![Block::default(); params.block_count()];
    let (kernel, _) = Kernel::fastest();
    let mut output = [0; 32];
    while !stop.load(Ordering::Relaxed) {
        let hashed = kernel.hash_into(PASSWORD.as_bytes(), &[7; 16], params, &mut memory, &mut output);
        if hashed.is_ok() {
            made.fetch_add(1, Ordering::Relaxed);
        }
    }
}
