//! Encoder of CBOR as authenticators send it (RFC 8949). It shares no code with the service, and can also encode
//! invalid data.

/// Encodes the head of a data item: its major type, and its value or length in the shortest form.
pub fn head(major: u8, value: u64) -> Vec<u8> {
    let kind = |low: u8| (major << 5) + low;
    match value {
        0..24 => vec![kind(u8::try_from(value).unwrap())],
        24..0x100 => vec![kind(24), u8::try_from(value).unwrap()],
        0x100..0x1_0000 => [&[kind(25)][..], &u16::try_from(value).unwrap().to_be_bytes()].concat(),
        0x1_0000..0x1_0000_0000 => [&[kind(26)][..], &u32::try_from(value).unwrap().to_be_bytes()].concat(),
        _ => [&[kind(27)][..], &value.to_be_bytes()].concat(),
    }
}

pub fn integer(value: i64) -> Vec<u8> {
    match u64::try_from(value) {
        Ok(value) => head(0, value),
        Err(_) => head(1, u64::try_from(-1 - value).unwrap()),
    }
}

pub fn bytes(value: &[u8]) -> Vec<u8> {
    [head(2, value.len() as u64), value.to_vec()].concat()
}

pub fn text(value: &str) -> Vec<u8> {
    [head(3, value.len() as u64), value.into()].concat()
}

/// Encodes a map whose keys and values are encoded already.
pub fn map(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let pairs_in_one = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()].concat());
    head(5, pairs.len() as u64).into_iter().chain(pairs_in_one).collect()
}

/// Encodes a COSE key: a map from these labels to values that are encoded already.
pub fn cose(labels: &[(i64, Vec<u8>)]) -> Vec<u8> {
    map(&labels.iter().map(|(label, value)| (integer(*label), value.clone())).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_rfc_8949() {
        for (value, expected) in [
            (0, &[0x00][..]),
            (23, &[0x17]),
            (24, &[0x18, 24]),
            (1_000, &[0x19, 0x03, 0xe8]),
            (1_000_000, &[0x1a, 0x00, 0x0f, 0x42, 0x40]),
            (1_000_000_000_000, &[0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0]),
            (-1, &[0x20]),
            (-100, &[0x38, 99]),
            (-1_000, &[0x39, 0x03, 0xe7]),
        ] {
            assert_eq!(integer(value), expected, "{value}");
        }
    }
}
