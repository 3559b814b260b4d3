//! SHA-crypt and phpass, whose outputs are written in the characters of crypt(3).

use latchkey_domain::imported_hash::{PhpassHash, ShaCryptHash};
use md5::{Digest, Md5};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) fn is_sha_crypt(hash: &ShaCryptHash, password: &[u8]) -> Option<bool> {
    let params = sha_crypt::Params::new(hash.rounds).ok()?;
    let salt = hash.salt.as_bytes();
    let computed = if hash.is_sha512 {
        in_order(&sha_crypt::sha512_crypt(password, salt, params), (0, 21, 42), |(a, b, c)| (b, c, a))
    } else {
        in_order(&sha_crypt::sha256_crypt(password, salt, params), (0, 10, 20), |(a, b, c)| (c, a, b))
    };
    Some(computed.as_bytes().ct_eq(hash.output.as_bytes()).into())
}

/// Places of three bytes in an output.
type Places = (usize, usize, usize);

/// Writes an output in the order of SHA-crypt: groups of three bytes that are a third of the output apart. Each group
/// follows the previous one by a byte, with its members turned.
fn in_order(output: &[u8], first: Places, turn: fn(Places) -> Places) -> Zeroizing<String> {
    let byte = |at: usize| u32::from(output[at]);
    let mut text = Zeroizing::new(String::with_capacity(86));
    let (mut a, mut b, mut c) = first;
    for _ in 0..output.len() / 3 {
        write(&mut text, byte(a) << 16 | byte(b) << 8 | byte(c), 4);
        (a, b, c) = turn((a + 1, b + 1, c + 1));
    }
    let last = output.len() - 1;
    match output.len() % 3 {
        1 => write(&mut text, byte(last), 2),
        _ => write(&mut text, byte(last) << 8 | byte(last - 1), 3),
    }
    text
}

pub(super) fn is_phpass(hash: &PhpassHash, password: &[u8]) -> bool {
    let mut digest = Md5::new().chain_update(&hash.salt).chain_update(password).finalize();
    for _ in 0..1_u32 << hash.log_rounds {
        digest = Md5::new().chain_update(digest).chain_update(password).finalize();
    }
    let mut text = Zeroizing::new(String::with_capacity(22));
    for group in digest.chunks(3) {
        let bits = group.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        write(&mut text, bits, group.len() + 1);
    }
    text.as_bytes().ct_eq(hash.output.as_bytes()).into()
}

/// Writes the lowest bits of a number, six to a character, lowest first.
fn write(text: &mut String, bits: u32, characters: usize) {
    for at in 0..characters {
        text.push(char::from(ALPHABET[(bits >> (6 * at) & 0x3f) as usize]));
    }
}
