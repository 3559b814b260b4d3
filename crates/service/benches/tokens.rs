//! What signing and checking an access token cost. A token that was checked before costs a hash and a look-up.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{KeyId, SessionId, UserId};
use latchkey_domain::session::{AuthMethod, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_service::config::SigningAlgorithm;
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::secrets::ServerSecret;
use latchkey_service::tokens::access_tokens::TokenNames;
use latchkey_service::tokens::sealing_key;
use latchkey_service::tokens::signing_keys::{KeySet, generate};
use latchkey_store::StoredSigningKey;

const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn key_set(algorithm: SigningAlgorithm) -> KeySet {
    let sealing = sealing_key(&ServerSecret::new(vec![1; 32]).unwrap()).unwrap();
    let id = KeyId::new(NOW, [1; 10]);
    let sealed =
        sealing.seal(&SystemEntropy, id.to_string().as_bytes(), &generate(algorithm).unwrap()).unwrap();
    let algorithm = algorithm.as_str().to_owned();
    KeySet::open(&[StoredSigningKey { id, algorithm, sealed, created_at: NOW, verify_until: None }], &sealing)
        .unwrap()
}

fn user_and_session() -> (User, Session) {
    let user = User {
        id: UserId::new(NOW, [1; 10]),
        email: Email::parse("ada@example.org").unwrap(),
        email_verified: true,
        has_password: true,
        identities: Vec::new(),
        banned_at: None,
        is_pending: false,
        is_contested: false,
        metadata: AppMetadata::default(),
        created_at: NOW,
        updated_at: NOW,
        profile: None,
    };
    let session = Session {
        id: SessionId::new(NOW, [2; 10]),
        user_id: user.id,
        created_at: NOW,
        last_seen_at: NOW,
        idle_expires_at: Timestamp::from_millis(i64::MAX),
        absolute_expires_at: Timestamp::from_millis(i64::MAX),
        method: AuthMethod::Password,
        client: Client::new(ClientAddress::new([127, 0, 0, 1].into()), None),
    };
    (user, session)
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
