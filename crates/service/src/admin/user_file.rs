//! Everything that an operator reads about one user, for the user's page in the console.

use latchkey_domain::account_limits::HeldLimit;
use latchkey_domain::audit::{Actor, AuditEvent, AuditFilter, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::{LimitKey, Rate, Take};
use latchkey_domain::obstacle::Obstacle;
use latchkey_domain::operator::{Party, Role};
use latchkey_domain::profile::Profile;
use latchkey_domain::session::Session;
use latchkey_store::{AccountFactors, LinkedIdentity, ListedMail};

use super::Admin;
use super::sign_in_state::{MAILS as READ_MAILS, Read, can_sign_in};
use crate::error::Result;

/// Number of the last mails that are shown.
const MAILS: usize = 50;
/// Number of the last sign-ins and failures.
const SIGN_INS: u32 = 10;
/// Number of the last events that are read.
const EVENTS: u32 = 20;
/// Rate at which the audit log notes that an operator reads about a user.
const ONE_AN_HOUR: Rate = Rate::per(1, 3_600);

/// What is known about one user.
pub struct UserFile {
    pub account: AccountFactors,
    /// Obstacles to a sign-in, those that block every sign-in first.
    pub obstacles: Vec<Obstacle>,
    /// The user's role if the account is protected: that of its grant, or of one that waits for its address.
    pub role: Option<Role>,
    pub identities: Vec<LinkedIdentity>,
    /// Live sessions, the latest used first.
    pub sessions: Vec<Session>,
    pub profile: Option<Profile>,
    /// The last mails of the last 30 days, newest first.
    pub mails: Vec<ListedMail>,
    /// True if these 30 days have more mails.
    pub has_more_mails: bool,
    /// Limits that hold now.
    pub limits: Vec<HeldLimit>,
    /// The last completed and failed sign-ins, newest first.
    pub sign_ins: Vec<AuditEvent>,
    /// The last events, newest first.
    pub events: Vec<AuditEvent>,
}

impl UserFile {
    /// True if a sign-in is possible, from some client at least.
    #[must_use]
    pub fn can_sign_in(&self) -> bool {
        can_sign_in(&self.obstacles)
    }
}

impl Admin {
    /// Reads everything about one user for an operator: the account first, and then the rest at once.
    pub async fn user_file(&self, id: UserId) -> Result<UserFile> {
        let now = self.kernel.now();
        let account = self.factors.of_user(id).await?;
        let (account, store) = (&account, &self.kernel.store);
        let events = AuditFilter { user_id: Some(id), ..AuditFilter::default() };
        let (role, identities, sessions, profile, mails, limits, sign_ins, events, address_since) = tokio::try_join!(
            async { Ok(store.list_protected_accounts().await?.remove(&id)) },
            async { Ok(store.list_identities(id).await?) },
            async { Ok(store.list_sessions(id, now).await?) },
            async { Ok(store.find_profile_of_any(id).await?) },
            self.mails_of(id, now, READ_MAILS),
            self.limits_of(&account.user, now),
            self.sign_ins(id, SIGN_INS),
            self.list_events(events, None, EVENTS),
            self.address_since(&account.user)
        )?;
        let mut sessions = sessions;
        sessions.sort_by_key(|session| std::cmp::Reverse((session.last_seen_at, session.id)));
        let obstacles = self.obstacles(&Read { account, limits: &limits, mails: &mails, address_since, now });
        let mut mails = mails;
        let has_more_mails = mails.len() > MAILS;
        mails.truncate(MAILS);
        Ok(UserFile {
            obstacles,
            account: account.clone(),
            role,
            identities,
            sessions,
            profile,
            mails,
            has_more_mails,
            limits,
            sign_ins: sign_ins.latest(SIGN_INS),
            events: events.events,
        })
    }

    /// Notes that an operator reads about a user, once an hour for each operator and user.
    pub async fn note_reading(&self, id: UserId, party: Party, client: &Client) -> Result<()> {
        let Some(operator) = Actor::from(party).operator() else { return Ok(()) };
        let (now, limit) = (self.kernel.now(), "audit of a page");
        let key = LimitKey::new(limit, &[&operator.to_string(), &id.to_string()]);
        if self.kernel.store.take(&[Take { key, rate: ONE_AN_HOUR, limit }], now).await?.is_err() {
            return Ok(());
        }
        let event = self.kernel.event(AuditKind::UserRead, party, Some(client), now);
        Ok(self.kernel.store.record_event(AuditEvent { user_id: Some(id), ..event }).await?)
    }
}
