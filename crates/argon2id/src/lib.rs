//! Argon2id (RFC 9106) with one lane. The compression function has a kernel for AVX2 and one for AVX-512, chosen when the
//! process starts. Everything else (other processors, several lanes) is computed by the crate `argon2`, with the same
//! result.
//!
//! A kernel is used only after it has computed the same hash as that crate ([`Kernel::fastest`]).

mod blake;
mod fill;
mod kernel;

use argon2::{Algorithm, Argon2, Block, Params, Version};

pub use kernel::Kernel;

/// Length of an output in bytes.
pub const OUTPUT_LEN: usize = 32;

impl Kernel {
    /// Computes a hash into `output`. `memory` holds [`Params::block_count`] blocks at least; their content is irrelevant
    /// before, and secret after.
    ///
    /// # Errors
    /// The salt is shorter than 8 bytes, the memory is too small, or `params` has another output length.
    pub fn hash_into(
        self,
        password: &[u8],
        salt: &[u8],
        params: &Params,
        memory: &mut [Block],
        output: &mut [u8; OUTPUT_LEN],
    ) -> Result<(), argon2::Error> {
        let Some(memory) = memory.get_mut(..params.block_count()) else {
            return Err(argon2::Error::MemoryTooLittle);
        };
        if self == Self::Portable || !is_served(params, salt) {
            let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
            return argon2.hash_password_into_with_memory(password, salt, output, memory);
        }
        fill::hash(self, password, salt, params, memory, output);
        Ok(())
    }
}

/// True if the kernels compute hashes with these parameters. The others are left to the crate `argon2`, which also refuses
/// invalid ones.
fn is_served(params: &Params, salt: &[u8]) -> bool {
    params.p_cost() == 1
        && params.output_len().is_none_or(|length| length == OUTPUT_LEN)
        && params.keyid().is_empty()
        && params.data().is_empty()
        && salt.len() >= argon2::MIN_SALT_LEN
}
