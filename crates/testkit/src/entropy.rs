//! Reproducible random numbers for tests.

use std::sync::{Arc, Mutex, PoisonError};

use latchkey_service::entropy::Entropy;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Random numbers from a seed. Clones share one sequence, so that a restarted service does not repeat values. Signing
/// keys are not reproducible: the cryptography library generates them itself.
#[derive(Clone)]
pub struct SeededEntropy(Arc<Mutex<StdRng>>);

impl SeededEntropy {
    /// Creates a sequence from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(entropy: &SeededEntropy) -> [u8; 16] {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        bytes
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_clones_go_on() {
        let (one, other) = (SeededEntropy::new(1), SeededEntropy::new(1));

        let first = draw(&one);

        assert_eq!(first, draw(&other));
        assert_ne!(first, draw(&one.clone()));
    }
}
