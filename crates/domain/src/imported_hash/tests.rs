#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn canonical(text: &str) -> Result<String, HashProblem> {
    ImportedHash::parse(text, true).map(|hash| hash.as_str().to_owned())
}

fn problem(text: &str) -> HashProblem {
    ImportedHash::parse(text, false).err().unwrap()
}

/// Texts as other software writes them, with the beginning of their canonical text.
const OF_OTHERS: [(&str, &str); 19] = [
    (
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$",
    ),
    ("$argon2i$m=4096,t=3,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA", "$argon2i$v=16$m=4096,t=3,p=1$"),
    (
        "argon2$argon2id$v=19$m=102400,t=2,p=8$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=102400,t=2,p=8$",
    ),
    ("$2y$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "$2y$10$abcdefghijklmnopqrstuu"),
    ("bcrypt$$2b$12$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "$2b$12$abc"),
    (
        "bcrypt_sha256$$2b$12$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "bcrypt_sha256$$2b$12$abc",
    ),
    ("scrypt$16384$salt$8$5$AAAAAAAAAAAAAAAAAAAAAA==", "$scrypt$ln=14,r=8,p=5$c2FsdA$"),
    ("scrypt:32768:8:1$salt$00000000000000000000000000000000", "$scrypt$ln=15,r=8,p=1$c2FsdA$AAAA"),
    (
        "00112233445566778899aabbccddeeff:000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f\
         000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f",
        "$scrypt$ln=14,r=16,p=1,f=nfkc$MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY$AAECAwQ",
    ),
    (
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=AAAAAAAAAAAAAAAAAAAAAA==$C0sHCg9ek77hsg==$AAAAAAAAAAAAAAAAAAAAAA==",
        "$fbscrypt$ln=14,r=8,p=1,sk=AAAAAAAAAAAAAAAAAAAAAA$C0sHCg9ek77hsgc$",
    ),
    ("pbkdf2_sha256$1000000$salt$AAAAAAAAAAAAAAAAAAAAAA==", "$pbkdf2-sha256$i=1000000$c2FsdA$"),
    ("pbkdf2:sha512:600000$salt$00000000000000000000000000000000", "$pbkdf2-sha512$i=600000$c2FsdA$AAAA"),
    ("$pbkdf2$131000$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha1$i=131000$c2FsdA$"),
    ("$pbkdf2-sha256$i=27500,l=16$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha256$i=27500$c2FsdA$"),
    (
        "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
        "$6$rounds=5000$saltstring$svn8",
    ),
    ("{SSHA}AAAAAAAAAAAAAAAAAAAAAAAAAABzYWx0", "$digest$a=sha1,s=after$c2FsdA$AAAA"),
    ("5f4dcc3b5aa765d61d8327deb882cf99", "$digest$a=md5,s=none$$X03MO1qnZdYdgyfeuILPmQ"),
    ("X03MO1qnZdYdgyfeuILPmQ==", "$digest$a=md5,s=none$$X03MO1qnZdYdgyfeuILPmQ"),
    ("W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "$digest$a=sha1,s=none$$W6ph5Mm5Pz8GgiULbPgzG37mj9g"),
];

#[test]
fn hashes_in_the_texts_of_others_are_read() {
    for (text, beginning) in OF_OTHERS {
        let read = canonical(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert!(read.starts_with(beginning), "{read}");
        assert_eq!(canonical(&read).as_deref(), Ok(read.as_str()));
    }
}

#[test]
fn costs_above_the_bounds_are_refused() {
    let zeros = "AAAAAAAAAAAAAAAAAAAAAA";
    for costly in [
        format!("$argon2id$v=19$m=262145,t=2,p=1${zeros}${zeros}"),
        format!("$argon2id$v=19$m=19456,t=11,p=1${zeros}${zeros}"),
        format!("$argon2id$v=19$m=19456,t=2,p=9${zeros}${zeros}"),
        format!("$argon2id$v=19$m=99999999999999999999,t=2,p=1${zeros}${zeros}"),
        format!("$2b$15${}", "A".repeat(53)),
        format!("$2b$03${}", "A".repeat(53)),
        format!("$scrypt$ln=18,r=8,p=1${zeros}${zeros}"),
        format!("$scrypt$ln=17,r=16,p=1${zeros}${zeros}"),
        format!("$scrypt$ln=14,r=17,p=1${zeros}${zeros}"),
        format!("$scrypt$ln=14,r=8,p=6${zeros}${zeros}"),
        format!("scrypt:16383:8:1$salt${}", "0".repeat(32)),
        format!("$pbkdf2-sha256$i=999${zeros}${zeros}"),
        format!("$pbkdf2-sha256$i=2000001${zeros}${zeros}"),
        format!("$pbkdf2-sha256$i=600000${}${zeros}", zeros.repeat(10)),
        format!("$pbkdf2-sha256$i=600000${zeros}$AAAA"),
        format!("$6$rounds=1000001$salt${}", ".".repeat(86)),
        format!("$P$M{}", ".".repeat(30)),
    ] {
        assert_eq!(problem(&costly), HashProblem::OutOfBounds, "{costly}");
    }
}

#[test]
fn unknown_and_malformed_hashes_are_refused() {
    for text in [
        "",
        "$",
        "plain",
        "$2x$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$2b$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$2b$10$abcdefghijklmnopqrstu$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$1$saltsalt$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=18$m=19456,t=2,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1,keyid=a$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA$",
        "$scrypt$ln=14,r=8,p=1$c2FsdA$%%%%",
        "$wp$2y$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert_eq!(problem(text), HashProblem::Unknown, "{text}");
    }
    assert_eq!(problem(&"a".repeat(LONGEST_TEXT + 1)), HashProblem::Unknown);
}

#[test]
fn bare_digests_are_weak_and_taken_on_demand() {
    let text = "md5$salt$5f4dcc3b5aa765d61d8327deb882cf99";
    assert_eq!(problem(text), HashProblem::Weak);
    assert_eq!(canonical(text).as_deref(), Ok("$digest$a=md5,s=before$c2FsdA$X03MO1qnZdYdgyfeuILPmQ"));
}

#[test]
fn signer_key_is_replaced_by_the_id_of_the_stored_one() {
    let hash = ImportedHash::parse(OF_OTHERS[9].0, false).unwrap();
    assert_eq!(hash.signer_key(), Some(&[0; 16][..]));
    let id = HashKeyId::from(Uuid::from_u128(7));
    let named = hash.with_key(id);
    assert_eq!(named.signer_key(), None);
    let text = "$fbscrypt$ln=14,r=8,p=1,k=00000000-0000-0000-0000-000000000007$C0sHCg9ek77hsgc$AAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(named.as_str(), text);
    assert_eq!(canonical(text).as_deref(), Ok(text));
}

/// Lets the test runner print hashes that fail, as their texts.
macro_rules! printable {
    ($($hash:ty)*) => {
        $(impl fmt::Debug for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

printable! { Argon2Hash ScryptHash FirebaseHash Pbkdf2Hash DigestHash WrappedDigest Scheme }

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignerKey")
    }
}

impl fmt::Debug for DigestRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestRecipe")
    }
}

fn bytes(length: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), length)
}

fn costs() -> impl Strategy<Value = ScryptCosts> {
    let costs = (1_u8..=17, 1_u32..=16, 1_u32..=5).prop_map(|(log_n, block_size, parallelism)| ScryptCosts {
        log_n,
        block_size,
        parallelism,
    });
    costs.prop_filter("memory", |costs| costs.memory() <= 128 << 20)
}

fn recipe() -> impl Strategy<Value = DigestRecipe> {
    let with_key = |(key, salt): (Vec<u8>, Vec<u8>)| {
        let length = u8::try_from(key.len()).unwrap();
        [&[length][..], &key, &salt].concat()
    };
    let of_place = move |place| match place {
        SaltPlace::None => bytes(0..=0).boxed(),
        SaltPlace::Before | SaltPlace::After | SaltPlace::Key => bytes(0..=32).boxed(),
        SaltPlace::KeyBefore | SaltPlace::KeyAfter => {
            (bytes(0..=32), bytes(0..=32)).prop_map(with_key).boxed()
        }
    };
    let places = proptest::sample::select(SaltPlace::ALL.to_vec());
    let salted = places.prop_flat_map(move |place| (Just(place), of_place(place)));
    let algorithms = proptest::sample::select(WeakDigest::ALL.to_vec());
    (algorithms, salted).prop_map(|(algorithm, (place, salt))| DigestRecipe { algorithm, place, salt })
}

fn argon2_hash() -> impl Strategy<Value = Argon2Hash> {
    let variants = proptest::sample::select(vec![Argon2Variant::D, Argon2Variant::I, Argon2Variant::Id]);
    let costs = (64_u32..=262_144, 1_u32..=10, 1_u32..=8);
    let versions = proptest::sample::select(vec![16, 19]);
    (variants, versions, costs, bytes(8..=64), bytes(16..=64)).prop_map(
        |(variant, version, (memory_kib, passes, lanes), salt, output)| Argon2Hash {
            variant,
            version,
            memory_kib,
            passes,
            lanes,
            salt,
            output,
        },
    )
}

fn scheme() -> impl Strategy<Value = Scheme> {
    let scrypt = (costs(), any::<bool>(), bytes(0..=64), bytes(16..=64))
        .prop_map(|(costs, is_nfkc, salt, output)| ScryptHash { costs, is_nfkc, salt, output });
    let key = (option::of(bytes(16..=64)), any::<u128>()).prop_map(|(given, id)| match given {
        Some(key) => SignerKey::Given(key.into()),
        None => SignerKey::Stored(HashKeyId::from(Uuid::from_u128(id))),
    });
    let firebase = (costs(), key, bytes(0..=32), bytes(16..=64))
        .prop_map(|(costs, key, salt, output)| FirebaseHash { costs, key, salt, output });
    let digests = vec![Pbkdf2Digest::Sha1, Pbkdf2Digest::Sha256, Pbkdf2Digest::Sha512];
    let pbkdf2 = (proptest::sample::select(digests), 1_000_u32..=2_000_000, bytes(0..=64), bytes(16..=64))
        .prop_map(|(digest, iterations, salt, output)| Pbkdf2Hash { digest, iterations, salt, output });
    let digest = (recipe(), bytes(64..=64)).prop_map(|(recipe, mut output)| {
        output.truncate(recipe.algorithm.length());
        DigestHash { recipe, output }
    });
    let wrapped = (recipe(), argon2_hash()).prop_map(|(recipe, hash)| {
        let Argon2Hash { memory_kib, passes, lanes, salt, output, .. } = hash;
        WrappedDigest { recipe, memory_kib, passes, lanes, salt, output }
    });
    prop_oneof![
        argon2_hash().prop_map(Scheme::Argon2),
        scrypt.prop_map(Scheme::Scrypt),
        firebase.prop_map(Scheme::Firebase),
        pbkdf2.prop_map(Scheme::Pbkdf2),
        digest.prop_map(Scheme::Digest),
        wrapped.prop_map(Scheme::Wrapped),
    ]
}

proptest! {
    #[test]
    fn canonical_text_is_read_as_what_was_written(scheme in scheme()) {
        let hash = ImportedHash::from(scheme.clone());
        let read = ImportedHash::parse(hash.as_str(), true);
        prop_assert!(read.as_ref().is_ok_and(|read| *read.scheme() == scheme), "{}", hash.as_str());
    }

    #[test]
    fn crypt_texts_are_read_as_what_was_written(
        text in prop_oneof![
            r"\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}",
            r"bcrypt_sha256\$\$2b\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}",
            r"\$5\$rounds=[1-9][0-9]{3,5}\$[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{43}",
            r"\$6\$rounds=[1-9][0-9]{3,5}\$[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{86}",
            r"\$[PH]\$[5-9A-G][./A-Za-z0-9]{30}",
        ]
    ) {
        prop_assert_eq!(canonical(&text), Ok(text));
    }

    #[test]
    fn hostile_texts_are_read_or_refused(text in any::<String>()) {
        let _ = canonical(&text);
        let _ = class(&text);
    }

    #[test]
    fn damaged_texts_are_read_as_canonical_ones_or_refused(
        scheme in scheme(), at in any::<proptest::sample::Index>(), by in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut damaged = scheme.to_string().into_bytes();
        let at = at.index(damaged.len());
        if cut { damaged.truncate(at) } else { damaged[at] = by }
        if let Ok(text) = String::from_utf8(damaged)
            && let Ok(read) = canonical(&text)
        {
            prop_assert_eq!(canonical(&read), Ok(read));
        }
    }

    #[test]
    fn work_class_is_a_beginning_with_a_decoy_of_its_own(scheme in scheme()) {
        let hash = ImportedHash::from(scheme);
        let found = class(hash.as_str()).unwrap();
        prop_assert!(hash.as_str().starts_with(found));
        let decoy = decoy(found).unwrap();
        prop_assert_eq!(class(decoy.as_str()), Some(found));
    }
}

#[test]
fn work_classes_of_the_texts_of_crypt_have_decoys() {
    for (text, expected) in [
        ("$2y$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "$2y$10$"),
        (
            "bcrypt_sha256$$2b$12$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "bcrypt_sha256$$2b$12$",
        ),
        ("$P$B55D6LjfHDkINU5wF.v2BuuzO0/XPk/", "$P$B"),
        ("$5$rounds=10000$saltstringsaltst$3xv.VbSCBX41eDL9L3voZredEVqVLPrGS.QbKqvpAnB", "$5$rounds=10000$"),
    ] {
        assert_eq!(class(text), Some(expected));
        assert_eq!(class(decoy(expected).unwrap().as_str()), Some(expected));
    }
}
