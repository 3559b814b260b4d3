//! Password hashing: argon2id on its own bounded threads with a bounded queue, so that reads and refreshes never
//! wait behind a hash.

use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use latchkey_domain::password::{Password, PasswordHash};
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;

use crate::entropy::Entropy;
use crate::error::{Error, Result};
use refusals::Refusals;

mod refusals;

/// Bytes of salt and of output.
const SALT_LEN: usize = 16;
const OUTPUT_LEN: usize = 32;
/// What a client that meets a full queue is told to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Priority of the hashing threads: answers that need no hash go first.
const NICENESS: i32 = 10;

/// How passwords are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingConfig {
    /// Memory of one hash in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub iterations: u32,
    /// Threads; as many as cores is best.
    pub threads: NonZeroUsize,
    /// How many may wait.
    pub queue: usize,
}

/// What came of checking a password.
#[derive(Debug)]
pub enum PasswordCheck {
    /// It is right.
    Right,
    /// It is right, and its hash has other parameters than today's; this is the new one.
    RightButOutdated(PasswordHash),
    /// It is wrong, or there was none to compare with.
    Wrong,
}

/// The hashing threads.
pub struct Passwords {
    queue: SyncSender<Job>,
    refusals: Refusals,
    params: Params,
    entropy: Arc<dyn Entropy>,
    /// Stands in where there is no hash to compare with: the same work, never a match.
    dummy: PasswordHash,
}

struct Job {
    password: Password,
    salt: Vec<u8>,
    params: Params,
    answer: oneshot::Sender<Result<PasswordHash>>,
}

/// The parameters are out of argon2's range, or a thread cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum HashingError {
    /// Parameters out of range.
    #[error("passwords.memory_kib and passwords.iterations are out of argon2's range")]
    Parameters,
    /// No thread.
    #[error("a hashing thread cannot be started")]
    Thread(#[from] std::io::Error),
}

impl Passwords {
    /// Starts the threads.
    pub fn start(config: HashingConfig, entropy: Arc<dyn Entropy>) -> Result<Self, HashingError> {
        let params = Params::new(config.memory_kib, config.iterations, 1, Some(OUTPUT_LEN))
            .map_err(|_| HashingError::Parameters)?;
        let (queue, jobs) = sync_channel(config.queue.max(1));
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..config.threads.get() {
            let jobs = Arc::clone(&jobs);
            let arena = Arena::new(params.block_count());
            std::thread::Builder::new().name(format!("hash-{number}")).spawn(move || work(&jobs, arena))?;
        }
        let dummy = phc_string(&params, &[0; SALT_LEN], &[0; OUTPUT_LEN]).ok_or(HashingError::Parameters)?;
        Ok(Self { queue, refusals: Refusals::new(), params, entropy, dummy })
    }

    /// Hashes a new password under a fresh salt.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        let salt = self.entropy.bytes::<SALT_LEN>().to_vec();
        self.run(password, salt, self.params.clone()).await
    }

    /// Hashes a password under the parameters and salt of another hash, so that the two can be compared.
    pub async fn hash_like(&self, password: Password, like: &PasswordHash) -> Result<PasswordHash> {
        let (params, salt, _) =
            parts(like).ok_or_else(|| Error::internal("a stored password hash cannot be read"))?;
        self.run(password, salt, params).await
    }

    /// Checks a password. Without a stored hash the same work is done and the answer is `Wrong`.
    pub async fn check(&self, password: Password, stored: Option<&PasswordHash>) -> Result<PasswordCheck> {
        if password.is_too_long() {
            return Ok(PasswordCheck::Wrong); // refused before any hashing, for known and unknown alike
        }
        let compared = stored.unwrap_or(&self.dummy);
        let (params, salt, expected) =
            parts(compared).ok_or_else(|| Error::internal("a stored password hash cannot be read"))?;
        let is_current = params == self.params;
        let again = (stored.is_some() && !is_current).then(|| password.duplicate());
        let computed = self.run(password, salt, params).await?;
        let output = parts(&computed).map(|(_, _, output)| output).unwrap_or_default();
        let is_right = bool::from(output.as_slice().ct_eq(&expected)) && stored.is_some();
        match (is_right, again) {
            (false, _) => Ok(PasswordCheck::Wrong),
            (true, None) => Ok(PasswordCheck::Right),
            (true, Some(password)) => Ok(PasswordCheck::RightButOutdated(self.hash(password).await?)),
        }
    }

    async fn run(&self, password: Password, salt: Vec<u8>, params: Params) -> Result<PasswordHash> {
        let (answer, answered) = oneshot::channel();
        match self.queue.try_send(Job { password, salt, params, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => {
                drop(job); // the password is not needed for a refusal
                self.refusals.wait().await;
                return Err(Error::Busy { retry_after: RETRY_AFTER });
            }
            Err(TrySendError::Disconnected(_)) => {
                return Err(Error::internal("the hashing threads have stopped"));
            }
        }
        answered.await.map_err(|_| Error::internal("a hashing thread has stopped"))?
    }
}

/// The memory that a thread hashes in.
struct Arena {
    blocks: Vec<Block>,
    /// Blocks that a hash of today's parameters takes; more are given back.
    usual: usize,
}

impl Arena {
    const fn new(usual: usize) -> Self {
        Self { blocks: Vec::new(), usual }
    }

    fn compute(&mut self, job: &Job) -> Result<PasswordHash> {
        let needed = job.params.block_count();
        if self.blocks.len() < needed {
            self.blocks.resize(needed, Block::default());
        }
        let hash = compute(job, &mut self.blocks[..needed]);
        if self.blocks.len() > self.usual {
            self.blocks.truncate(self.usual);
            self.blocks.shrink_to_fit();
        }
        hash
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, mut arena: Arena) {
    // Best effort: without the right to change it, hashing runs at the normal priority.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if job.answer.is_closed() {
            continue; // the client went away while it waited
        }
        let hash = arena.compute(&job);
        let _ = job.answer.send(hash);
    }
}

fn compute(job: &Job, memory: &mut [Block]) -> Result<PasswordHash> {
    let mut output = [0; OUTPUT_LEN];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, job.params.clone())
        .hash_password_into_with_memory(job.password.expose(), &job.salt, &mut output, memory)
        .map_err(|_| Error::internal("argon2 refused its input"))?;
    phc_string(&job.params, &job.salt, &output)
        .ok_or_else(|| Error::internal("a PHC string could not be written"))
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

/// Parameters, salt and output of an argon2id PHC string.
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
