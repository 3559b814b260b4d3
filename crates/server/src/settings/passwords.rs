//! Section `passwords`: the cost of hashing.

use latchkey_settings::{Problems, settings};

use super::server::Mode;

/// Memory of the weakest row of the OWASP table for argon2id, in KiB.
const LEAST_MEMORY_KIB: u32 = 7168;

/// Memory times iterations of that row.
const LEAST_WORK: u64 = 35_840;

settings! {
    /// Section `passwords`: the cost of hashing.
    #[derive(Debug)]
    pub struct PasswordSettings {
        /// argon2id: memory in KiB and iterations, with one lane (OWASP). Stored hashes with other numbers
        /// still verify and are replaced at the next sign-in (while a sign-up for the address is remembered, see
        /// auth.pending_ttl, after that). Raised numbers do not show in the time of a response; lowered ones do,
        /// until each account has signed in. Production demands at least 7168 KiB, and
        /// memory_kib x iterations of at least 35840, the weakest row of the OWASP table.
        "passwords.memory_kib" => memory_kib: u32 [8..=4_194_304] = 19456;
        "passwords.iterations" => iterations: u32 [1..=100] = 2;
        /// Threads that do nothing but hash; 0 is one per core. Each holds memory_kib.
        "passwords.hash_threads" => hash_threads: usize [0..=1024] = 0;
        /// Passwords that may wait for such a thread. When the queue is full the response is 503 SERVICE_BUSY
        /// at once, so that everything else stays quick.
        "passwords.hash_queue" => hash_queue: usize [1..=65_536] = 64;
    }
}

impl PasswordSettings {
    /// Production does not hash more cheaply than the weakest row; tests may.
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
