//! Round trips of the operations on the configuration of identity providers.

use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_store::{OAuthProviders, StoredProvider};

use super::{Measured, at, event, next};

pub(super) async fn measure(measured: &mut Measured) {
    let (m, now) = (measured, at(1));
    let provider = ProviderKey::parse("google").unwrap();
    let kept = StoredProvider {
        key: provider.clone(),
        kind: ProviderKind::BuiltIn,
        config: serde_json::Map::new(),
        sealed: vec![1; 80],
        created_at: now,
        updated_at: now,
    };
    op!(m.create_oauth_provider(kept.clone(), event(next())));
    op!(m.list_oauth_providers());
    op!(m.update_oauth_provider(kept, now, event(next())));
    op!(m.delete_oauth_provider(&provider, ProviderKind::BuiltIn, event(next())));
}
