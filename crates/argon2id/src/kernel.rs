//! Kernels of the compression function G (RFC 9106, 3.5), and the choice of one.

use std::fmt;

use argon2::{Block, Params};
#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, Avx512, Level};

use crate::OUTPUT_LEN;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Way to compute hashes. All give the same result.
#[derive(Clone, Copy)]
pub enum Kernel {
    /// The crate `argon2`, for every processor.
    Portable,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Kernel {
    /// Returns the kernels that this processor supports, the fastest first.
    #[must_use]
    pub fn supported() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let level = Level::new();
            let avx512 = level.as_avx512().map(Self::Avx512);
            let avx2 = level.as_avx2().map(Self::Avx2);
            [avx512, avx2, Some(Self::Portable)].into_iter().flatten().collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self::Portable]
    }

    /// Returns the fastest kernel that passes the self-test, and the kernels that failed it. A failure means that the
    /// processor or the compiler is broken.
    #[must_use]
    pub fn fastest() -> (Self, Vec<Self>) {
        first_good(Self::supported(), Self::passes_self_test)
    }

    /// Computes a small hash, and compares it with the one that is known.
    fn passes_self_test(self) -> bool {
        self.self_test_hash() == Some(KNOWN_HASH)
    }

    /// Hash of fixed inputs with more blocks than one block of addresses covers in a segment, and two passes.
    fn self_test_hash(self) -> Option<[u8; OUTPUT_LEN]> {
        let params = Params::new(1_024, 2, 1, Some(OUTPUT_LEN)).ok()?;
        let mut blocks = vec![Block::new(); params.block_count()];
        let mut output = [0; OUTPUT_LEN];
        self.hash_into(b"self-test", b"of the kernels", &params, &mut blocks, &mut output).ok()?;
        Some(output)
    }

    /// Computes G of two blocks. The result replaces `block`, or is combined with it by XOR.
    #[inline]
    pub(crate) fn compress(self, previous: &Block, reference: &Block, block: &mut Block, is_combined: bool) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => avx2::compress(token, previous, reference, block, is_combined),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => avx512::compress(token, previous, reference, block, is_combined),
            // The crate `argon2` fills its memory itself.
            Self::Portable => {}
        }
    }
}

/// Hash of the self-test, by the crate `argon2`. Computing it at each start would take four times as long as the kernel's own.
const KNOWN_HASH: [u8; OUTPUT_LEN] = [
    0x81, 0x67, 0x72, 0xf3, 0xed, 0xcc, 0x09, 0xa4, 0xf3, 0x4e, 0xdb, 0xe3, 0xf6, 0x29, 0x4f, 0xe4, 0x5e,
    0x92, 0xf1, 0xb1, 0xc5, 0x19, 0x50, 0x78, 0x3f, 0x5c, 0xcb, 0x58, 0x34, 0xe0, 0xcf, 0x95,
];

/// Returns the first kernel that passes a test, and those before it. The portable one needs no test.
fn first_good(kernels: Vec<Kernel>, passes: impl Fn(Kernel) -> bool) -> (Kernel, Vec<Kernel>) {
    let mut failed = Vec::new();
    for kernel in kernels {
        if kernel == Kernel::Portable || passes(kernel) {
            return (kernel, failed);
        }
        failed.push(kernel);
    }
    (Kernel::Portable, failed)
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
        })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hash_is_that_of_the_crate_argon2() {
        assert_eq!(Kernel::Portable.self_test_hash(), Some(KNOWN_HASH));
    }

    #[test]
    fn every_supported_kernel_passes_the_self_test() {
        let (kernel, failed) = Kernel::fastest();

        assert_eq!(Some(&kernel), Kernel::supported().first());
        assert_eq!(failed, []);
    }

    #[test]
    fn kernel_that_fails_the_self_test_is_replaced_by_the_next() {
        let all = Kernel::supported();

        let (kernel, failed) = first_good(all.clone(), |_| false);

        assert_eq!(kernel, Kernel::Portable);
        assert_eq!(failed, all[..all.len() - 1]);
    }
}
