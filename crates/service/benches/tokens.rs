//! Benchmark of signing and verifying an access token. Verifying a token that is in the cache of verified
//! tokens costs one hash and one look-up.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../src/tokens/fixtures.rs"]
mod fixtures;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use fixtures::{NOW, user_and_session};
use latchkey_domain::ids::KeyId;
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::secrets::ServerSecret;
use latchkey_service::tokens::SigningAlgorithm;
use latchkey_service::tokens::access_tokens::TokenNames;
use latchkey_service::tokens::sealing_key;
use latchkey_service::tokens::signing_keys::{KeySet, generate};
use latchkey_store::StoredSigningKey;

fn key_set(algorithm: SigningAlgorithm) -> KeySet {
    let sealing = sealing_key(&ServerSecret::new(vec![1; 32]).unwrap()).unwrap();
    let id = KeyId::new(NOW, [1; 10]);
    let sealed =
        sealing.seal(&SystemEntropy, id.to_string().as_bytes(), &generate(algorithm).unwrap()).unwrap();
    let algorithm = algorithm.as_str().to_owned();
    KeySet::open(&[StoredSigningKey { id, algorithm, sealed, created_at: NOW, verify_until: None }], &sealing)
        .unwrap()
}

fn tokens(criterion: &mut Criterion) {
    let names =
        TokenNames { issuer: "https://id.example".to_owned(), audience: "https://id.example".to_owned() };
    let (user, session) = user_and_session();
    let expires_at = NOW.plus(std::time::Duration::from_mins(15));
    for (name, algorithm) in [("ES256", SigningAlgorithm::Es256), ("EdDSA", SigningAlgorithm::EdDsa)] {
        let keys = key_set(algorithm);
        let claims = names.claims(&user, &session, NOW, expires_at, [3; 16]);
        let token = keys.signing().unwrap().sign(&claims).unwrap();
        criterion.bench_function(&format!("token, {name}, sign"), |bencher| {
            bencher.iter(|| keys.signing().unwrap().sign(black_box(&claims)).unwrap());
        });
        criterion.bench_function(&format!("token, {name}, verify"), |bencher| {
            bencher.iter(|| names.verify(black_box(&token), &keys, NOW).unwrap());
        });
    }
}

criterion_group!(benches, tokens);
criterion_main!(benches);
