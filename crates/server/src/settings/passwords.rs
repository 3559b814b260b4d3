//! Section `passwords`: the rules of new passwords, and what hashing costs.

use latchkey_domain::password::PasswordPolicy;

use super::problem::Problems;
use super::reader::Reader;
use super::server::Mode;

/// Memory of the weakest row of the OWASP table for argon2id, in KiB.
const LEAST_MEMORY_KIB: u32 = 7168;

/// Memory times iterations of that row.
const LEAST_WORK: u64 = 35_840;

/// Section `passwords`.
#[derive(Debug)]
pub struct PasswordSettings {
    /// The rules of new passwords. Editable.
    pub policy: PasswordPolicy,
    /// Memory of argon2id, in KiB.
    pub memory_kib: u32,
    /// Iterations of argon2id.
    pub iterations: u32,
    /// Threads that hash; zero is one per core.
    pub hash_threads: usize,
    /// Passwords that may wait for a thread.
    pub hash_queue: usize,
}

impl PasswordSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self {
            policy: PasswordPolicy {
                min_length: reader.number("passwords.min_length"),
                require_number: reader.flag("passwords.require_number"),
                require_lowercase: reader.flag("passwords.require_lowercase"),
                require_uppercase: reader.flag("passwords.require_uppercase"),
                require_special_char: reader.flag("passwords.require_special_char"),
            },
            memory_kib: reader.number("passwords.memory_kib"),
            iterations: reader.number("passwords.iterations"),
            hash_threads: reader.number("passwords.hash_threads"),
            hash_queue: reader.number("passwords.hash_queue"),
        }
    }

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
