//! Lines of an export. An account is the record that an import reads.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use latchkey_domain::ids::{HashKeyId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{ExportedAccount, ExportedIdentity, FoundProvider, StoredSettings, VerifiablePasskey};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Secrets;
use crate::error::{Error, Result};

#[derive(Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub(super) enum Line {
    #[serde(rename = "latchkey-export")]
    Head { format: u32, version: &'static str, exported_at: Timestamp, secrets: Secrets },
    #[serde(rename = "hashKey")]
    HashKey { id: HashKeyId, key: String },
    #[serde(rename = "user")]
    User(Box<UserRecord>),
    #[serde(rename = "provider")]
    Provider { key: String, r#type: String, config: Map<String, Value> },
    #[serde(rename = "settings")]
    Settings { values: Map<String, Value> },
    #[serde(rename = "end")]
    End { users: u64, sha256: String },
}

impl Serialize for Secrets {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self == Self::Included)
    }
}

/// An account. A field without a value is left out.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserRecord {
    id: UserId,
    email: String,
    email_verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    password_hash: Option<String>,
    /// True if the password is known to come from the mailbox's owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    password_proven: Option<bool>,
    #[serde(flatten)]
    profile: Option<ProfileRecord>,
    metadata: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale: Option<String>,
    banned: bool,
    /// Time from which the account is deleted for good, if its owner asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletes_at: Option<Timestamp>,
    /// With these two, a verification of the address removes after an import what it would have removed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_verified_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    contested: bool,
    two_step: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sign_in_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    identities: Vec<IdentityRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    totp: Vec<TotpRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passkeys: Vec<PasskeyRecord>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProfileRecord {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bio: Option<String>,
    profile_metadata: Value,
    custom: Map<String, Value>,
}

#[derive(Serialize)]
struct IdentityRecord {
    provider: String,
    /// Issuer of the subject: empty if the provider has none, `?` if it is not known.
    issuer: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

#[derive(Serialize)]
struct TotpRecord {
    secret: String,
    name: String,
}

/// A passkey, with what its verification needs. Binary values are base64url.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PasskeyRecord {
    credential_id: String,
    public_key: String,
    user_handle: String,
    rp_id: String,
    name: String,
    aaguid: String,
    transports: Vec<String>,
    counter: u32,
    backup_eligible: bool,
    backed_up: bool,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
}

impl Line {
    pub(super) fn hash_key(id: HashKeyId, key: &[u8]) -> Self {
        Self::HashKey { id, key: STANDARD.encode(key) }
    }

    pub(super) fn provider(found: FoundProvider) -> Self {
        Self::Provider { key: found.key, r#type: found.kind, config: found.config }
    }

    pub(super) fn settings(stored: StoredSettings) -> Self {
        Self::Settings { values: stored.values.into_iter().collect() }
    }

    /// Makes the line of an account. `totp` are its TOTP secrets with their names.
    pub(super) fn user(totp: Vec<(String, String)>, account: ExportedAccount, secrets: Secrets) -> Self {
        let ExportedAccount {
            user,
            password,
            has_proven_password,
            first_verified_at,
            locale,
            profile,
            identities,
            passkeys,
            ..
        } = account;
        let is_secret_wanted = secrets == Secrets::Included;
        let password = password.filter(|_| is_secret_wanted);
        let passkeys = passkeys.into_iter().filter(|_| is_secret_wanted).map(PasskeyRecord::from);
        // By the later one of both an export tells whether an account changed since a day.
        let changed_at = profile.as_ref().map(|profile| profile.updated_at).max(Some(user.updated_at));
        Self::User(Box::new(UserRecord {
            id: user.id,
            email: user.email.as_typed().to_owned(),
            email_verified: user.email_verified,
            password_proven: password.as_ref().map(|_| has_proven_password),
            password_hash: password.map(|hash| hash.as_str().to_owned()),
            profile: profile.map(|profile| ProfileRecord {
                name: profile.name.as_str().to_owned(),
                username: profile.username.map(|name| name.as_str().to_owned()),
                avatar_url: profile.avatar_url.map(|url| url.as_str().to_owned()),
                bio: profile.bio.map(|bio| bio.as_str().to_owned()),
                profile_metadata: Value::Object(profile.metadata.as_map().clone()),
                custom: profile.custom,
            }),
            metadata: Value::Object(user.metadata.as_map().clone()),
            locale: locale.map(|locale| locale.as_str().to_owned()),
            banned: user.is_banned(),
            deletes_at: user.deletes_at,
            first_verified_at,
            contested: user.is_contested,
            two_step: user.two_step_at.is_some(),
            created_at: user.created_at,
            updated_at: changed_at.unwrap_or(user.updated_at),
            last_sign_in_at: user.last_sign_in_at,
            identities: identities.into_iter().map(IdentityRecord::from).collect(),
            totp: totp.into_iter().map(|(secret, name)| TotpRecord { secret, name }).collect(),
            passkeys: passkeys.collect(),
        }))
    }

    pub(super) fn append_to(&self, chunk: &mut Vec<u8>) -> Result<()> {
        serde_json::to_writer(&mut *chunk, self)
            .map_err(|_| Error::internal("a line of an export could not be written"))?;
        chunk.push(b'\n');
        Ok(())
    }
}

impl From<ExportedIdentity> for IdentityRecord {
    fn from(ExportedIdentity { provider, issuer, subject, email }: ExportedIdentity) -> Self {
        Self { provider: provider.as_str().to_owned(), issuer: issuer.as_str().to_owned(), subject, email }
    }
}

impl From<VerifiablePasskey> for PasskeyRecord {
    fn from(VerifiablePasskey { passkey, public_key, counter, user_handle }: VerifiablePasskey) -> Self {
        Self {
            credential_id: URL_SAFE_NO_PAD.encode(passkey.credential_id.as_bytes()),
            public_key: URL_SAFE_NO_PAD.encode(public_key),
            user_handle: URL_SAFE_NO_PAD.encode(user_handle.as_bytes()),
            rp_id: passkey.rp_id.as_str().to_owned(),
            name: passkey.name.as_str().to_owned(),
            aaguid: hex::encode(passkey.aaguid.as_bytes()),
            transports: passkey.transports.names().to_vec(),
            counter,
            backup_eligible: passkey.is_backup_eligible,
            backed_up: passkey.is_backed_up,
            created_at: passkey.created_at,
            last_used_at: passkey.last_used_at,
        }
    }
}
