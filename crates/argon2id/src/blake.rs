//! The hash functions around the memory: the initial hash, and the variable-length hash H' (RFC 9106, 3.2 and 3.3).

use argon2::{Algorithm, Block, Params, Version};
use blake2::{Blake2b256, Blake2b512, Digest};
use zeroize::{Zeroize, Zeroizing};

use crate::OUTPUT_LEN;

/// Words of 64 bits in a block, and in a digest.
const WORDS: usize = Block::SIZE / 8;
const WORDS_OF_DIGEST: usize = 8;

type Digest512 = Zeroizing<[u8; 64]>;

/// Initial hash H0, from which all blocks follow.
pub(crate) struct InitialHash(Digest512);

impl InitialHash {
    pub(crate) fn new(password: &[u8], salt: &[u8], params: &Params) -> Self {
        let mut hash = Blake2b512::new();
        let (version, algorithm) = (u32::from(Version::V0x13), Algorithm::Argon2id as u32);
        for number in
            [params.p_cost(), length(OUTPUT_LEN), params.m_cost(), params.t_cost(), version, algorithm]
        {
            hash.update(number.to_le_bytes());
        }
        // No secret and no associated data.
        for text in [password, salt, &[], &[]] {
            hash.update(length(text.len()).to_le_bytes());
            hash.update(text);
        }
        Self(digest(hash))
    }

    /// Returns block `index` of the lane, one of the first two.
    pub(crate) fn block(&self, index: u32) -> Block {
        const LANE: u32 = 0;
        let mut hash = Blake2b512::new();
        hash.update(length(Block::SIZE).to_le_bytes());
        hash.update(*self.0);
        hash.update(index.to_le_bytes());
        hash.update(LANE.to_le_bytes());
        let mut link = digest(hash);

        let mut block = Block::new();
        let (halves, last) = block.as_mut().split_at_mut(WORDS - WORDS_OF_DIGEST);
        for half in halves.chunks_exact_mut(WORDS_OF_DIGEST / 2) {
            put(&*link, half);
            link = digest(Blake2b512::new_with_prefix(*link));
        }
        put(&*link, last);
        block
    }
}

/// Computes the output from the last block.
pub(crate) fn output(last: &Block, output: &mut [u8; OUTPUT_LEN]) {
    let mut hash = Blake2b256::new();
    hash.update(length(OUTPUT_LEN).to_le_bytes());
    let words: &[u64] = last.as_ref();
    for word in words {
        let mut bytes = word.to_le_bytes();
        hash.update(bytes);
        bytes.zeroize();
    }
    output.copy_from_slice(&hash.finalize());
}

fn digest(hash: Blake2b512) -> Digest512 {
    Zeroizing::new(hash.finalize().into())
}

/// Writes as many words as there is room for.
fn put(bytes: &[u8], words: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

/// Returns a length as argon2 hashes it. Inputs are shorter than 4 GiB.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
