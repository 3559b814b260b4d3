//! Kernel with 512-bit vectors. A vector holds eight words, and the whole block fits the registers. The permutation P works
//! on four groups of 16 words at a time: each vector has four words of one group and four of another.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_mul_epu32, _mm512_permutex_epi64, _mm512_ror_epi64,
    _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_xor_si512,
};

use argon2::Block;
use fearless_simd::prelude::*;
use fearless_simd::{Avx512, u64x8};

type Vector = __m512i;

/// Vectors in a block. A row of the block's matrix of 8 × 16 words is two vectors.
const VECTORS: usize = 16;
/// Rotation of the four words in each half of a vector, to the left and to the right, and by two.
const LEFT: i32 = 0b00_11_10_01;
const RIGHT: i32 = 0b10_01_00_11;
const HALF: i32 = 0b01_00_11_10;
/// Selection of the lower, and of the upper halves of two vectors.
const LOWER: i32 = 0b01_00_01_00;
const UPPER: i32 = 0b11_10_11_10;
/// Exchange of the second and the third quarter of a vector.
const MIDDLE: i32 = 0b11_01_10_00;

fearless_simd::kernel!(
    #[inline]
    pub(super) fn compress(
        token: Avx512,
        previous: &Block,
        reference: &Block,
        block: &mut Block,
        is_combined: bool,
    ) {
        let load = |words: &[u64; 8]| -> Vector { u64x8::<Avx512>::simd_from(token, *words).into() };
        let store = |vector: Vector| -> [u64; 8] { u64x8::<Avx512>::simd_from(token, vector).into() };
        let (previous, reference) = (previous.as_ref().as_chunks().0, reference.as_ref().as_chunks().0);
        let block = block.as_mut().as_chunks_mut().0;
        let mut matrix = [_mm512_setzero_si512(); VECTORS];
        for i in 0..VECTORS {
            matrix[i] = _mm512_xor_si512(load(&previous[i]), load(&reference[i]));
            let old = if is_combined { load(&block[i]) } else { _mm512_setzero_si512() };
            block[i] = store(_mm512_xor_si512(old, matrix[i]));
        }
        // Four rows at a time.
        for [a, b, c, d, e, f, g, h] in matrix.as_chunks_mut().0 {
            let mut one = groups_of_rows(*a, *b, *c, *d);
            let mut two = groups_of_rows(*e, *f, *g, *h);
            permute(&mut one, &mut two);
            [*a, *b, *c, *d] = rows_of_groups(one);
            [*e, *f, *g, *h] = rows_of_groups(two);
        }
        // Four columns at a time. A vector holds two words of each.
        for i in 0..2 {
            let mut one = [_mm512_setzero_si512(); 4];
            let mut two = one;
            for k in 0..4 {
                let (upper, lower) = (matrix[4 * k + i], matrix[4 * k + 2 + i]);
                one[k] = swap_middle(_mm512_shuffle_i64x2::<LOWER>(upper, lower));
                two[k] = swap_middle(_mm512_shuffle_i64x2::<UPPER>(upper, lower));
            }
            permute(&mut one, &mut two);
            for k in 0..4 {
                let (one, two) = (swap_middle(one[k]), swap_middle(two[k]));
                let (upper, lower) = (4 * k + i, 4 * k + 2 + i);
                let upper_words = _mm512_shuffle_i64x2::<LOWER>(one, two);
                let lower_words = _mm512_shuffle_i64x2::<UPPER>(one, two);
                block[upper] = store(_mm512_xor_si512(load(&block[upper]), upper_words));
                block[lower] = store(_mm512_xor_si512(load(&block[lower]), lower_words));
            }
        }
    }
);

/// Distributes two rows, of two vectors each, to the vectors that P takes.
#[inline]
#[target_feature(enable = "avx512f")]
fn groups_of_rows(a: Vector, b: Vector, c: Vector, d: Vector) -> [Vector; 4] {
    [
        _mm512_shuffle_i64x2::<LOWER>(a, c),
        _mm512_shuffle_i64x2::<UPPER>(a, c),
        _mm512_shuffle_i64x2::<LOWER>(b, d),
        _mm512_shuffle_i64x2::<UPPER>(b, d),
    ]
}

/// Reverses [`groups_of_rows`].
#[inline]
#[target_feature(enable = "avx512f")]
fn rows_of_groups([a, b, c, d]: [Vector; 4]) -> [Vector; 4] {
    [
        _mm512_shuffle_i64x2::<LOWER>(a, b),
        _mm512_shuffle_i64x2::<LOWER>(c, d),
        _mm512_shuffle_i64x2::<UPPER>(a, b),
        _mm512_shuffle_i64x2::<UPPER>(c, d),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn swap_middle(x: Vector) -> Vector {
    _mm512_shuffle_i64x2::<MIDDLE>(x, x)
}

/// The permutation P (RFC 9106, 3.6) of four groups of 16 words.
#[inline]
#[target_feature(enable = "avx512f")]
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

/// The function GB on the columns of two groups.
#[inline]
#[target_feature(enable = "avx512f")]
fn mix([a, b, c, d]: &mut [Vector; 4]) {
    *a = add_product(*a, *b);
    *d = _mm512_ror_epi64::<32>(_mm512_xor_si512(*d, *a));
    *c = add_product(*c, *d);
    *b = _mm512_ror_epi64::<24>(_mm512_xor_si512(*b, *c));
    *a = add_product(*a, *b);
    *d = _mm512_ror_epi64::<16>(_mm512_xor_si512(*d, *a));
    *c = add_product(*c, *d);
    *b = _mm512_ror_epi64::<63>(_mm512_xor_si512(*b, *c));
}

/// Turns the diagonals of two groups into columns, or back.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const B: i32, const D: i32>([_, b, c, d]: &mut [Vector; 4]) {
    *b = _mm512_permutex_epi64::<B>(*b);
    *c = _mm512_permutex_epi64::<HALF>(*c);
    *d = _mm512_permutex_epi64::<D>(*d);
}

/// Returns `x + y + 2 · low(x) · low(y)` of each word.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_product(x: Vector, y: Vector) -> Vector {
    let product = _mm512_mul_epu32(x, y);
    _mm512_add_epi64(_mm512_add_epi64(x, y), _mm512_add_epi64(product, product))
}
