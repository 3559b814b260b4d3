//! Validation of provider settings.

use jsonwebtoken::{Algorithm, EncodingKey, crypto};

use super::{ClientSecret, ClientSettings, InvalidProvider};
use crate::providers::{ClientAuth, Entry};

const LONGEST_CLIENT_ID: usize = 512;
const LONGEST_SECRET: usize = 2048;
const LONGEST_SCOPE: usize = 256;
const MOST: usize = 50;

pub(super) fn client(entry: &Entry, client: &ClientSettings) -> Result<(), InvalidProvider> {
    if !is_visible(&client.client_id, LONGEST_CLIENT_ID) {
        return Err(InvalidProvider::ClientId);
    }
    secret(entry, &client.secret)?;
    if client.scopes.as_deref().is_some_and(|scopes| !are_visible(scopes, LONGEST_SCOPE)) {
        return Err(InvalidProvider::Scopes);
    }
    if !are_visible(&client.native_client_ids, LONGEST_CLIENT_ID) {
        return Err(InvalidProvider::NativeClientIds);
    }
    if client.tenant.as_deref().is_some_and(|tenant| !is_tenant_of(entry, tenant)) {
        return Err(InvalidProvider::Tenant);
    }
    Ok(())
}

fn secret(entry: &Entry, secret: &ClientSecret) -> Result<(), InvalidProvider> {
    match secret {
        ClientSecret::Text(text) if is_visible(text.expose(), LONGEST_SECRET) => Ok(()),
        ClientSecret::Text(_) => Err(InvalidProvider::ClientSecret),
        ClientSecret::AppleKey { team_id, key_id, private_key }
            if entry.client_auth == ClientAuth::AppleKey =>
        {
            let is_key = is_visible(team_id, LONGEST_CLIENT_ID)
                && is_visible(key_id, LONGEST_CLIENT_ID)
                && can_sign(private_key.expose());
            if is_key { Ok(()) } else { Err(InvalidProvider::AppleKey) }
        }
        ClientSecret::AppleKey { .. } => Err(InvalidProvider::SecretKind),
    }
}

/// Signs a test message, because only signing detects a key on another curve than P-256.
fn can_sign(private_key: &str) -> bool {
    EncodingKey::from_ec_pem(private_key.as_bytes())
        .is_ok_and(|key| crypto::sign(b"", &key, Algorithm::ES256).is_ok())
}

fn are_visible(texts: &[String], longest: usize) -> bool {
    texts.len() <= MOST && texts.iter().all(|text| is_visible(text, longest))
}

fn is_visible(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_graphic())
}

fn is_tenant_of(entry: &Entry, tenant: &str) -> bool {
    entry.issuer().is_none()
        && (matches!(tenant, "common" | "organizations" | "consumers") || is_guid(tenant))
}

/// Returns `true` for the GUID of a Microsoft tenant: five groups of lower-case hex digits.
pub(crate) fn is_guid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}
