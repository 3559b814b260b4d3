//! What the database has of the records of a batch already.

use std::collections::{HashMap, HashSet};

use latchkey_domain::email::EmailKey;
use latchkey_domain::identity::{UNKNOWN_ISSUER, VerifiedIdentity};
use latchkey_domain::ids::UserId;
use latchkey_domain::imports::{Clash, Occupant};
use latchkey_store::{ImportBatch, NewImported, StoreResult};
use serde_json::Value as Json;

use super::EARLIER;
use crate::form::{Results, Script, Slot, values};
use crate::tables::imports::{
    FIND_IDENTITIES, FIND_IDS, FIND_OCCUPANTS, FIND_PASSKEYS, FIND_RESERVED, FIND_USERNAMES, LOCK_OCCUPANTS,
    read_many, read_occupant,
};

/// Provider, issuer and subject of an identity.
pub(super) type IdentityKey<'a> = (&'a str, &'a str, &'a str);

/// Returns the keys under which an identity may be stored: with its issuer, and without one.
pub(super) fn keys_of(identity: &VerifiedIdentity) -> [IdentityKey<'_>; 2] {
    let key = |issuer| (identity.provider.as_str(), issuer, identity.subject.as_str());
    [key(identity.issuer.as_str()), key(UNKNOWN_ISSUER)]
}

/// Handles of the statements that read what the database has of the records of a batch.
#[derive(Clone, Copy)]
pub(super) struct Found {
    occupants: Option<Slot>,
    reserved: Option<Slot>,
    ids: Option<Slot>,
    usernames: Option<Slot>,
    identities: Option<Slot>,
    passkeys: Option<Slot>,
}

/// What the database has of the records of a batch.
pub(super) struct Known {
    occupants: HashMap<String, Occupant>,
    reserved: HashSet<String>,
    ids: HashSet<UserId>,
    usernames: HashMap<String, UserId>,
    /// Accounts by provider, issuer and subject.
    identities: HashMap<(String, String, String), UserId>,
    /// Credential ids.
    passkeys: HashSet<Vec<u8>>,
}

impl Found {
    pub(super) fn find(reads: &mut Script, batch: &ImportBatch) -> Self {
        let news = || batch.records.iter().filter_map(|record| record.read.as_ref().ok());
        let emails: Vec<Json> = news().map(|new| new.record.email.key().as_str().into()).collect();
        let ids: Vec<Json> = news()
            .filter_map(|new| new.record.id)
            .map(|id| id.as_uuid().simple().to_string().into())
            .collect();
        let usernames: Vec<Json> =
            news().filter_map(|new| new.username()).map(|name| name.as_str().into()).collect();
        let identities: Vec<Json> = news().flat_map(|new| &new.identities).flat_map(issuers_of).collect();
        let passkeys: Vec<Json> =
            news().flat_map(|new| credential_ids(new)).map(|id| hex::encode(id).into()).collect();
        if !batch.is_dry_run && !emails.is_empty() {
            read_many(reads, &LOCK_OCCUPANTS, &emails, Vec::new());
        }
        let mut many =
            |sql, keys: &[Json], more| (!keys.is_empty()).then(|| read_many(reads, sql, keys, more));
        Self {
            occupants: many(&FIND_OCCUPANTS, &emails, Vec::new()),
            reserved: many(&FIND_RESERVED, &emails, values![batch.now]),
            ids: many(&FIND_IDS, &ids, Vec::new()),
            usernames: many(&FIND_USERNAMES, &usernames, Vec::new()),
            identities: many(&FIND_IDENTITIES, &identities, Vec::new()),
            passkeys: many(&FIND_PASSKEYS, &passkeys, Vec::new()),
        }
    }

    pub(super) fn read(self, results: &Results<'_>) -> StoreResult<Known> {
        let occupants = list(results, self.occupants, read_occupant)?;
        let reserved =
            list(results, self.reserved, |cells| Ok(cells.of("undo_tokens").text("email")?.to_owned()))?;
        let ids = list(results, self.ids, |cells| cells.of("users").id("id"))?;
        let usernames = list(results, self.usernames, |cells| {
            let username = cells.of("profiles").text("username")?.to_owned();
            Ok((username, cells.id("user_id")?))
        })?;
        let identities = list(results, self.identities, |cells| {
            let provider = cells.of("identities").text("provider")?.to_owned();
            let (issuer, subject) = (cells.text("issuer")?.to_owned(), cells.text("subject")?.to_owned());
            Ok(((provider, issuer, subject), cells.id("user_id")?))
        })?;
        let passkeys = list(results, self.passkeys, |cells| cells.of("passkeys").bytes("credential_id"))?;
        Ok(Known {
            occupants: occupants.into_iter().collect(),
            reserved: reserved.into_iter().collect(),
            ids: ids.into_iter().collect(),
            usernames: usernames.into_iter().collect(),
            identities: identities.into_iter().collect(),
            passkeys: passkeys.into_iter().collect(),
        })
    }
}

/// Decodes the rows of a statement, if it was added.
fn list<T, R>(results: &Results<'_>, slot: Option<Slot>, read: R) -> StoreResult<Vec<T>>
where
    R: FnMut(&mut crate::form::Cells<'_>) -> StoreResult<T>,
{
    slot.map_or(Ok(Vec::new()), |slot| results.list(slot, read))
}

/// Returns the credential ids of the passkeys of a record.
pub(super) fn credential_ids(new: &NewImported) -> impl Iterator<Item = &[u8]> {
    new.record.passkeys.iter().map(|passkey| passkey.credential_id.as_bytes())
}

/// Returns the keys under which an identity may be stored, as [`FIND_IDENTITIES`] gets them.
fn issuers_of(identity: &VerifiedIdentity) -> Vec<Json> {
    let keys = keys_of(identity);
    let wanted = if keys[0] == keys[1] { &keys[..1] } else { &keys[..] };
    wanted.iter().map(|(provider, issuer, subject)| Json::from(vec![*provider, *issuer, *subject])).collect()
}

impl Known {
    pub(super) fn clash(&self, new: &NewImported, is_dry_run: bool) -> Clash {
        let key: &EmailKey = new.record.email.key();
        let earlier = |was_seen: bool| (is_dry_run && was_seen).then(|| EARLIER.into());
        let occupant = self.occupants.get(key.as_str()).cloned();
        let is_reserved = self.reserved.contains(key.as_str());
        let username = new.username();
        Clash {
            is_duplicate: new.seen.email && (is_dry_run || is_reserved || occupant.is_some()),
            is_reserved,
            id_owner: new.record.id.filter(|id| self.ids.contains(id)).or_else(|| earlier(new.seen.id)),
            username_owner: username
                .and_then(|name| self.usernames.get(name.as_str()).copied())
                .or_else(|| earlier(new.seen.username)),
            identity_owners: self.identity_owners(new, is_dry_run),
            has_lost_factor: false,
            is_passkey_taken: (is_dry_run && new.seen.passkey)
                || credential_ids(new).any(|id| self.passkeys.contains(id)),
            occupant,
        }
    }

    fn identity_owners(&self, new: &NewImported, is_dry_run: bool) -> Vec<Option<UserId>> {
        new.identities
            .iter()
            .enumerate()
            .map(|(at, one)| {
                let is_earlier = is_dry_run && new.seen.identities.contains(&at);
                let owner = keys_of(one).into_iter().find_map(|(provider, issuer, subject)| {
                    self.identities.get(&(provider.to_owned(), issuer.to_owned(), subject.to_owned()))
                });
                owner.copied().or(is_earlier.then(|| EARLIER.into()))
            })
            .collect()
    }
}
