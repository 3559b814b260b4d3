//! Kernel with 256-bit vectors. A vector holds four words. The permutation P works on two groups of 16 words at a time,
//! so that the processor always has independent work.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_mul_epu32, _mm256_permute2x128_si256, _mm256_permute4x64_epi64,
    _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_srli_epi64,
    _mm256_xor_si256,
};

use argon2::Block;
use fearless_simd::prelude::*;
use fearless_simd::{Avx2, u64x4};

type Vector = __m256i;

/// Vectors in a block.
const VECTORS: usize = 32;
/// Vectors in a row of the block's matrix of 8 × 16 words.
const ROW: usize = 4;
/// Rotation of the four words of a vector, to the left and to the right, and by two.
const LEFT: i32 = 0b00_11_10_01;
const RIGHT: i32 = 0b10_01_00_11;
const HALF: i32 = 0b01_00_11_10;
/// Selection of the lower, and of the upper halves of two vectors.
const LOWER: i32 = 0x20;
const UPPER: i32 = 0x31;

fearless_simd::kernel!(
    #[inline]
    pub(super) fn compress(
        token: Avx2,
        previous: &Block,
        reference: &Block,
        block: &mut Block,
        is_combined: bool,
    ) {
        let load = |words: &[u64; 4]| -> Vector { u64x4::<Avx2>::simd_from(token, *words).into() };
        let store = |vector: Vector| -> [u64; 4] { u64x4::<Avx2>::simd_from(token, vector).into() };
        let (previous, reference) = (previous.as_ref().as_chunks().0, reference.as_ref().as_chunks().0);
        let block = block.as_mut().as_chunks_mut().0;
        let mut matrix = [_mm256_setzero_si256(); VECTORS];
        for i in 0..VECTORS {
            matrix[i] = _mm256_xor_si256(load(&previous[i]), load(&reference[i]));
            let old = if is_combined { load(&block[i]) } else { _mm256_setzero_si256() };
            block[i] = store(_mm256_xor_si256(old, matrix[i]));
        }
        // Two rows at a time.
        for rows in matrix.as_chunks_mut::<{ 2 * ROW }>().0 {
            let (one, two) = rows.split_at_mut(ROW);
            if let (Some(one), Some(two)) = (one.first_chunk_mut(), two.first_chunk_mut()) {
                permute(one, two);
            }
        }
        // Two columns at a time. A vector holds two words of each.
        for i in 0..ROW {
            let mut one = [_mm256_setzero_si256(); 4];
            let mut two = one;
            for k in 0..4 {
                let (upper, lower) = (2 * k * ROW + i, (2 * k + 1) * ROW + i);
                one[k] = _mm256_permute2x128_si256::<LOWER>(matrix[upper], matrix[lower]);
                two[k] = _mm256_permute2x128_si256::<UPPER>(matrix[upper], matrix[lower]);
            }
            permute(&mut one, &mut two);
            for k in 0..4 {
                let (upper, lower) = (2 * k * ROW + i, (2 * k + 1) * ROW + i);
                let upper_words = _mm256_permute2x128_si256::<LOWER>(one[k], two[k]);
                let lower_words = _mm256_permute2x128_si256::<UPPER>(one[k], two[k]);
                block[upper] = store(_mm256_xor_si256(load(&block[upper]), upper_words));
                block[lower] = store(_mm256_xor_si256(load(&block[lower]), lower_words));
            }
        }
    }
);

/// The permutation P (RFC 9106, 3.6) of two groups of 16 words, each four vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn permute(one: &mut [Vector; 4], two: &mut [Vector; 4]) {
    mix(one);
    mix(two);
    rotate::<LEFT, RIGHT>(one);
    rotate::<LEFT, RIGHT>(two);
    mix(one);
    mix(two);
    rotate::<RIGHT, LEFT>(one);
    rotate::<RIGHT, LEFT>(two);
}

/// The function GB on the four columns of a group.
#[inline]
#[target_feature(enable = "avx2")]
fn mix([a, b, c, d]: &mut [Vector; 4]) {
    *a = add_product(*a, *b);
    *d = rotate_by_32(_mm256_xor_si256(*d, *a));
    *c = add_product(*c, *d);
    *b = rotate_by_24(_mm256_xor_si256(*b, *c));
    *a = add_product(*a, *b);
    *d = rotate_by_16(_mm256_xor_si256(*d, *a));
    *c = add_product(*c, *d);
    *b = rotate_by_63(_mm256_xor_si256(*b, *c));
}

/// Turns the diagonals of a group into columns, or back.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const B: i32, const D: i32>([_, b, c, d]: &mut [Vector; 4]) {
    *b = _mm256_permute4x64_epi64::<B>(*b);
    *c = _mm256_permute4x64_epi64::<HALF>(*c);
    *d = _mm256_permute4x64_epi64::<D>(*d);
}

/// Returns `x + y + 2 · low(x) · low(y)` of each word.
#[inline]
#[target_feature(enable = "avx2")]
fn add_product(x: Vector, y: Vector) -> Vector {
    let product = _mm256_mul_epu32(x, y);
    _mm256_add_epi64(_mm256_add_epi64(x, y), _mm256_add_epi64(product, product))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_by_32(x: Vector) -> Vector {
    _mm256_shuffle_epi32::<0b10_11_00_01>(x)
}

#[inline]
#[target_feature(enable = "avx2")]
#[rustfmt::skip]
fn rotate_by_24(x: Vector) -> Vector {
    _mm256_shuffle_epi8(x, _mm256_setr_epi8(
        3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10,
        3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10,
    ))
}

#[inline]
#[target_feature(enable = "avx2")]
#[rustfmt::skip]
fn rotate_by_16(x: Vector) -> Vector {
    _mm256_shuffle_epi8(x, _mm256_setr_epi8(
        2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9,
        2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9,
    ))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_by_63(x: Vector) -> Vector {
    _mm256_xor_si256(_mm256_srli_epi64::<63>(x), _mm256_add_epi64(x, x))
}
