//! The trait `Entropy`, the only source of randomness, and its implementation by the operating system.

use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::long_code::LongCode;

/// A source of random bytes. It is injected everywhere, so that tests can use a seeded generator.
pub trait Entropy: Send + Sync + 'static {
    fn fill(&self, buffer: &mut [u8]);
}

/// The random number generator of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the operating system")]
    fn fill(&self, buffer: &mut [u8]) {
        // Every use of this service's keys and tokens depends on randomness, so without it the process
        // ends.
        if let Err(error) = getrandom::fill(buffer) {
            eprintln!("latchkey: the operating system gives no random numbers: {error}");
            std::process::abort();
        }
    }
}

impl dyn Entropy {
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Draws a code of six digits, uniform over all million values.
    pub fn six_digit_code(&self) -> SixDigitCode {
        const FAIR: u32 = u32::MAX - u32::MAX % 1_000_000;
        loop {
            let random = u32::from_be_bytes(self.bytes());
            if random < FAIR {
                return SixDigitCode::new(random);
            }
        }
    }

    /// Draws a code of 16 characters, too long to be guessed.
    pub fn long_code(&self) -> LongCode {
        LongCode::new(self.bytes())
    }

    /// Draws a number in `0.0..1.0`, for jitter.
    pub fn fraction(&self) -> f64 {
        f64::from(u32::from_be_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }
}
