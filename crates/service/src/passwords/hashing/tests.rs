#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::arena::blocks_filled;
use super::queue::Next;
use super::*;
use crate::entropy::SystemEntropy;
use crate::refusal::BUSY;

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn passwords(memory_kib: u32) -> PasswordHasher {
    let config =
        HashingConfig { memory_kib, iterations: 1, threads: TWO, queue: 8, foreign_memory: 256 << 20 };
    PasswordHasher::start(config, Arc::new(SystemEntropy)).unwrap()
}

fn password(text: &str) -> Password {
    Password::new(text.to_owned())
}

fn own(hash: &PasswordHash) -> Compared<'_> {
    Compared { own: Some(hash), of_sign_up: None }
}

async fn fit(passwords: &PasswordHasher, text: &str, compared: Compared<'_>) -> Fit {
    passwords.check(password(text), compared, None).await.unwrap().fit
}

/// A hasher with the same parameters, and the number of hashes that it computed.
fn counting(passwords: &PasswordHasher) -> (PasswordHasher, Arc<AtomicUsize>) {
    let queue = Queue::<Job>::new(8);
    let jobs = Taker::of(&queue);
    let hashes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hashes);
    std::thread::spawn(move || {
        let mut arena = Arena::new(Kernel::Portable, 0, Arc::new(Memory::new(usize::MAX)));
        while let Next::Job(job) = jobs.next(None) {
            let hash = arena.compute(&job, &HashMetrics::default());
            let typed = hash.as_ref().map_or(0, |computed| usize::from(computed.typed.is_some()));
            counted.fetch_add(1 + typed, Ordering::SeqCst);
            let _ = job.answer.send(hash);
        }
    });
    let (refusals, metrics) = (Refusals::new(), Arc::default());
    let (params, entropy) = (passwords.params.clone(), Arc::clone(&passwords.entropy));
    (PasswordHasher { queue, refusals, metrics, params, entropy }, hashes)
}

#[tokio::test]
async fn the_right_password_passes_and_others_do_not() {
    let passwords = passwords(64);
    let hash = passwords.hash(password("correct horse")).await.unwrap();
    assert!(hash.as_str().starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{}", hash.as_str());
    let right = passwords.check(password("correct horse"), own(&hash), None).await.unwrap();
    assert_eq!((right.fit, right.rehashed), (Fit::Own, None));
    assert_eq!(fit(&passwords, "wrong horse", own(&hash)).await, Fit::Neither);
}

#[tokio::test]
async fn without_a_stored_hash_nothing_passes() {
    assert_eq!(fit(&passwords(64), "x", Compared::default()).await, Fit::Neither);
}

fn elsewhere(text: &str) -> ImportedHash {
    ImportedHash::parse(text, true).unwrap()
}

/// bcrypt at cost 4 of "tangerine-9-trees".
const BCRYPT: &str = "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u";

#[tokio::test]
async fn a_decoy_lends_its_cost_and_its_password_opens_nothing() {
    let (old, today) = (passwords(64), passwords(128));
    let hash = old.hash(password("tangerine-9-trees")).await.unwrap();

    for decoy in [elsewhere(hash.as_str()), elsewhere(BCRYPT)] {
        let decoy = Some(Elsewhere::Decoy(decoy));
        let check = today.check(password("tangerine-9-trees"), Compared::default(), decoy).await.unwrap();
        assert_eq!((check.fit, check.rehashed), (Fit::Neither, None));
    }
    let params = |hash: &str| {
        let decoy = Elsewhere::Decoy(elsewhere(hash));
        today.parts_to_compute(Compared::default(), Some(&decoy)).0.m_cost()
    };
    assert_eq!((params(hash.as_str()), params(BCRYPT)), (64, 128));
}

#[tokio::test]
async fn a_hash_from_elsewhere_is_replaced_by_the_one_argon2id_of_the_check() {
    let today = passwords(64);
    let stored = PasswordHash::from_phc(BCRYPT.to_owned());
    let own_hash = || Some(Elsewhere::Own(elsewhere(BCRYPT)));
    let (counted, hashes) = counting(&today);

    let right = counted.check(password("tangerine-9-trees"), own(&stored), own_hash()).await.unwrap();
    let wrong = counted.check(password("tangerine-8-trees"), own(&stored), own_hash()).await.unwrap();

    assert_eq!((right.fit, wrong.fit, wrong.rehashed), (Fit::Own, Fit::Neither, None));
    assert_eq!(hashes.load(Ordering::SeqCst), 2);
    let new = right.rehashed.unwrap();
    assert!(new.as_str().starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{}", new.as_str());
    assert_eq!(fit(&today, "tangerine-9-trees", own(&new)).await, Fit::Own);
}

#[tokio::test]
async fn the_argon2id_of_a_check_answers_for_a_sign_up_beside_a_hash_from_elsewhere() {
    let today = passwords(64);
    let stored = PasswordHash::from_phc(BCRYPT.to_owned());
    let of_sign_up = today.hash(password("battery staple")).await.unwrap();
    let compared = Compared { own: Some(&stored), of_sign_up: Some(&of_sign_up) };
    let own_hash = || Some(Elsewhere::Own(elsewhere(BCRYPT)));

    let staple = today.check(password("battery staple"), compared, own_hash()).await.unwrap();
    let right = today.check(password("tangerine-9-trees"), compared, own_hash()).await.unwrap();

    assert_eq!((staple.fit, staple.rehashed), (Fit::SignUp, None));
    assert_eq!(right.fit, Fit::Own);
    // The two hashes have one salt from then on, so that one computation serves both.
    assert!(right.rehashed.unwrap().is_comparable(&of_sign_up));
}

#[tokio::test]
async fn an_unreadable_or_boundless_hash_fits_nothing() {
    let today = passwords(64);
    for text in
        ["", "nonsense", "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA", BCRYPT]
    {
        let stored = PasswordHash::from_phc(text.to_owned());
        let check = today.check(password("tangerine-9-trees"), own(&stored), None).await.unwrap();
        assert_eq!((check.fit, check.rehashed), (Fit::Neither, None), "{text}");
    }
}

#[tokio::test]
async fn a_wrapped_digest_fits_its_password() {
    let today = passwords(64);
    let md5 = elsewhere("59cc6b7cd53bcf5ed90dc825666cf8aa"); // of "tangerine-9-trees"
    let Scheme::Digest(digest) = md5.scheme().clone() else { panic!("no digest") };
    let wrapped = today.wrap(digest).await.unwrap();
    assert!(wrapped.as_str().starts_with("$wrapped$m=64,t=1,p=1$a=md5,s=none$$"), "{}", wrapped.as_str());

    for (text, expected) in [("tangerine-9-trees", Fit::Own), ("tangerine-8-trees", Fit::Neither)] {
        let stored = wrapped.to_password_hash();
        let hash = elsewhere(stored.as_str());
        let check = today.check(password(text), own(&stored), Some(Elsewhere::Own(hash))).await.unwrap();
        assert_eq!(check.fit, expected);
    }
}

#[tokio::test]
async fn outdated_parameters_verify_and_are_replaced() {
    let old = passwords(64).hash(password("correct horse")).await.unwrap();
    let today = passwords(128);
    let checked = today.check(password("correct horse"), own(&old), None).await.unwrap();
    let new = checked.rehashed.expect("the old hash must verify and be replaced");
    assert!(new.as_str().contains("m=128"));
    assert_eq!(fit(&today, "correct horse", own(&new)).await, Fit::Own);
    assert!(today.check(password("wrong horse"), own(&old), None).await.unwrap().rehashed.is_none());
}

#[tokio::test]
async fn one_hash_answers_for_the_own_password_and_that_of_a_sign_up() {
    let first = passwords(64);
    let mine = first.hash(password("correct horse")).await.unwrap();
    let other = first.hash_like(password("battery staple"), Some(&mine)).await.unwrap();
    // Raised parameters change no outcome. No hash is replaced, because the two would no longer have the same salt and
    // parameters.
    for today in [passwords(64), passwords(128)] {
        let (counted, hashes) = counting(&today);
        let compared = Compared { own: Some(&mine), of_sign_up: Some(&other) };
        assert_eq!(fit(&counted, "correct horse", compared).await, Fit::Own);
        assert_eq!(fit(&counted, "battery staple", compared).await, Fit::SignUp);
        assert_eq!(fit(&counted, "wrong horse", compared).await, Fit::Neither);
        assert_eq!(
            fit(&counted, "battery staple", Compared { own: None, of_sign_up: Some(&other) }).await,
            Fit::SignUp
        );
        assert_eq!(hashes.load(Ordering::SeqCst), 4);
    }
}

#[tokio::test]
async fn a_hash_that_cannot_be_compared_fits_nothing() {
    let passwords = passwords(64);
    let mine = passwords.hash(password("correct horse")).await.unwrap();
    let elsewhere = passwords.hash(password("battery staple")).await.unwrap();
    let compared = Compared { own: Some(&mine), of_sign_up: Some(&elsewhere) };
    assert_eq!(fit(&passwords, "battery staple", compared).await, Fit::Neither);
}

#[test]
fn every_hash_fills_as_many_blocks_as_one_of_today() {
    let params = |memory, passes| Params::new(memory, passes, 1, Some(OUTPUT_LEN)).unwrap();
    let today = params(19_456, 2);
    for (memory, passes) in
        [(7_168, 5), (9_216, 4), (64, 1), (19_456, 1), (12_288, 3), (38_900, 1), (19_456, 2)]
    {
        let stored = params(memory, passes);
        let rest = rest(&stored, &today);
        let filled = blocks_filled(&stored) + rest.as_ref().map_or(0, blocks_filled);
        assert!(filled.abs_diff(blocks_filled(&today)) < 16, "{memory} KiB, {passes}: {filled}");
        assert!(rest.is_none_or(|rest| rest.block_count() <= today.block_count()), "{memory} KiB, {passes}");
    }
    assert!(rest(&params(65_536, 3), &today).is_none(), "a dearer one takes what it takes");
}

#[tokio::test]
async fn hashes_under_one_salt_are_comparable() {
    let passwords = passwords(64);
    let first = passwords.hash(password("correct horse")).await.unwrap();
    let same = passwords.hash_like(password("correct horse"), Some(&first)).await.unwrap();
    let other = passwords.hash_like(password("wrong horse"), Some(&first)).await.unwrap();
    let elsewhere = passwords.hash(password("correct horse")).await.unwrap();
    assert_eq!(first, same);
    assert!(first.is_comparable(&other) && first != other);
    assert!(!first.is_comparable(&elsewhere));
}

#[tokio::test]
async fn the_reference_vector_of_another_implementation_verifies() {
    // From the argon2 reference command line: `echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32 -e`.
    let phc = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
    let stored = PasswordHash::from_phc(phc.to_owned());
    let check = passwords(64).check(password("password"), own(&stored), None).await.unwrap();
    assert_eq!((check.fit, check.rehashed.is_some()), (Fit::Own, true));
}

#[tokio::test]
async fn a_full_queue_is_busy_at_once() {
    let config = HashingConfig {
        memory_kib: 19_456,
        iterations: 4,
        threads: NonZeroUsize::MIN,
        queue: 1,
        foreign_memory: 256 << 20,
    };
    let passwords = PasswordHasher::start(config, Arc::new(SystemEntropy)).unwrap();
    let storm = futures_util::future::join_all((0..8).map(|_| passwords.hash(password("correct horse"))));

    let answers = tokio::time::timeout(Duration::from_mins(1), storm).await.unwrap();

    let busy =
        answers.iter().filter(|answer| matches!(answer, Err(Error::Refused(row)) if **row == BUSY)).count();
    assert!((1..8).contains(&busy), "{busy} of 8");
    assert!(answers.iter().flatten().count() >= 1);
}

#[test]
fn memory_of_a_dear_hash_is_given_back() {
    let mut arena = Arena::new(Kernel::Portable, 64, Arc::new(Memory::new(256 << 20)));
    for memory_kib in [64, 4_096, 64] {
        let params = Params::new(memory_kib, 1, 1, Some(OUTPUT_LEN)).unwrap();
        let (answer, _) = oneshot::channel();
        let job = Job {
            password: password("correct horse"),
            work: Work::New,
            salt: vec![7; SALT_LEN],
            params,
            rest: None,
            answer,
            spans: HashSpans::begin(),
        };
        assert!(arena.compute(&job, &HashMetrics::default()).is_ok());
        assert!(arena.blocks.capacity() <= 64, "{memory_kib} KiB");
    }
}

#[tokio::test]
async fn an_argon2id_hash_of_a_password_as_typed_fits_and_is_replaced() {
    let today = passwords(64);
    let typed = "Zoe\u{308}-tree-9";
    let (params, salt) = (today.params.clone(), vec![7; SALT_LEN]);
    let mut output = vec![0; OUTPUT_LEN];
    argon2::Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone())
        .hash_password_into(typed.as_bytes(), &salt, &mut output)
        .unwrap();
    let stored = elsewhere_argon2id(&params, &salt, &output);

    let right = today.check(password(typed), own(&stored), None).await.unwrap();
    assert_eq!(right.fit, Fit::Own);
    let new = right.rehashed.expect("a hash of the NFC form");
    assert_eq!(fit(&today, typed, own(&new)).await, Fit::Own);
    assert_eq!(fit(&today, "Zo\u{eb}-tree-9", own(&new)).await, Fit::Own);
    assert_eq!(fit(&today, "Zo\u{eb}-tree-9", own(&stored)).await, Fit::Neither, "the source had no NFC");
    assert_eq!(fit(&today, "Zoe\u{308}-tree-8", own(&stored)).await, Fit::Neither);
    let of_ours = today.hash(password(typed)).await.unwrap();
    let check = today.check(password(typed), own(&of_ours), None).await.unwrap();
    assert_eq!((check.fit, check.rehashed), (Fit::Own, None));
}

fn elsewhere_argon2id(params: &Params, salt: &[u8], output: &[u8]) -> PasswordHash {
    let hash = phc::PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: phc::ParamsString::try_from(params).unwrap(),
        salt: Some(phc::Salt::new(salt).unwrap()),
        hash: Some(phc::Output::new(output).unwrap()),
    };
    PasswordHash::from_phc(hash.to_string())
}

#[tokio::test]
async fn how_often_argon2id_is_computed_follows_from_the_password_and_not_from_the_account() {
    let today = passwords(64);
    let hash = today.hash(password("correct horse")).await.unwrap();
    for (text, computed) in [("Zo\u{eb}-tree-9", 1), ("Zoe\u{308}-tree-9", 2)] {
        let (counted, hashes) = counting(&today);
        let decoy = || Some(Elsewhere::Decoy(elsewhere(hash.as_str())));
        for (compared, elsewhere) in
            [(own(&hash), None), (Compared::default(), None), (Compared::default(), decoy())]
        {
            hashes.store(0, Ordering::SeqCst);
            counted.check(password(text), compared, elsewhere).await.unwrap();
            assert_eq!(hashes.load(Ordering::SeqCst), computed, "{text}");
        }
        for (compared, elsewhere) in [
            (own(&PasswordHash::from_phc(BCRYPT.to_owned())), Elsewhere::Own(elsewhere(BCRYPT))),
            (Compared::default(), Elsewhere::Decoy(elsewhere(BCRYPT))),
        ] {
            hashes.store(0, Ordering::SeqCst);
            counted.check(password(text), compared, Some(elsewhere)).await.unwrap();
            assert_eq!(hashes.load(Ordering::SeqCst), 1, "{text}, beside a hash from elsewhere");
        }
        counted.hash(password(text)).await.unwrap();
    }
}
