//! Section `passwords`: cost of password hashing.

use latchkey_settings::{Problems, Reader, settings};

use super::server::Mode;

/// Minimum memory in KiB for production: the weakest parameters that OWASP recommends for argon2id.
const LEAST_MEMORY_KIB: u32 = 7168;

/// Minimum product of memory in KiB and iterations for production: 7168 KiB times 5 iterations, the weakest parameters
/// that OWASP recommends.
const LEAST_WORK: u64 = 35_840;

/// Bounds of `passwords.foreign_memory` in bytes.
const FOREIGN_MEMORY: std::ops::RangeInclusive<usize> = 256 << 20..=64 << 30;
const WANTED_MEMORY: &str = "expected a number of MiB or GiB from 256 MiB to 64 GiB, such as \"512 MiB\"";

settings! {
    /// Settings of section `passwords`.
    #[derive(Debug)]
    pub struct PasswordSettings {
        /// Parameters of argon2id: memory in KiB and iterations, with parallelism 1 (OWASP). Hashes with other
        /// parameters still verify and are renewed at the next sign-in (or later, while a sign-up for the address is
        /// remembered, see auth.pending_ttl). Raised parameters do not affect response times visibly; lowered ones do,
        /// until each account has signed in. Production requires at least 7168 KiB, and memory_kib x iterations of at
        /// least 35840, the weakest recommendation of OWASP.
        "passwords.memory_kib" => memory_kib: u32 [8..=4_194_304] = 19456;
        "passwords.iterations" => iterations: u32 [1..=100] = 2;
        /// Number of hashing threads; 0 is one per core. Each uses memory_kib of memory.
        "passwords.hash_threads" => hash_threads: usize [0..=1024] = 0;
        /// Maximum number of passwords that wait for a hashing thread. If the queue is full, the response is 503
        /// SERVICE_BUSY at once, so that other requests stay fast.
        "passwords.hash_queue" => hash_queue: usize [1..=65_536] = 64;
        /// Maximum memory that all hashing threads together use to check the hashes of imported accounts, from 256 MiB
        /// (what the most expensive one needs) to 64 GiB. A check that needs more than is free waits.
        "passwords.foreign_memory" => foreign_memory: usize | read_memory = "256 MiB";
    }
}

/// Reads a number of MiB or GiB within the bounds of `passwords.foreign_memory`.
fn read_memory(reader: &mut Reader<'_>, key: &'static str) -> usize {
    let parse = |text: &str| {
        let (count, unit) = text.split_once(' ').ok_or(WANTED_MEMORY)?;
        let is_plain = count.bytes().all(|digit| digit.is_ascii_digit());
        let count = count.parse::<usize>().ok().filter(|_| is_plain).ok_or(WANTED_MEMORY)?;
        let bytes = match unit {
            "MiB" => count.checked_mul(1 << 20),
            "GiB" => count.checked_mul(1 << 30),
            _ => None,
        };
        bytes.filter(|bytes| FOREIGN_MEMORY.contains(bytes)).ok_or(WANTED_MEMORY)
    };
    reader.parse(key, parse).unwrap_or(*FOREIGN_MEMORY.start())
}

impl PasswordSettings {
    /// Checks that production does not hash below the recommended minimum. Development may, for fast tests.
    pub(super) fn check(&self, mode: Mode, problems: &mut Problems) {
        let work = u64::from(self.memory_kib) * u64::from(self.iterations);
        let is_weak = self.memory_kib < LEAST_MEMORY_KIB || work < LEAST_WORK;
        if mode == Mode::Production && is_weak {
            let sentence = format!(
                "{} with passwords.iterations {} is too cheap to guess in production; use at least \
                 {LEAST_MEMORY_KIB} and a product of {LEAST_WORK}, such as 19456 and 2",
                self.memory_kib, self.iterations
            );
            let keys = ["passwords.memory_kib", "passwords.iterations", "server.mode"];
            problems.rule(&keys, sentence);
        }
    }
}
