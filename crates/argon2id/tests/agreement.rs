//! Every kernel computes what the crate `argon2` computes, and the published results of the reference implementation.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use argon2::{Algorithm, Argon2, Block, Params, Version};
use latchkey_argon2id::{Kernel, OUTPUT_LEN};
use proptest::collection::vec;
use proptest::prelude::*;

fn by_kernel(kernel: Kernel, password: &[u8], salt: &[u8], params: &Params) -> [u8; OUTPUT_LEN] {
    let mut output = [0; OUTPUT_LEN];
    // Old content of the memory does not matter.
    let mut memory = vec![Block::new(); params.block_count() + 3];
    for block in &mut memory {
        block.as_mut().fill(0xa5a5_a5a5_a5a5_a5a5);
    }
    kernel.hash_into(password, salt, params, &mut memory, &mut output).unwrap();
    output
}

fn by_crate(password: &[u8], salt: &[u8], params: &Params) -> [u8; OUTPUT_LEN] {
    let mut output = [0; OUTPUT_LEN];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    argon2.hash_password_into(password, salt, &mut output).unwrap();
    output
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn kernels_agree_with_the_crate(
        password in vec(any::<u8>(), 0..200),
        salt in vec(any::<u8>(), 8..80),
        memory in 8_u32..1_500,
        passes in 1_u32..5,
    ) {
        let params = Params::new(memory, passes, 1, Some(OUTPUT_LEN)).unwrap();
        let expected = by_crate(&password, &salt, &params);
        for kernel in Kernel::supported() {
            prop_assert_eq!(by_kernel(kernel, &password, &salt, &params), expected, "{}", kernel);
        }
    }
}

#[test]
fn kernels_agree_under_the_default_parameters_and_with_large_segments() {
    for (memory, passes) in [(19_456, 2), (65_536, 1), (8, 1), (15, 3), (512, 2), (516, 2)] {
        let params = Params::new(memory, passes, 1, Some(OUTPUT_LEN)).unwrap();
        let expected = by_crate(b"correct horse", b"battery staple", &params);
        for kernel in Kernel::supported() {
            assert_eq!(by_kernel(kernel, b"correct horse", b"battery staple", &params), expected, "{kernel}");
        }
    }
}

#[test]
fn several_lanes_are_computed_by_the_crate() {
    let params = Params::new(64, 3, 4, Some(OUTPUT_LEN)).unwrap();
    for kernel in Kernel::supported() {
        let ours = by_kernel(kernel, b"password", b"somesalt", &params);
        assert_eq!(ours, by_crate(b"password", b"somesalt", &params), "{kernel}");
    }
}

/// Results of the reference implementation for one lane, version 1.3 (`test.c`): password "password" and "somesalt".
#[test]
fn kernels_compute_the_vectors_of_the_reference_implementation() {
    let vectors = [
        (65_536, 2, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"),
        (256, 2, "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
    ];
    for (memory, passes, expected) in vectors {
        let params = Params::new(memory, passes, 1, Some(OUTPUT_LEN)).unwrap();
        for kernel in Kernel::supported() {
            assert_eq!(
                hex::encode(by_kernel(kernel, b"password", b"somesalt", &params)),
                expected,
                "{kernel}"
            );
        }
    }
}

#[test]
fn too_little_memory_is_refused_by_every_kernel() {
    let params = Params::new(64, 1, 1, Some(OUTPUT_LEN)).unwrap();
    for kernel in Kernel::supported() {
        let mut memory = vec![Block::new(); 63];
        assert!(kernel.hash_into(b"x", b"somesalt", &params, &mut memory, &mut [0; OUTPUT_LEN]).is_err());
    }
}

#[test]
fn short_salt_is_refused_by_every_kernel() {
    let params = Params::new(64, 1, 1, Some(OUTPUT_LEN)).unwrap();
    for kernel in Kernel::supported() {
        let mut memory = vec![Block::new(); 64];
        assert!(kernel.hash_into(b"x", b"short", &params, &mut memory, &mut [0; OUTPUT_LEN]).is_err());
    }
}
