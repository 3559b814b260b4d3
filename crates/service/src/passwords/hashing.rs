//! Password hashing with argon2id, on a fixed number of threads with a bounded queue, so that requests without a
//! password never wait for a hash.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc;
use argon2::{Algorithm, Block, Params, Version};
use latchkey_argon2id::{Kernel, OUTPUT_LEN};
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::sign_in::{Compared, Fit};
use latchkey_metrics::Stopwatch;
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;

use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::refusal::BUSY;
use metrics::{HashMetrics, WorkClass};
use queue::{Next, NotQueued, Queue, Taker};
use refusals::Refusals;

pub(crate) mod metrics;
mod queue;
mod refusals;

/// Length of the salt in bytes.
const SALT_LEN: usize = 16;
/// Nice value of the hashing threads, so that other requests go first.
const NICENESS: i32 = 10;
/// Time without a hash after which a thread frees its memory.
const IDLE: Duration = Duration::from_mins(1);
/// Size from which glibc maps each allocation by itself and unmaps it when it is freed. Smaller ones, once freed, may stay
/// with the process.
const MAPPED_ALONE: usize = 33 * 1024 * 1024;
/// Size from which memory is worth freeing.
const WORTH_FREEING: usize = 1024 * 1024;

/// Parameters of password hashing and the size of its thread pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingConfig {
    /// Memory of one hash in KiB.
    pub memory_kib: u32,
    /// Number of passes over the memory (argon2's `t`).
    pub iterations: u32,
    /// Number of hashing threads; best the number of cores.
    pub threads: NonZeroUsize,
    /// Maximum number of hashes that wait for a thread.
    pub queue: usize,
}

/// The outcome of a password check.
#[derive(Debug)]
pub struct PasswordCheck {
    /// The stored hash that the password matches, if any.
    pub fit: Fit,
    /// A new hash under the configured parameters, if the password matches the account's hash and that hash has other
    /// parameters.
    pub rehashed: Option<PasswordHash>,
}

/// The pool of hashing threads and its queue.
pub struct PasswordHasher {
    queue: Arc<Queue<Job>>,
    refusals: Refusals,
    metrics: Arc<HashMetrics>,
    params: Params,
    entropy: Arc<dyn Entropy>,
    /// The hash that a password is compared with if an account has none. The comparison costs the same and never
    /// matches.
    dummy: PasswordHash,
}

struct Job {
    password: Password,
    salt: Vec<u8>,
    params: Params,
    /// Parameters of a second computation, which follows if the hash itself is cheaper than one under the configured
    /// parameters. Both together then take as long. `None` if no second computation is needed.
    rest: Option<Params>,
    answer: oneshot::Sender<Result<PasswordHash>>,
}

/// The hashing threads cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum HashingError {
    /// The configured parameters are outside argon2's range.
    #[error("passwords.memory_kib and passwords.iterations are out of argon2's range")]
    Parameters,
    /// The operating system cannot start a thread.
    #[error("a hashing thread cannot be started")]
    Thread(#[from] std::io::Error),
}

impl PasswordHasher {
    /// Starts the hashing threads.
    pub fn start(config: HashingConfig, entropy: Arc<dyn Entropy>) -> Result<Self, HashingError> {
        let params = Params::new(config.memory_kib, config.iterations, 1, Some(OUTPUT_LEN))
            .map_err(|_| HashingError::Parameters)?;
        let queue = Queue::new(config.queue.max(1));
        let kernel = choose_kernel();
        let metrics = Arc::<HashMetrics>::default();
        for number in 0..config.threads.get() {
            let (jobs, metrics) = (Taker::of(&queue), Arc::clone(&metrics));
            let arena = Arena::new(kernel, params.block_count());
            std::thread::Builder::new()
                .name(format!("hash-{number}"))
                .spawn(move || work(&jobs, arena, &metrics))?;
        }
        let dummy = phc_string(&params, &[0; SALT_LEN], &[0; OUTPUT_LEN]).ok_or(HashingError::Parameters)?;
        Ok(Self { queue, refusals: Refusals::new(), metrics, params, entropy, dummy })
    }

    pub(crate) fn metrics(&self) -> &HashMetrics {
        &self.metrics
    }

    /// Returns the number of passwords that wait for a thread, and the most that may wait.
    #[must_use]
    pub fn queue(&self) -> (usize, usize) {
        self.queue.fill()
    }

    /// Hashes a new password with a random salt.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        let salt = self.entropy.bytes::<SALT_LEN>().to_vec();
        self.run(password, salt, self.params.clone()).await
    }

    /// Hashes a password with the parameters and salt of `like`, so that the two hashes can be compared; with a random
    /// salt if `like` is `None`. The call takes as long as [`Self::hash`].
    pub async fn hash_like(&self, password: Password, like: Option<&PasswordHash>) -> Result<PasswordHash> {
        let Some(like) = like else { return self.hash(password).await };
        let (params, salt, _) =
            parts(like).ok_or_else(|| Error::internal("a stored password hash cannot be read"))?;
        self.run(password, salt, params).await
    }

    /// Compares a password with the stored hashes by computing one hash. Without a stored hash, the same work
    /// is done as for the hash `decoy` of another account: after the configured parameters were raised, most
    /// accounts have older ones, and the work of [`rest`] takes less time than the passes that they lack.
    ///
    /// If the account's own hash has outdated parameters, a new hash is returned, except while the
    /// hash of the last sign-up with the address is stored too: both must keep the same salt and parameters,
    /// so that one computation serves both.
    pub async fn check(
        &self,
        password: Password,
        compared: Compared<'_>,
        decoy: Option<&PasswordHash>,
    ) -> Result<PasswordCheck> {
        if password.is_too_long() {
            // Too long passwords are refused before hashing, for known and unknown accounts alike.
            return Ok(PasswordCheck { fit: Fit::Neither, rehashed: None });
        }
        let Compared { own, of_sign_up } = compared;
        let parts = self.parts_to_compute(compared, decoy);
        let (params, salt, _) =
            parts.ok_or_else(|| Error::internal("a stored password hash cannot be read"))?;
        let is_outdated = own.is_some() && of_sign_up.is_none() && params != self.params;
        let again = is_outdated.then(|| password.duplicate());
        let computed = self.run(password, salt, params).await?;
        let fit = match (fits(&computed, own), fits(&computed, of_sign_up)) {
            (true, _) => Fit::Own,
            (false, true) => Fit::SignUp,
            (false, false) => Fit::Neither,
        };
        let rehashed = match again {
            Some(password) if fit == Fit::Own => Some(self.hash(password).await?),
            _ => None,
        };
        Ok(PasswordCheck { fit, rehashed })
    }

    /// Returns parameters and salt of the hash to compute, and the output of the stored hash: those of the stored hash, of
    /// the decoy, or of the dummy, in this order. `None` if the stored hash is not of Argon2id.
    fn parts_to_compute(
        &self,
        compared: Compared<'_>,
        decoy: Option<&PasswordHash>,
    ) -> Option<(Params, Vec<u8>, Vec<u8>)> {
        match compared.own.or(compared.of_sign_up) {
            Some(stored) => parts(stored),
            None => decoy.and_then(parts).or_else(|| parts(&self.dummy)),
        }
    }

    async fn run(&self, password: Password, salt: Vec<u8>, params: Params) -> Result<PasswordHash> {
        let (answer, answered) = oneshot::channel();
        let rest = rest(&params, &self.params);
        self.metrics.enqueue();
        match self.queue.push(Job { password, salt, params, rest, answer }) {
            Ok(()) => {}
            Err(NotQueued::Full(job)) => {
                drop(job); // the password is not needed for a refusal
                self.metrics.refuse();
                self.refusals.wait().await;
                return Err(Error::Refused(&BUSY));
            }
            Err(NotQueued::Closed) => {
                return Err(Error::internal("the hashing threads have stopped"));
            }
        }
        answered.await.map_err(|_| Error::internal("a hashing thread has stopped"))?
    }
}

/// The threads end with the hasher, after the queued jobs.
impl Drop for PasswordHasher {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The memory in which a thread computes hashes, one at a time.
struct Arena {
    kernel: Kernel,
    blocks: Vec<Block>,
    /// Number of memory blocks that a hash under the configured parameters needs; further blocks are freed after use.
    usual: usize,
}

impl Arena {
    const fn new(kernel: Kernel, usual: usize) -> Self {
        Self { kernel, blocks: Vec::new(), usual }
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

    fn compute(&mut self, job: &Job) -> Result<PasswordHash> {
        let output = self.work(job, &job.params)?;
        if let Some(rest) = &job.rest {
            self.work(job, rest)?;
        }
        if self.blocks.len() > self.usual {
            self.blocks.truncate(self.usual);
            self.blocks.shrink_to_fit();
        }
        phc_string(&job.params, &job.salt, &output)
            .ok_or_else(|| Error::internal("a PHC string could not be written"))
    }

    fn work(&mut self, job: &Job, params: &Params) -> Result<[u8; OUTPUT_LEN]> {
        let needed = params.block_count();
        self.grow(needed);
        let mut output = [0; OUTPUT_LEN];
        self.kernel
            .hash_into(job.password.expose(), &job.salt, params, &mut self.blocks, &mut output)
            .map_err(|_| Error::internal("argon2 refused its input"))?;
        Ok(output)
    }
}

/// Chooses how argon2 is computed on this processor.
fn choose_kernel() -> Kernel {
    let (kernel, failed) = Kernel::fastest();
    for broken in failed {
        tracing::warn!(
            kernel = %broken,
            "argon2 computes wrong hashes with these instructions of the processor, which are not used: check the machine"
        );
    }
    tracing::debug!(%kernel, "argon2 kernel chosen");
    kernel
}

fn work(jobs: &Taker<Job>, mut arena: Arena, metrics: &HashMetrics) {
    // If the system refuses, hashing runs at the normal priority.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    loop {
        let job = match jobs.next(arena.patience()) {
            Next::Job(job) => job,
            Next::Idle => {
                arena.free();
                continue;
            }
            Next::Closed => return,
        };
        metrics.dequeue();
        if job.answer.is_closed() {
            continue; // the client disconnected while the job was queued
        }
        let watch = Stopwatch::start();
        let hash = arena.compute(&job);
        metrics.record(WorkClass::Own, watch.elapsed());
        let _ = job.answer.send(hash);
    }
}

/// Returns the number of memory blocks that a hash fills over all passes. The time of a hash is proportional to it.
fn blocks_filled(params: &Params) -> usize {
    params.block_count() * params.t_cost() as usize
}

/// Returns the parameters of a second computation, which follows a hash with outdated parameters (`params`). Both
/// together take as long as one hash with the current parameters (`today`), so response times do not reveal which
/// accounts have outdated ones. The second computation uses at most as much memory as `today`. `None` if the time to be
/// filled is shorter than any argon2 computation.
fn rest(params: &Params, today: &Params) -> Option<Params> {
    let missing = blocks_filled(today).saturating_sub(blocks_filled(params));
    let passes = missing.div_ceil(today.block_count());
    let memory = missing.checked_div(passes)?;
    Params::new(u32::try_from(memory).ok()?, u32::try_from(passes).ok()?, 1, Some(OUTPUT_LEN)).ok()
}

/// Returns true if a computed hash equals the stored one. The comparison takes constant time.
fn fits(computed: &PasswordHash, stored: Option<&PasswordHash>) -> bool {
    let (Some(stored), Some((params, salt, output))) = (stored.and_then(parts), parts(computed)) else {
        return false;
    };
    stored.0 == params && stored.1 == salt && bool::from(output.ct_eq(&stored.2))
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

/// Splits an argon2id PHC string into parameters, salt and output.
fn parts(hash: &PasswordHash) -> Option<(Params, Vec<u8>, Vec<u8>)> {
    let phc = phc::PasswordHash::new(hash.as_str()).ok()?;
    let is_ours = phc.algorithm == Algorithm::Argon2id.ident() && phc.version == Some(Version::V0x13.into());
    if !is_ours {
        return None;
    }
    let read = Params::try_from(&phc).ok()?;
    let params = Params::new(read.m_cost(), read.t_cost(), read.p_cost(), Some(OUTPUT_LEN)).ok()?;
    Some((params, phc.salt?.to_vec(), phc.hash?.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests;
