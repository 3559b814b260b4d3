//! Check of an Ed25519 public key: a canonical point on the curve (RFC 8032 section 5.1.3) that is not of small
//! order. The library aws-lc-rs checks it only when it verifies a signature. Public keys are not secret, so the code
//! need not run in constant time.

/// Number modulo 2^255 - 19, as four 64-bit limbs, the least significant first. It is below 2^256, and not
/// necessarily reduced.
#[derive(Clone, Copy)]
struct Number([u64; 4]);

/// 2^255 - 19.
const MODULUS: [u64; 4] = [0xffff_ffff_ffff_ffed, u64::MAX, u64::MAX, 0x7fff_ffff_ffff_ffff];

/// (2^255 - 20) / 2, the exponent of Euler's criterion, which decides whether a number is a square.
const EULER: [u64; 4] = [0xffff_ffff_ffff_fff6, u64::MAX, u64::MAX, 0x3fff_ffff_ffff_ffff];

/// The constant d of the curve: -121665 / 121666.
const CURVE: Number =
    Number([0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898, 0x5203_6cee_2b6f_fe73]);

const ONE: Number = Number([1, 0, 0, 0]);

/// 2^255 - 20, that is -1.
const MINUS_ONE: Number = Number([0xffff_ffff_ffff_ffec, u64::MAX, u64::MAX, 0x7fff_ffff_ffff_ffff]);

/// The y coordinate of two of the four points of order 8. The other two have its negative as y coordinate.
const ORDER_EIGHT: Number =
    Number([0xb027_b2c2_8f95_e826, 0xf098_eff2_89f4_c345, 0x3933_c6d3_05ac_dfd5, 0x05fc_536d_8802_38b1]);

impl Number {
    /// Reduces a number of eight limbs, a sum or product, to four limbs modulo 2^255 - 19, where 2^256 equals 38.
    fn fold(wide: [u64; 8]) -> Self {
        let [low @ .., _, _, _, _] = wide;
        let mut limbs = low;
        let mut carry = 0;
        for (limb, high) in limbs.iter_mut().zip(&wide[4..]) {
            (*limb, carry) = carrying(*limb, *high, 38, carry);
        }
        while carry > 0 {
            let mut addend = carry * 38;
            for limb in &mut limbs {
                (*limb, addend) = carrying(*limb, addend, 1, 0);
            }
            carry = addend;
        }
        Self(limbs)
    }

    fn plus(self, other: Self) -> Self {
        let mut wide = [0; 8];
        let mut carry = 0;
        for (place, (one, two)) in self.0.into_iter().zip(other.0).enumerate() {
            (wide[place], carry) = carrying(one, two, 1, carry);
        }
        wide[4] = carry;
        Self::fold(wide)
    }

    fn times(self, other: Self) -> Self {
        let mut wide = [0; 8];
        for (shift, one) in self.0.into_iter().enumerate() {
            let mut carry = 0;
            for (place, two) in other.0.into_iter().enumerate() {
                (wide[shift + place], carry) = carrying(wide[shift + place], one, two, carry);
            }
            wide[shift + 4] = carry;
        }
        Self::fold(wide)
    }

    fn power(self, exponent: [u64; 4]) -> Self {
        let bits = (0..256).rev().map(|bit| exponent[bit / 64] >> (bit % 64) & 1);
        bits.fold(ONE, |power, bit| {
            let square = power.times(power);
            if bit == 1 { square.times(self) } else { square }
        })
    }

    /// Returns the limbs of the equal number between 0 and 2^255 - 20.
    fn reduced(self) -> [u64; 4] {
        let mut limbs = self.0;
        while !is_below(limbs, MODULUS) {
            let mut borrow = false;
            for (limb, part) in limbs.iter_mut().zip(MODULUS) {
                let (difference, is_under) = limb.overflowing_sub(part);
                let (difference, is_under_by_borrow) = difference.overflowing_sub(u64::from(borrow));
                *limb = difference;
                borrow = is_under || is_under_by_borrow;
            }
        }
        limbs
    }

    fn is(self, other: Self) -> bool {
        self.reduced() == other.reduced()
    }
}

/// Returns the lower and the upper half of `sum + one * two + carry`, which always fits 128 bits.
fn carrying(sum: u64, one: u64, two: u64, carry: u64) -> (u64, u64) {
    let whole = u128::from(one) * u128::from(two) + u128::from(sum) + u128::from(carry);
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    let lower = whole as u64;
    (lower, (whole >> 64) as u64)
}

fn is_below(limbs: [u64; 4], bound: [u64; 4]) -> bool {
    limbs.iter().rev().lt(bound.iter().rev())
}

/// True if the bytes are an Ed25519 public key under which only the owner of the private key can sign.
pub(crate) fn is_public_key(bytes: [u8; 32]) -> bool {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.as_chunks().0) {
        *limb = u64::from_le_bytes(*chunk);
    }
    // The highest bit is the sign of x.
    limbs[3] &= u64::MAX >> 1;
    let y = Number(limbs);
    is_below(limbs, MODULUS) && is_on_curve(y) && !is_of_small_order(y)
}

/// True if a point with this y coordinate and x other than 0 is on the curve: x^2 = (y^2 - 1) / (d y^2 + 1) has a
/// solution other than 0.
fn is_on_curve(y: Number) -> bool {
    let square = y.times(y);
    let numerator = square.plus(MINUS_ONE);
    let denominator = square.times(CURVE).plus(ONE);
    // A quotient is a square if and only if the product is one.
    numerator.times(denominator).power(EULER).is(ONE)
}

/// True if eight times the point with this y coordinate is the neutral element. Not correct for points with x = 0,
/// which [`is_on_curve`] refuses first.
fn is_of_small_order(y: Number) -> bool {
    let negative = y.times(MINUS_ONE);
    y.is(Number([0; 4])) || y.is(ORDER_EIGHT) || negative.is(ORDER_EIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

    fn judge(hex: &str) -> bool {
        is_public_key(hex::decode(hex).unwrap().try_into().unwrap())
    }

    /// SHA-256 of one byte each, judged by the equation of the curve in another language.
    #[test]
    fn points_off_the_curve_are_refused() {
        for (hex, is_on_curve) in [
            ("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d", false),
            ("4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a", true),
            ("dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986", false),
            ("084fed08b978af4d7d196a7446a86b58009e636b611db16211b65a9aadff29c5", true),
            ("e52d9c508c502347344d8c07ad91cbd6068afc75ff6292f062a09ca381c89e71", false),
            ("e77b9a9ae9e30b0dbdb6f510a264ef9de781501d7b6b92ae89eb059c5ab743db", false),
            ("67586e98fad27da0b9968bc039a1ef34c939b9b8e523a8bef89d478608c5ecf6", true),
            ("ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879", true),
            ("beead77994cf573341ec17b58bbf7eb34d2711c993c1d976b128b3188dc1829a", true),
            ("2b4c342f5433ebe591a1da77e013d1b72475562d48578dca8b84bac6651c3cb9", false),
            ("01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b", true),
            ("e7cf46a078fed4fafd0b5e3aff144802b853f8ae459a4f0c14add3314b7cc3a6", true),
            ("ef6cbd2161eaea7943ce8693b9824d23d1793ffb1c0fca05b600d3899b44c977", true),
            ("9d1e0e2d9459d06523ad13e28a4093c2316baafe7aec5b25f30eba2e113599c4", true),
            ("4d7b3ef7300acf70c892d8327db8272f54434adbc61a4e130a563cb59a0d0f47", true),
            ("dc0e9c3658a1a3ed1ec94274d8b19925c93e1abb7ddba294923ad9bde30f8cb8", true),
            ("c555eab45d08845ae9f10d452a99bfcb06f74a50b988fe7e48dd323789b88ee3", true),
            ("4a64a107f0cb32536e5bce6c98c393db21cca7f4ea187ba8c4dca8b51d4ea80a", false),
            ("f299791cddd3d6664f6670842812ef6053eb6501bd6282a476bbbf3ee91e750c", false),
            ("ab897fbdedfa502b2d839b6a56100887dccdc507555c282e59589e06300a62e2", true),
            ("83891d7fe85c33e52c8b4e5814c92fb6a3b9467299200538a6babaa8b452d879", false),
            ("2f0fd1e89b8de1d57292742ec380ea47066e307ad645f5bc3adad8a06ff58608", true),
            ("7cb7c4547cf2653590d7a9ace60cc623d25148adfbc88a89aeb0ef88da7839ba", true),
            ("8f11b05da785e43e713d03774c6bd3405d99cd3024af334ffd68db663aa37034", false),
        ] {
            assert_eq!(judge(hex), is_on_curve, "{hex}");
        }
    }

    #[test]
    fn keys_of_the_crypto_library_are_accepted() {
        for seed in 0..50 {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
            assert!(is_public_key(pair.public_key().as_ref().try_into().unwrap()));
        }
    }

    #[test]
    fn points_of_small_order_are_refused_with_either_sign() {
        for hex in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ] {
            let mut bytes: [u8; 32] = hex::decode(hex).unwrap().try_into().unwrap();
            assert!(!is_public_key(bytes), "{hex}");
            bytes[31] ^= 0x80;
            assert!(!is_public_key(bytes), "{hex} with the other sign");
        }
    }

    #[test]
    fn numbers_from_the_modulus_up_are_refused() {
        // y = 3 is on the curve; 2^255 - 16 is the same number in another encoding.
        assert!(judge("0300000000000000000000000000000000000000000000000000000000000000"));
        assert!(!judge("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"));
    }
}
