//! Base32 (RFC 4648), in which secrets of TOTP factors are written.

/// Decodes base32 (RFC 4648), with or without padding and blanks.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut buffer, mut bits) = (Vec::new(), 0_u32, 0_u32);
    for character in text.bytes().filter(|byte| !matches!(byte, b' ' | b'=' | b'-')) {
        let value = match character.to_ascii_uppercase() {
            letter @ b'A'..=b'Z' => letter - b'A',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        buffer = (buffer << 5) | u32::from(value);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((buffer >> bits) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

/// Encodes base32 (RFC 4648) without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let (mut text, mut buffer, mut bits) = (String::new(), 0_u32, 0_u32);
    for byte in bytes {
        buffer = ((buffer << 8) | u32::from(*byte)) & 0xFFFF;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[((buffer >> bits) & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[((buffer << (5 - bits)) & 31) as usize]));
    }
    text
}
