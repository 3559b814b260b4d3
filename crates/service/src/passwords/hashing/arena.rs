//! The work of a hashing thread.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use latchkey_argon2id::{Kernel, OUTPUT_LEN};
use latchkey_domain::imported_hash::ImportedHash;
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_metrics::Stopwatch;
use tokio::sync::oneshot;

use super::elsewhere;
use super::memory::Memory;
use super::metrics::{HashMetrics, HashSpans, WorkClass};
use super::queue::{Next, Taker};
use crate::error::{Error, Result};

/// Nice value of the hashing threads, so that other requests go first.
const NICENESS: i32 = 10;
/// Time without a hash after which a thread frees its memory.
const IDLE: Duration = Duration::from_mins(1);
/// Size from which glibc maps each allocation by itself and unmaps it when it is freed. Smaller ones, once freed, may stay
/// with the process.
const MAPPED_ALONE: usize = 33 * 1024 * 1024;
/// Size from which memory is worth freeing.
const WORTH_FREEING: usize = 1024 * 1024;

pub(super) struct Job {
    pub(super) password: Password,
    pub(super) work: Work,
    pub(super) salt: Vec<u8>,
    pub(super) params: Params,
    /// Parameters of a second computation, which follows if the hash itself is cheaper than one under the configured
    /// parameters. Both together then take as long. `None` if no second computation is needed.
    pub(super) rest: Option<Params>,
    pub(super) answer: oneshot::Sender<Result<Computed>>,
    pub(super) spans: HashSpans,
}

/// What a job is for, beside its hash of argon2id.
pub(super) enum Work {
    /// A new hash.
    New,
    /// A comparison. A hash from elsewhere is worked first; without one, the password as it was typed.
    Check(Option<ImportedHash>),
}

/// What a thread computed.
pub(super) struct Computed {
    pub(super) hash: PasswordHash,
    /// Hash of the password as it was typed, if a check wants it and it is not NFC.
    pub(super) typed: Option<PasswordHash>,
    /// True if the password is that of the hash from elsewhere.
    pub(super) fits_elsewhere: bool,
}

/// The memory in which a thread computes hashes, one at a time.
pub(super) struct Arena {
    kernel: Kernel,
    pub(super) blocks: Vec<Block>,
    /// Number of memory blocks that a hash under the configured parameters needs; further blocks are freed after use.
    usual: usize,
    /// Memory that all threads share for hashes that need more than usual.
    shared: Arc<Memory>,
}

impl Arena {
    pub(super) const fn new(kernel: Kernel, usual: usize, shared: Arc<Memory>) -> Self {
        Self { kernel, blocks: Vec::new(), usual, shared }
    }

    /// Returns the time without a job after which the memory is freed; `None` if there is little to free.
    fn patience(&self) -> Option<Duration> {
        (self.blocks.capacity() * size_of::<Block>() >= WORTH_FREEING).then_some(IDLE)
    }

    fn free(&mut self) {
        self.blocks = Vec::new();
    }

    /// Makes room for this number of blocks. What is reserved beyond them is address space alone.
    fn grow(&mut self, needed: usize) {
        if self.blocks.capacity() < needed && needed * size_of::<Block>() >= WORTH_FREEING {
            self.blocks = Vec::with_capacity(needed.max(MAPPED_ALONE / size_of::<Block>()));
        }
        if self.blocks.len() < needed {
            self.blocks.resize(needed, Block::default());
        }
    }

    pub(super) fn compute(&mut self, job: &Job, metrics: &HashMetrics) -> Result<Computed> {
        let (mut fits_elsewhere, mut typed) = (false, None);
        match (&job.work, job.password.expose_typed()) {
            (Work::Check(Some(hash)), _) => {
                let compare = || self.compare(hash, &job.password);
                fits_elsewhere = timed(metrics, WorkClass::Elsewhere, compare);
            }
            (Work::Check(None), Some(bytes)) => {
                typed = Some(timed(metrics, WorkClass::Own, || self.hash(job, bytes))?);
            }
            (Work::Check(None), None) | (Work::New, _) => {}
        }
        let hash = timed(metrics, WorkClass::Own, || self.hash(job, job.password.expose()))?;
        Ok(Computed { hash, typed, fits_elsewhere })
    }

    fn compare(&mut self, hash: &ImportedHash, password: &Password) -> bool {
        let shared = Arc::clone(&self.shared);
        let _share = shared.take(elsewhere::memory(hash));
        let fits = elsewhere::fits(hash, password, &mut self.blocks);
        self.give_back();
        fits
    }

    fn hash(&mut self, job: &Job, password: &[u8]) -> Result<PasswordHash> {
        let shared = Arc::clone(&self.shared);
        let unusual = job.params.block_count().saturating_sub(self.usual);
        let _share = shared.take(unusual * Block::SIZE);
        let output = self.work(password, &job.salt, &job.params)?;
        if let Some(rest) = &job.rest {
            self.work(password, &job.salt, rest)?;
        }
        self.give_back();
        phc_string(&job.params, &job.salt, &output)
            .ok_or_else(|| Error::internal("a PHC string could not be written"))
    }

    /// Frees the memory blocks that a hash under the configured parameters does not need.
    fn give_back(&mut self) {
        if self.blocks.len() > self.usual {
            self.blocks.truncate(self.usual);
            self.blocks.shrink_to_fit();
        }
    }

    fn work(&mut self, password: &[u8], salt: &[u8], params: &Params) -> Result<Vec<u8>> {
        let needed = params.block_count();
        self.grow(needed);
        let mut output = vec![0; params.output_len().unwrap_or(OUTPUT_LEN)];
        let blocks = &mut self.blocks[..needed];
        let done = match output.first_chunk_mut() {
            Some(output) if params.output_len() == Some(OUTPUT_LEN) => {
                self.kernel.hash_into(password, salt, params, blocks, output)
            }
            // Hashes from elsewhere have outputs of other lengths.
            _ => Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone())
                .hash_password_into_with_memory(password, salt, &mut output, blocks),
        };
        done.map_err(|_| Error::internal("argon2 refused its input"))?;
        Ok(output)
    }
}

pub(super) fn work(jobs: &Taker<Job>, mut arena: Arena, metrics: &HashMetrics) {
    // If the system refuses, hashing runs at the normal priority.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    loop {
        let mut job = match jobs.next(arena.patience()) {
            Next::Job(job) => job,
            Next::Idle => {
                arena.free();
                continue;
            }
            Next::Closed => return,
        };
        metrics.dequeue();
        let span = job.spans.work();
        if job.answer.is_closed() {
            continue; // the client disconnected while the job was queued
        }
        let hash = arena.compute(&job, metrics);
        drop(span); // ends within the request, which goes on now
        let _ = job.answer.send(hash);
    }
}

fn timed<T>(metrics: &HashMetrics, class: WorkClass, work: impl FnOnce() -> T) -> T {
    let watch = Stopwatch::start();
    let done = work();
    metrics.record(class, watch.elapsed());
    done
}

/// Returns the number of memory blocks that a hash fills over all passes. The time of a hash is proportional to it.
pub(super) fn blocks_filled(params: &Params) -> usize {
    params.block_count() * params.t_cost() as usize
}

/// Returns the parameters of a second computation, which follows a hash with outdated parameters (`params`). Both
/// together take as long as one hash with the current parameters (`today`), so response times do not reveal which
/// accounts have outdated ones. The second computation uses at most as much memory as `today`. `None` if the time to be
/// filled is shorter than any argon2 computation.
pub(super) fn rest(params: &Params, today: &Params) -> Option<Params> {
    let missing = blocks_filled(today).saturating_sub(blocks_filled(params));
    let passes = missing.div_ceil(today.block_count());
    let memory = missing.checked_div(passes)?;
    Params::new(u32::try_from(memory).ok()?, u32::try_from(passes).ok()?, 1, Some(OUTPUT_LEN)).ok()
}

fn phc_string(params: &Params, salt: &[u8], output: &[u8]) -> Option<PasswordHash> {
    let hash = phc::PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: phc::ParamsString::try_from(params).ok()?,
        salt: Some(phc::Salt::new(salt).ok()?),
        hash: Some(phc::Output::new(output).ok()?),
    };
    Some(PasswordHash::from_phc(hash.to_string()))
}
