//! Rows of an account that an import creates. They are made before the transaction, so that none waits for it.

use std::sync::Arc;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{ImportId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewImported, StoreResult};

use crate::form::{ManyValues, Script, Value, object_text, values};
use crate::tables::audit_events::event_values;
use crate::tables::imports::{
    INSERT_EVENTS, INSERT_IDENTITIES, INSERT_PASSKEYS, INSERT_PASSWORDS, INSERT_TOTP, INSERT_USERS, stored,
};
use crate::tables::{imported_accounts, profiles};

type ProfileRow = Arc<(Vec<Value>, SearchText)>;

/// Rows of one account.
pub(crate) struct AccountRows {
    user: ManyValues,
    password: Option<ManyValues>,
    profile: Option<ProfileRow>,
    identities: Vec<ManyValues>,
    totp: Vec<ManyValues>,
    passkeys: Vec<ManyValues>,
    event: ManyValues,
}

impl AccountRows {
    pub(crate) fn of(new: &NewImported, now: Timestamp) -> StoreResult<Self> {
        let record = &new.record;
        let (created_at, updated_at) = (record.created_at.unwrap_or(now), updated_at(new, now));
        let user = values![
            new.id,
            record.email.as_typed(),
            record.email.key(),
            record.email_verified,
            record
                .first_verified_at
                .map(|time| time.min(now))
                .or(record.email_verified.then_some(created_at)),
            record.is_banned,
            object_text(record.metadata.as_map())?,
            record.locale.as_ref().map(Locale::as_str),
            created_at,
            updated_at,
            record.has_two_step,
            new.profile.is_some(),
            record.last_sign_in_at,
            record.user_handle.map(|handle| handle.as_bytes().to_vec()),
            now,
            record.deletes_at,
            record.is_contested,
        ];
        let password =
            |hash: &PasswordHash| values![new.id, hash.as_str(), record.has_proven_password(), now].into();
        let totp = new.totp.iter().map(|factor| {
            values![factor.id, new.id, factor.name.as_str(), factor.secret.as_slice(), now].into()
        });
        let event = AuditEvent { user_id: Some(new.id), ..new.event.clone() };
        let profile = new.profile.as_ref().map(|profile| profile_row(profile, new.text.clone()));
        Ok(Self {
            user: user.into(),
            password: new.password.as_ref().map(password),
            profile: profile.transpose()?,
            identities: (0..new.identities.len()).map(|at| identity_row(new, at, new.id, now)).collect(),
            totp: totp.collect(),
            passkeys: passkey_rows(new, now).collect(),
            event: event_values(event)?.into(),
        })
    }
}

/// Returns the time of the last change that the account gets.
fn updated_at(new: &NewImported, now: Timestamp) -> Timestamp {
    new.record.updated_at.map_or(now, |time| time.min(now))
}

fn passkey_rows(new: &NewImported, now: Timestamp) -> impl Iterator<Item = ManyValues> + '_ {
    new.passkey_ids.iter().zip(&new.record.passkeys).map(move |(id, passkey)| {
        values![
            *id,
            new.id,
            passkey.credential_id.as_bytes(),
            passkey.public_key.as_slice(),
            passkey.rp_id.as_str(),
            passkey.name.as_str(),
            passkey.aaguid.as_bytes().as_slice(),
            passkey.transports.to_stored(),
            passkey.state.counter,
            passkey.is_backup_eligible,
            passkey.state.is_backed_up,
            passkey.created_at.unwrap_or(now),
            passkey.last_used_at,
        ]
        .into()
    })
}

fn profile_row(profile: &Profile, text: SearchText) -> StoreResult<ProfileRow> {
    let values = profiles::created_values(profile, text.clone())?;
    Ok(Arc::new((values, text)))
}

/// Returns the row of an identity of the record, linked to an account.
pub(crate) fn identity_row(new: &NewImported, at: usize, user_id: UserId, now: Timestamp) -> ManyValues {
    let identity = &new.identities[at];
    let vouched = identity.verified_email().map(|email| email.key().as_str());
    values![
        identity.provider.as_str(),
        identity.issuer.as_str(),
        identity.subject.as_str(),
        user_id,
        now,
        identity.email.as_ref().map(Email::as_typed),
        vouched,
    ]
    .into()
}

/// Rows of the accounts that a batch creates, one list per table.
#[derive(Default)]
pub(crate) struct BatchRows {
    users: Vec<ManyValues>,
    passwords: Vec<ManyValues>,
    profiles: Vec<ProfileRow>,
    pub(crate) identities: Vec<ManyValues>,
    totp: Vec<ManyValues>,
    passkeys: Vec<ManyValues>,
    pub(crate) events: Vec<ManyValues>,
    marks: Vec<ManyValues>,
}

impl BatchRows {
    /// Adds an account. Without its username, the profile is made anew.
    pub(crate) fn create(
        &mut self,
        rows: &AccountRows,
        new: &NewImported,
        keeps_username: bool,
        (import, place, now): (ImportId, u64, Timestamp),
    ) -> StoreResult<()> {
        self.users.push(rows.user.clone());
        self.passwords.extend(rows.password.clone());
        match &new.profile {
            Some(profile) if !keeps_username && profile.username.is_some() => {
                let profile = Profile { username: None, ..profile.clone() };
                let text = SearchText { username: String::new(), ..new.text.clone() };
                self.profiles.push(profile_row(&profile, text)?);
            }
            _ => self.profiles.extend(rows.profile.clone()),
        }
        self.identities.extend(rows.identities.iter().cloned());
        self.totp.extend(rows.totp.iter().cloned());
        self.passkeys.extend(rows.passkeys.iter().cloned());
        self.events.push(rows.event.clone());
        self.marks.push(values![import, stored(place), new.id, updated_at(new, now)].into());
        Ok(())
    }

    pub(crate) fn write(self, writes: &mut Script) {
        writes.change_many(&INSERT_USERS, self.users);
        writes.change_many(&INSERT_PASSWORDS, self.passwords);
        writes.create_profiles(self.profiles);
        writes.change_many(&INSERT_IDENTITIES, self.identities);
        writes.change_many(&INSERT_TOTP, self.totp);
        writes.change_many(&INSERT_PASSKEYS, self.passkeys);
        writes.change_many(&INSERT_EVENTS, self.events);
        writes.change_many(&imported_accounts::INSERT_ALL, self.marks);
    }
}
