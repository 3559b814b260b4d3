#![allow(clippy::unwrap_used)]

use super::*;
use crate::entropy::SystemEntropy;

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn passwords(memory_kib: u32) -> Passwords {
    let config = HashingConfig { memory_kib, iterations: 1, threads: TWO, queue: 8 };
    Passwords::start(config, Arc::new(SystemEntropy)).unwrap()
}

fn password(text: &str) -> Password {
    Password::new(text.to_owned())
}

#[tokio::test]
async fn the_right_password_passes_and_others_do_not() {
    let passwords = passwords(64);
    let hash = passwords.hash(password("correct horse")).await.unwrap();
    assert!(hash.as_str().starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{}", hash.as_str());
    assert!(matches!(
        passwords.check(password("correct horse"), Some(&hash)).await.unwrap(),
        PasswordCheck::Right
    ));
    assert!(matches!(
        passwords.check(password("wrong horse"), Some(&hash)).await.unwrap(),
        PasswordCheck::Wrong
    ));
}

#[tokio::test]
async fn without_a_stored_hash_nothing_passes() {
    assert!(matches!(passwords(64).check(password("x"), None).await.unwrap(), PasswordCheck::Wrong));
}

#[tokio::test]
async fn outdated_parameters_verify_and_are_replaced() {
    let old = passwords(64).hash(password("correct horse")).await.unwrap();
    let today = passwords(128);
    let PasswordCheck::RightButOutdated(new) =
        today.check(password("correct horse"), Some(&old)).await.unwrap()
    else {
        panic!("the old hash must verify and be replaced");
    };
    assert!(new.as_str().contains("m=128"));
    assert!(matches!(
        today.check(password("correct horse"), Some(&new)).await.unwrap(),
        PasswordCheck::Right
    ));
}

#[tokio::test]
async fn hashes_under_one_salt_are_comparable() {
    let passwords = passwords(64);
    let first = passwords.hash(password("correct horse")).await.unwrap();
    let same = passwords.hash_like(password("correct horse"), &first).await.unwrap();
    let other = passwords.hash_like(password("wrong horse"), &first).await.unwrap();
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
    let check = passwords(64).check(password("password"), Some(&stored)).await.unwrap();
    assert!(matches!(check, PasswordCheck::RightButOutdated(_)));
}

#[tokio::test]
async fn a_full_queue_is_busy_at_once() {
    let config = HashingConfig { memory_kib: 19_456, iterations: 4, threads: NonZeroUsize::MIN, queue: 1 };
    let passwords = Passwords::start(config, Arc::new(SystemEntropy)).unwrap();
    let storm = futures_util::future::join_all((0..8).map(|_| passwords.hash(password("correct horse"))));

    let answers = tokio::time::timeout(Duration::from_mins(1), storm).await.unwrap();

    let busy = answers.iter().filter(|answer| matches!(answer, Err(Error::Busy { .. }))).count();
    assert!((1..8).contains(&busy), "{busy} of 8");
    assert!(answers.iter().flatten().count() >= 1);
}

#[test]
fn memory_of_a_dear_hash_is_given_back() {
    let mut arena = Arena::new(64);
    for memory_kib in [64, 4_096, 64] {
        let params = Params::new(memory_kib, 1, 1, Some(OUTPUT_LEN)).unwrap();
        let (answer, _) = oneshot::channel();
        let job = Job { password: password("correct horse"), salt: vec![7; SALT_LEN], params, answer };
        assert!(arena.compute(&job).is_ok());
        assert!(arena.blocks.capacity() <= 64, "{memory_kib} KiB");
    }
}
