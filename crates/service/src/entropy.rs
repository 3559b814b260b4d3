//! The one source of randomness.

use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::long_code::LongCode;

/// Gives random bytes. Injected everywhere, so that tests can seed it.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the buffer with unpredictable bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the operating system")]
    fn fill(&self, buffer: &mut [u8]) {
        // Without randomness nothing here is safe; there is no way to go on.
        if getrandom::fill(buffer).is_err() {
            std::process::abort();
        }
    }
}

impl dyn Entropy {
    /// So many random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// A code out of a million, each as likely as the others.
    pub fn six_digit_code(&self) -> SixDigitCode {
        const FAIR: u32 = u32::MAX - u32::MAX % 1_000_000;
        loop {
            let random = u32::from_be_bytes(self.bytes());
            if random < FAIR {
                return SixDigitCode::new(random);
            }
        }
    }

    /// A code that nobody guesses.
    pub fn long_code(&self) -> LongCode {
        LongCode::new(self.bytes())
    }

    /// A random number in `0.0..1.0`, for jitter.
    pub fn fraction(&self) -> f64 {
        f64::from(u32::from_be_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }
}
