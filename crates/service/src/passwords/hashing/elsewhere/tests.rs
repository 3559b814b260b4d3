#![allow(clippy::unwrap_used)]

use super::*;

const PASSWORD: &str = "tangerine-9-trees";

fn fits_text(text: &str, password: &str) -> bool {
    let hash = ImportedHash::parse(text, true).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    fits(&hash, &Password::new(password.to_owned()), &mut Vec::new())
}

/// Made by the software that is named, with [`PASSWORD`].
const MADE_ELSEWHERE: [(&str, &str); 26] = [
    ("Django", "pbkdf2_sha256$10000$saltsaltsalt$1k0/7kjhwDgviJ8i9L8KDcfi9SB93C894EiIg1VJSFU="),
    ("Django", "pbkdf2_sha1$10000$saltsaltsalt$f6JCRI78lCL4BC3e5Ppmdks19+c="),
    (
        "Django",
        "argon2$argon2id$v=19$m=1024,t=2,p=8$c2FsdHNhbHRzYWx0$vLBXp3hpdFQ41R6VGH0AJmqb+8woet2oVbyvpskWd8c",
    ),
    ("Django", "bcrypt_sha256$$2b$04$5w9w8qnIk7kXDKeopOXGLOHmvfJZ5m9zlfctbqjZx6AXEwQDc3xL6"),
    ("Django", "bcrypt$$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u"),
    (
        "Django",
        "scrypt$1024$saltsaltsalt$8$5$z75fBeU7fmcERI28WWPW8wHYA/x01t4NwYGqHlR4P4JSrvvQh9TQEYfC3dhtUi8zGVe+xxHwTCPEunLpHII9EQ==",
    ),
    ("Django", "md5$salt$a8c1eb570c651971954f45f45c7592ff"),
    (
        "Werkzeug",
        "scrypt:1024:8:1$pdkC6Q9TrIQFc7jT$0a479c1e79a43e7693414d1ae79e36097b5ebb1890bba719b81345326a6b075b783931ebbf6dd702d05af4ba23e73562fecda8da7f21cd8307d973701244577f",
    ),
    (
        "Werkzeug",
        "pbkdf2:sha256:1000$7JNLJrQoZBRbh9qv$c072219c87df8cd32b7772134ef4f2829aa5953a22405a2dca28055156fbfdbd",
    ),
    (
        "Werkzeug",
        "pbkdf2:sha512:1000$zrF4SjzSA5LgfgOx$a4de3965bc4f69e13014efb9174b20b3fc3fe2ed5606ba56f6039dd44f0a8acf5611dd901b41dc1b8cbeef6a078c6d7f738258e1e51b981d732b2ffb55ffaad8",
    ),
    ("passlib", "$P$67zJhZ94w.g0xNtC5EKuJrSX5bKBal0"),
    ("passlib", "$H$6.JCu1vsNYwSnxtFPdGs8yRZ1hgebg0"),
    ("passlib", "$5$DMN4/bmseN97nYS/$zZemHOY5kETVcXz/kvRfmB8jZEfH/hs9/oZaQ/UnbC8"),
    (
        "passlib",
        "$6$vHonKmJSgCA1QpSP$H77vZ1SWhDOVlP46uaIzcDp2zEGMIl/bERn0VUtkNLyb/kt6offz0tzHuh/DhmLO6uhiLtwY0EVwaVjLuh12q.",
    ),
    (
        "passlib",
        "$6$rounds=1234$SOcjvM63pJrjlwnL$EDtSTq7fsyTxaz.knQYSp2gHADmd/sXnJWQ5cvVVmGp1kok7lQ9VjA1JPi0Wboet65ocCy/wAFcBR9sgEy3Hl/",
    ),
    ("passlib", "$pbkdf2$1000$oxSiVMrZO0foHWPsfY9RSg$6W8VNjxY2CLptjY8ikzvfjkFoE8"),
    ("passlib", "$pbkdf2-sha256$1000$qBUipFRqzTnHGEMIIWRsrQ$1XyUR0aT0vds/IkLmKDxYRQe6FHS2qwPpnO0psafIps"),
    (
        "passlib",
        "$pbkdf2-sha512$1000$p1SqdW4txTinFKJU6r2Xcg$oXa8CDs2HOoNbDlrL87YHMJqcyEnjE8VB2QbW7rs9f6GIg1k.mpzRJX90XemRRUpXAdKEJf0kU/Im7hYSJAd1Q",
    ),
    ("passlib", "$scrypt$ln=10,r=8,p=1$5DxnrDVGSMmZs5byfm/tnQ$WulKIbsr1mzqX5iNjer+7NGx6I+9sckCw1GA/d9TFjs"),
    ("passlib", "{SSHA}KWyEAgC/vyWDcqMbmgv4+NEKeppZa60V"),
    (
        "passlib",
        "$argon2i$v=19$m=256,t=2,p=2$t3YuZSxlbG2t9V6LUcqZUw$6eoUxz/jUoSPJGuFqVrSqqWWknTb0EwQnxLlsBJ4fak",
    ),
    (
        "passlib",
        "$argon2d$v=19$m=256,t=2,p=2$lTLmvBfCmDNG6N2719pbaw$I0F25XM60RaS3wx/zcas1GLmoemnhJnTZP66xBgZ+is",
    ),
    ("md5sum", "59cc6b7cd53bcf5ed90dc825666cf8aa"),
    ("Python's hmac", "$digest$a=md5,s=key$c2FsdA$wz+yd7zmsXBHLF5utHuF/g=="),
    ("Python's hmac", "$digest$a=sha1,s=key$c2FsdA$jblQdWv1M7OMpDWRlERjRWBBV1E="),
    (
        "Python's hmac",
        "$digest$a=sha512,s=key$c2FsdA$Zq1NzyRQ/v9lz0cnGrv8Ctsrr4E/ssiNpLqcSEhZmg6siNAu2qRcK9Rb5s7aESnziApEZigIkW+AxQ2KMuYLgg==",
    ),
];

#[test]
fn hashes_made_elsewhere_fit_their_password_alone() {
    for (maker, text) in MADE_ELSEWHERE {
        assert!(fits_text(text, PASSWORD), "{maker}: {text}");
        assert!(!fits_text(text, "tangerine-8-trees"), "{maker}: {text}");
    }
}

/// Vectors of the documents that define the schemes: `crypt_blowfish`, the specification of SHA-crypt, RFC 7914, the
/// README of firebase/scrypt, and the tests of phpass.
#[test]
fn published_vectors_fit() {
    for (text, password) in [
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        (
            "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui",
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored",
        ),
        (
            "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
            "Hello world!",
        ),
        ("$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA", "Hello world!"),
        (
            "scrypt:16:1:1$$77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906",
            "",
        ),
        ("$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", "test12345"),
        (
            "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
            "user1password",
        ),
    ] {
        assert!(fits_text(text, password), "{text}");
        assert!(!fits_text(text, &format!("x{password}")), "{text}");
    }
}

#[test]
fn bcrypt_reads_72_bytes_and_no_nul() {
    let text = "$2b$04$Pmmk3/O6lvzV73E2.xwug.ah9IkuBklUbGAguiCBMGCTp6JF.eZZG"; // 72 times "a"
    assert!(fits_text(text, &"a".repeat(72)));
    assert!(fits_text(text, &"a".repeat(100)));
    assert!(!fits_text(text, &"a".repeat(71)));
    // With the NUL that ends it, the key of "U*U" repeats to that of "U*U\0U*U".
    assert!(!fits_text("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U\0U*U"));
}

#[test]
fn passwords_are_compared_as_typed_and_in_nfc() {
    let of_decomposed = "$2b$04$guvvmCl5V/iNVpOvBS4Yru4c6l7xQ/zVCbFXbBGzY7MxeigwvDR2S";
    assert!(fits_text(of_decomposed, "cafe\u{301}"));
    assert!(!fits_text(of_decomposed, "caf\u{e9}"), "its source would not take it either");
}

#[test]
fn better_auth_hashes_nfkc() {
    let text = "00112233445566778899aabbccddeeff:822453835e50f370adcba01a157262bd446d4c1af4708bb545df647bad6cee20\
                27ca81b5743658c1c49ce8f20787087695ba2ec1c7b89839e30e48623caf4229";
    assert!(fits_text(text, "caf\u{e9} fine"));
    assert!(fits_text(text, "cafe\u{301} \u{fb01}ne"));
    assert!(!fits_text(text, "cafe fine"));
}

#[test]
fn without_its_signer_key_a_hash_fits_nothing() {
    let text = "$fbscrypt$ln=14,r=8,p=1,k=00000000-0000-0000-0000-000000000007$42xEC+ixf3L2lwc$\
                lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ";
    assert!(!fits_text(text, "user1password"));
}

/// Keycloak's outputs have 64 bytes whatever the digest, made here by Python's hashlib.
#[test]
fn longer_output_of_pbkdf2_costs_no_more_than_its_first_block() {
    for (text, block) in [
        (
            "$pbkdf2-sha1$i=1000$c2FsdHNhbHRzYWx0c2FsdA$WVkEBPf8FI0HJQZ4w5Dp/Ye9/z68FZWSIrixUFvI1BM59KsV3Ti55I7+r8afTCp0QnwU5/PYLqIFjPBSumrhoA",
            20,
        ),
        (
            "$pbkdf2-sha256$i=1000$c2FsdHNhbHRzYWx0c2FsdA$Ua8duVyMfKCAGdxq9wgglBE4dDEQdWDySQBnh7Tf7uSNB1ii7yJgPU/o2CekZrxKgbhvRTXRaKwnfezFUuq3fg",
            32,
        ),
        (
            "$pbkdf2-sha512$i=1000$c2FsdHNhbHRzYWx0c2FsdA$njLFleFEBUBiDO2n0/at4rzgw0gO3d7qGp5rxU1UlpC30rxcog+Qax+zYvj+ReCP1S36ruoe2z/fIaVOsNYoMw",
            64,
        ),
    ] {
        assert!(fits_text(text, PASSWORD), "{text}");
        assert!(!fits_text(text, "tangerine-8-trees"), "{text}");
        let parse = |text: &str| match ImportedHash::parse(text, true).unwrap().scheme() {
            Scheme::Pbkdf2(hash) => hash.clone(),
            _ => panic!("{text}"),
        };
        for (at, is_computed) in [(0, true), (block - 1, true), (block, false), (63, block == 64)] {
            let mut hash = parse(text);
            if let Some(byte) = hash.output.get_mut(at) {
                *byte ^= 1;
                assert_eq!(fits_text(&hash.to_string(), PASSWORD), !is_computed, "byte {at} of {text}");
            }
        }
    }
}
