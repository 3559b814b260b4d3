//! Password hashing with argon2id, on a fixed number of threads with a bounded queue, so that requests without a
//! password never wait for a hash. Hashes from elsewhere are compared on the same threads, each followed by one of
//! argon2id.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use argon2::password_hash::phc;
use argon2::{Algorithm, Params, Version};
use latchkey_argon2id::{Kernel, OUTPUT_LEN};
use latchkey_domain::imported_hash::{
    Argon2Hash, Argon2Variant, DigestHash, ImportedHash, Scheme, WrappedDigest,
};
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::sign_in::{Compared, Fit};
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;

use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::refusal::BUSY;
use arena::{Arena, Computed, Job, Work, rest, work};
use memory::Memory;
use metrics::{HashMetrics, HashSpans};
use queue::{NotQueued, Queue, Taker};
use refusals::Refusals;

mod arena;
mod elsewhere;
mod memory;
pub(crate) mod metrics;
mod queue;
mod refusals;

/// Length of the salt in bytes.
const SALT_LEN: usize = 16;
/// Bounds of a stored argon2id hash: those of hashes from elsewhere. Configured parameters may exceed them.
const MOST_MEMORY_KIB: u32 = 256 * 1024;
const MOST_PASSES: u32 = 10;
const MOST_LANES: u32 = 8;

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
    /// Maximum memory in bytes that all threads together use for hashes from elsewhere.
    pub foreign_memory: usize,
}

/// A hash from elsewhere that a check works on before the hash of argon2id.
#[derive(Clone)]
pub enum Elsewhere {
    /// The account's own hash.
    Own(ImportedHash),
    /// A hash of the same cost as that of some account, which nothing matches. It is worked for an address without a
    /// password of its own, so that response times do not tell known addresses from unknown ones.
    Decoy(ImportedHash),
}

/// The outcome of a password check.
#[derive(Debug)]
pub struct PasswordCheck {
    /// The stored hash that the password matches, if any.
    pub fit: Fit,
    /// A new hash of argon2id, if the password matches the account's hash and that hash has other parameters or is from
    /// elsewhere.
    pub rehashed: Option<PasswordHash>,
}

/// The pool of hashing threads and its queue.
pub struct PasswordHasher {
    queue: Arc<Queue<Job>>,
    refusals: Refusals,
    metrics: Arc<HashMetrics>,
    params: Params,
    entropy: Arc<dyn Entropy>,
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
        let kernel = Arc::<OnceLock<Kernel>>::default();
        let metrics = Arc::<HashMetrics>::default();
        let memory = Arc::new(Memory::new(config.foreign_memory));
        for number in 0..config.threads.get() {
            let (jobs, metrics) = (Taker::of(&queue), Arc::clone(&metrics));
            let (kernel, memory, usual) = (Arc::clone(&kernel), Arc::clone(&memory), params.block_count());
            // The self-tests of the kernels take milliseconds, for which the start does not wait.
            std::thread::Builder::new().name(format!("hash-{number}")).spawn(move || {
                let kernel = *kernel.get_or_init(choose_kernel);
                work(&jobs, Arena::new(kernel, usual, memory), &metrics);
            })?;
        }
        Ok(Self { queue, refusals: Refusals::new(), metrics, params, entropy })
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
        Ok(self.run(password, Work::New, (self.params.clone(), salt)).await?.hash)
    }

    /// Hashes a password with the parameters and salt of `like`, so that the two hashes can be compared; with a random
    /// salt if `like` is `None` or cannot be read. The call takes as long as [`Self::hash`].
    pub async fn hash_like(&self, password: Password, like: Option<&PasswordHash>) -> Result<PasswordHash> {
        match like.and_then(|like| self.parts(like)) {
            None => self.hash(password).await,
            Some((params, salt, _)) => Ok(self.run(password, Work::New, (params, salt)).await?.hash),
        }
    }

    /// Compares a password with the stored hashes by computing one hash of argon2id, after the work on a hash
    /// from elsewhere if there is one. A stored hash that cannot be read is none.
    ///
    /// Nothing tells an imported argon2id hash from one of our own, but other software may have hashed the bytes as they
    /// were typed. So these are computed too if they are not NFC, for any stored hash of argon2id and for none: how often
    /// argon2id is computed follows from the password and the work class alone, never from the account.
    ///
    /// If the account's own hash is from elsewhere or has outdated parameters, a new hash is returned, except while the
    /// hash of the last sign-up with the address is stored beside an outdated one: both must keep the same salt and
    /// parameters, so that one computation serves both. A hash from elsewhere is replaced even then, by the hash that
    /// was computed for that comparison.
    pub async fn check(
        &self,
        password: Password,
        compared: Compared<'_>,
        elsewhere: Option<Elsewhere>,
    ) -> Result<PasswordCheck> {
        if password.is_too_long() {
            // Too long passwords are refused before hashing, for known and unknown accounts alike.
            return Ok(PasswordCheck { fit: Fit::Neither, rehashed: None });
        }
        let Compared { own, of_sign_up } = compared;
        let (params, salt) = self.parts_to_compute(compared, elsewhere.as_ref());
        let is_outdated =
            own.is_some_and(|own| self.parts(own).is_some()) && of_sign_up.is_none() && params != self.params;
        let again = is_outdated.then(|| password.duplicate());
        let is_own_elsewhere = matches!(elsewhere, Some(Elsewhere::Own(_)));
        let worked = match elsewhere {
            Some(Elsewhere::Decoy(hash)) if is_argon2id(&hash).is_some() => None,
            Some(Elsewhere::Own(hash) | Elsewhere::Decoy(hash)) => Some(hash),
            None => None,
        };
        let Computed { hash, typed, fits_elsewhere } =
            self.run(password, Work::Check(worked), (params, salt)).await?;
        if is_own_elsewhere && fits_elsewhere {
            return Ok(PasswordCheck { fit: Fit::Own, rehashed: Some(hash) });
        }
        let fits_typed = typed.is_some_and(|typed| self.fits(&typed, own));
        let fit = match (self.fits(&hash, own) | fits_typed, self.fits(&hash, of_sign_up)) {
            (true, _) => Fit::Own,
            (false, true) => Fit::SignUp,
            (false, false) => Fit::Neither,
        };
        let rehashed = match again {
            Some(password) if fit == Fit::Own => Some(self.hash(password).await?),
            // Under the same salt and parameters, so that it can still be compared with the hash of a sign-up.
            _ if fits_typed => Some(hash),
            _ => None,
        };
        Ok(PasswordCheck { fit, rehashed })
    }

    /// True if a stored hash is of argon2id, within the bounds.
    pub(super) fn is_ours(&self, hash: &PasswordHash) -> bool {
        self.parts(hash).is_some()
    }

    /// Hashes a bare digest by argon2id. The hash is worth as much as one of a password.
    pub async fn wrap(&self, digest: DigestHash) -> Result<ImportedHash> {
        let DigestHash { recipe, output } = digest;
        let salt = self.entropy.bytes::<SALT_LEN>().to_vec();
        let input = Password::new(hex::encode(output));
        let hash = self.run(input, Work::New, (self.params.clone(), salt)).await?.hash;
        let (params, salt, output) =
            self.parts(&hash).ok_or_else(|| Error::internal("a hash could not be read"))?;
        let (memory_kib, passes, lanes) = (params.m_cost(), params.t_cost(), params.p_cost());
        Ok(Scheme::Wrapped(WrappedDigest { recipe, memory_kib, passes, lanes, salt, output }).into())
    }

    /// Returns parameters and salt of the argon2id hash to compute: those of the own hash, of the hash of the last
    /// sign-up, of a decoy, or those of a new hash, in this order.
    fn parts_to_compute(
        &self,
        Compared { own, of_sign_up }: Compared<'_>,
        elsewhere: Option<&Elsewhere>,
    ) -> (Params, Vec<u8>) {
        let stored = own.and_then(|own| self.parts(own)).or_else(|| self.parts(of_sign_up?));
        if let Some((params, salt, _)) = stored {
            return (params, salt);
        }
        let decoy = match elsewhere {
            Some(Elsewhere::Decoy(decoy)) => is_argon2id(decoy).and_then(|decoy| self.params_of(decoy)),
            Some(Elsewhere::Own(_)) | None => None,
        };
        (decoy.unwrap_or_else(|| self.params.clone()), self.entropy.bytes::<SALT_LEN>().to_vec())
    }

    async fn run(
        &self,
        password: Password,
        work: Work,
        (params, salt): (Params, Vec<u8>),
    ) -> Result<Computed> {
        let (answer, answered) = oneshot::channel();
        let rest = rest(&params, &self.params);
        self.metrics.enqueue();
        let job = Job { password, work, salt, params, rest, answer, spans: HashSpans::begin() };
        match self.queue.push(job) {
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

    /// Splits an argon2id PHC string into parameters, salt and output. `None` if it is none, or costs more than the
    /// bounds permit.
    fn parts(&self, hash: &PasswordHash) -> Option<(Params, Vec<u8>, Vec<u8>)> {
        let phc = phc::PasswordHash::new(hash.as_str()).ok()?;
        if phc.algorithm != Algorithm::Argon2id.ident() || phc.version != Some(Version::V0x13.into()) {
            return None;
        }
        let (read, output) = (Params::try_from(&phc).ok()?, phc.hash?.as_bytes().to_vec());
        let params = Params::new(read.m_cost(), read.t_cost(), read.p_cost(), Some(output.len())).ok()?;
        self.is_within(&params).then_some((params, phc.salt?.to_vec(), output))
    }

    fn params_of(&self, hash: &Argon2Hash) -> Option<Params> {
        let params = Params::new(hash.memory_kib, hash.passes, hash.lanes, Some(hash.output.len())).ok()?;
        self.is_within(&params).then_some(params)
    }

    fn is_within(&self, params: &Params) -> bool {
        params.m_cost() <= self.params.m_cost().max(MOST_MEMORY_KIB)
            && params.t_cost() <= self.params.t_cost().max(MOST_PASSES)
            && params.p_cost() <= MOST_LANES
    }

    /// Returns true if a computed hash equals the stored one. The comparison takes constant time.
    fn fits(&self, computed: &PasswordHash, stored: Option<&PasswordHash>) -> bool {
        let stored = stored.and_then(|stored| self.parts(stored));
        let (Some(stored), Some((params, salt, output))) = (stored, self.parts(computed)) else {
            return false;
        };
        stored.0 == params && stored.1 == salt && bool::from(output.ct_eq(&stored.2))
    }
}

/// The threads end with the hasher, after the queued jobs.
impl Drop for PasswordHasher {
    fn drop(&mut self) {
        self.queue.close();
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

/// Returns the parts of a hash that is argon2id of version 19, as our own are.
fn is_argon2id(hash: &ImportedHash) -> Option<&Argon2Hash> {
    match hash.scheme() {
        Scheme::Argon2(hash @ Argon2Hash { variant: Argon2Variant::Id, version: 19, .. }) => Some(hash),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
