//! An admin's use cases about users: create, list, change, delete. Acts on a single account are in [`super::account_acts`].

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::Party;
use latchkey_domain::password::Password;
use latchkey_domain::profile::{Name, NewProfile};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_store::{
    CreateOutcome, ListUsers, ListedMail, NewAccount, UpdateUser, UpdateUserOutcome, UserPage,
};
use serde_json::Value;

use super::Admin;
use crate::error::{Error, Result};
use crate::refusal::{EMAIL_EXISTS, PROFILE_NOT_FOUND, USER_NOT_FOUND};

/// A user that an admin creates.
pub struct NewUser {
    pub email: Email,
    /// The password; with `None` the account has none, and its user can set one by a password
    /// reset.
    pub password: Option<Password>,
    pub name: Option<Name>,
    /// True if the address counts as verified.
    pub auto_confirm: bool,
    /// True if the user gets a profile.
    pub create_profile: bool,
    pub metadata: AppMetadata,
    /// The language of the user's mails; `None` uses the language of the request that causes a
    /// mail.
    pub locale: Option<Locale>,
}

/// A change of a user; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    pub email: Option<Email>,
    pub email_verified: Option<bool>,
    /// `true` bans the user, `false` lifts the ban.
    pub banned: Option<bool>,
    /// `true` restores an account that its owner deleted, during the grace period.
    pub restore: bool,
    /// The application data, replaced as a whole.
    pub metadata: Option<AppMetadata>,
}

impl Admin {
    /// Creates a user. The password must follow the password policy, as at sign-up.
    pub async fn create_user(&self, new: NewUser, party: Party, client: Option<&Client>) -> Result<User> {
        let now = self.kernel.now();
        let mut event = self.kernel.event(AuditKind::UserCreated, party, client, now);
        event.details.insert("fields".to_owned(), given_fields(&new));
        let password = match new.password {
            Some(password) => {
                self.passwords.check_new_password(
                    &self.kernel.settings(),
                    "password",
                    &password,
                    &new.email,
                )?;
                Some(self.passwords.hasher.hash(password).await?)
            }
            None => None,
        };
        let profile = NewProfile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            name: new.name.unwrap_or_default(),
            avatar_url: None,
        };
        let account = NewAccount {
            id: UserId::new(now, self.kernel.id_bytes(now)),
            email: new.email,
            password,
            email_verified: new.auto_confirm,
            metadata: new.metadata,
            profile: new.create_profile.then_some(profile),
            locale: new.locale,
            browser: None,
            now,
            event,
        };
        match self.kernel.store.create_account(account).await? {
            CreateOutcome::Created(user) => Ok(*user),
            CreateOutcome::EmailTaken => Err(Error::Refused(&EMAIL_EXISTS)),
        }
    }

    pub async fn list_users(&self, list: &ListUsers) -> Result<UserPage> {
        Ok(self.kernel.store.list_users(list).await?)
    }

    /// Notes in the audit log that an operator exported the list of users: the number of rows, and the names of the filters.
    pub async fn note_export(
        &self,
        rows: usize,
        filters: &[&str],
        party: Party,
        client: &Client,
    ) -> Result<()> {
        let mut event = self.kernel.event(AuditKind::UsersExported, party, Some(client), self.kernel.now());
        event.details.insert("rows".to_owned(), rows.into());
        event.details.insert("filters".to_owned(), filters.to_vec().into());
        Ok(self.kernel.store.record_event(event).await?)
    }

    pub async fn find_user(&self, id: UserId) -> Result<User> {
        self.kernel.store.find_user(id).await?.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    pub async fn find_user_by_email(&self, email: &Email) -> Result<User> {
        self.kernel.store.find_user_by_email(email.key()).await?.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    /// Changes a user. A ban ends the user's sessions on every instance at once.
    pub async fn change_user(
        &self,
        id: UserId,
        change: UserChange,
        party: Party,
        client: Option<&Client>,
    ) -> Result<User> {
        let now = self.kernel.now();
        let mail = match &change.email {
            Some(_) => self.kernel.required_notification(None, None, now)?,
            None => None,
        };
        let update = UpdateUser {
            id,
            events: self.change_events(&change, party, client, now),
            email: change.email,
            email_verified: change.email_verified,
            banned: change.banned,
            restore: if change.restore { Some(self.kernel.restoral(party, client, now)?) } else { None },
            metadata: change.metadata,
            mail,
            protection: self.kernel.protection(party),
            now,
        };
        match self.kernel.store.update_user(update).await? {
            UpdateUserOutcome::Updated(user) => {
                self.kernel.mails.wake();
                Ok(*user)
            }
            UpdateUserOutcome::NotFound => Err(Error::Refused(&USER_NOT_FOUND)),
            UpdateUserOutcome::EmailTaken => Err(Error::Refused(&EMAIL_EXISTS)),
            UpdateUserOutcome::Refused(refusal) => Err(refusal.into()),
        }
    }

    /// Deletes users and returns their number. Unknown ids are ignored.
    pub async fn delete_users(&self, ids: &[UserId], party: Party, client: Option<&Client>) -> Result<u64> {
        let now = self.kernel.now();
        let event = |id: &UserId| AuditEvent {
            user_id: Some(*id),
            ..self.kernel.event(AuditKind::UserDeleted, party, client, now)
        };
        let events = ids.iter().map(event).collect();
        Ok(self.kernel.store.delete_users(ids, events, self.kernel.protection(party)).await??)
    }

    /// Lists the live sessions of a user.
    pub async fn list_sessions(&self, id: UserId) -> Result<Vec<Session>> {
        let user = self.find_user(id).await?;
        Ok(self.kernel.store.list_sessions(user.id, self.kernel.now()).await?)
    }

    /// Lists the mails to a user of the last 30 days, newest first, with their fate and without their content.
    pub async fn list_mails(&self, id: UserId, limit: u32) -> Result<Vec<ListedMail>> {
        let user = self.find_user(id).await?;
        self.mails_of(user.id, self.kernel.now(), limit).await
    }

    pub async fn delete_profile(&self, id: UserId, party: Party, client: Option<&Client>) -> Result<()> {
        let act = self.account_act(id, AuditKind::ProfileDeleted, party, client);
        let is_deleted = self.kernel.store.delete_profile(act).await??;
        if is_deleted { Ok(()) } else { Err(Error::Refused(&PROFILE_NOT_FOUND)) }
    }

    fn change_events(
        &self,
        change: &UserChange,
        party: Party,
        client: Option<&Client>,
        now: Timestamp,
    ) -> Vec<AuditEvent> {
        let kinds = [
            (change.email.is_some(), AuditKind::EmailChanged),
            (change.banned == Some(true), AuditKind::UserBanned),
            (change.banned == Some(false), AuditKind::UserUnbanned),
            (change.email_verified.is_some() || change.metadata.is_some(), AuditKind::UserUpdated),
        ];
        let named = kinds.into_iter().filter(|(is_named, _)| *is_named);
        let event = |kind| {
            let mut event = self.kernel.event(kind, party, client, now);
            let fields = match kind {
                AuditKind::UserUpdated => changed_fields(change),
                AuditKind::EmailChanged => Value::from(vec!["email"]),
                _ => return event, // the kind says all
            };
            event.details.insert("fields".to_owned(), fields);
            event
        };
        named.map(|(_, kind)| event(kind)).collect()
    }
}

/// Returns the names of the fields that a new user was given.
fn given_fields(new: &NewUser) -> Value {
    let fields = [
        ("email", true),
        ("password", new.password.is_some()),
        ("name", new.name.is_some()),
        ("emailVerified", new.auto_confirm),
        ("metadata", !new.metadata.as_map().is_empty()),
        ("locale", new.locale.is_some()),
    ];
    fields.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
}

/// Returns the names of the changed fields whose change has no kind of its own.
fn changed_fields(change: &UserChange) -> Value {
    let fields =
        [("emailVerified", change.email_verified.is_some()), ("metadata", change.metadata.is_some())];
    fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect()
}
