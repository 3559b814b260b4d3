//! Accounts with password hashes from elsewhere, as an import stores them.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::imported_hash::ImportedHash;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::user::AppMetadata;
use latchkey_service::clock::Clock;
use latchkey_store::NewAccount;
use serde_json::Map;

use crate::app::TestApp;

impl TestApp {
    /// Stores a verified account `NAME@example.org` with this password hash, in its canonical text. A text that is no
    /// hash within the bounds is stored as it is.
    pub async fn imported_user(&self, name: &str, hash: &str) {
        let mut stored = PasswordHash::from_phc(hash.to_owned());
        if let Ok(hash) = ImportedHash::parse(hash, true) {
            let key = hash.signer_key().map(<[u8]>::to_vec);
            let hash = match key {
                Some(key) => {
                    hash.with_key(self.service().passwords.save_hash_key(&key).await.expect("a key"))
                }
                None => hash,
            };
            stored = hash.to_password_hash();
        }
        let now = self.clock.now();
        let mut random = [0; 10];
        random[..8].copy_from_slice(&self.next_number().to_be_bytes());
        let event = AuditEvent {
            id: EventId::new(now, random),
            at: now,
            kind: AuditKind::UserCreated,
            actor: Actor::System,
            user_id: None,
            session_id: None,
            client: None,
            details: Map::new(),
        };
        let account = NewAccount {
            id: UserId::new(now, random),
            email: Email::parse(&format!("{name}@example.org")).expect("an address"),
            password: Some(stored),
            email_verified: true,
            metadata: AppMetadata::default(),
            profile: None,
            locale: None,
            now,
            event,
        };
        self.store().create_account(account).await.expect("an account that can be stored");
    }
}
