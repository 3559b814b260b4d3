//! Helpers of the cases, each of which makes one call of the store, or the request for it. Fields that are
//! irrelevant for a case have defaults.

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::operator::Protection;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{UserFilter, UserSearch, UserSort};

use super::fixtures::{LONG, STRANGER, World, days, email, key, lane, long, mac, password};
use super::numbered::entry;
use latchkey_store::{
    BeginReset, Browser, ClaimedMail, CodeAttempt, CodeLane, Consent, CreateOutcome, Entered,
    ExchangeOutcome, Lease, LinkState, LinkStatus, ListEvents, ListUsers, NewAccount, NewCode, NewEmailCode,
    NewToken, OpenLink, OpenedLink, PendingSignUp, RequestEmailCode, ResetOutcome, ResetPassword, SignIn,
    SignInCandidate, SignInGuard, SignInOutcome, SignInSubject, SignUpOutcome, TokenAttempt, UpdateUser,
    UpdateUserOutcome, UserPage, UserPosition, VerifyOutcome,
};

/// URL to which the mailed links redirect the browser.
pub(super) const REDIRECT: &str = "https://app.example/done?x=1#top";

/// Returns the expected outcome of opening a link that is in the database and has this status.
pub(super) fn known(status: LinkStatus) -> OpenedLink {
    OpenedLink::Known(LinkState { status, redirect_to: Some(REDIRECT.to_owned()) })
}

/// Helpers for accounts.
impl World {
    /// Creates an account at a free address.
    pub(super) async fn create(&self, account: NewAccount) -> User {
        match self.create_account(account).await.unwrap() {
            CreateOutcome::Created(user) => *user,
            CreateOutcome::EmailTaken => panic!("the address should be free"),
        }
    }

    /// Creates an account at a free address, with a session.
    pub(super) async fn create_in(&self, account: NewAccount, session: NewSession) -> User {
        match self.create_account_and_enter(account, entry(session)).await.unwrap() {
            Some(Entered::Session(user)) => *user,
            other => panic!("the session should open: {other:?}"),
        }
    }

    /// Creates a verified account.
    pub(super) async fn verified(&self, name: &str, now: Timestamp) -> User {
        self.create(self.account(name, now)).await
    }

    /// Creates an account as a sign-up without required verification does: unverified, but not pending.
    pub(super) async fn unverified(&self, name: &str, now: Timestamp) -> User {
        self.create(NewAccount { email_verified: false, ..self.account(name, now) }).await
    }

    /// Makes a sign-up with a code, while verification of addresses is required.
    pub(super) fn sign_up(
        &self,
        name: &str,
        secret: PasswordHash,
        code: CodeMac,
        now: Timestamp,
    ) -> PendingSignUp {
        let account = NewAccount { email_verified: false, password: Some(secret), ..self.account(name, now) };
        PendingSignUp { account, email_code: email_code(code, now), mail: self.mail(now) }
    }

    /// Creates a pending account (signed up, not verified) with the password `secret`. The code `mac(1)`
    /// verifies its address.
    pub(super) async fn pending(&self, name: &str, now: Timestamp) -> User {
        let sign_up = self.sign_up(name, password("secret"), mac(1), now);
        assert_eq!(self.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::Created);
        self.find_user_by_email(&key(name)).await.unwrap().unwrap()
    }

    /// Creates a contested account: two sign-ups used its address, with different passwords. The code
    /// `mac(2)` verifies its address.
    pub(super) async fn contested(&self, name: &str, now: Timestamp) -> User {
        self.pending(name, now).await;
        let sign_up = self.sign_up(name, password("other"), mac(2), now);
        assert_eq!(self.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::Contested);
        self.find_user_by_email(&key(name)).await.unwrap().unwrap()
    }

    /// Reads a user.
    pub(super) async fn user(&self, id: UserId) -> User {
        self.find_user(id).await.unwrap().unwrap()
    }

    /// Makes an admin's request to change a user, in which no field changes yet.
    pub(super) fn change(&self, id: UserId, now: Timestamp) -> UpdateUser {
        let events = vec![self.event(AuditKind::UserUpdated, now)];
        UpdateUser {
            id,
            email: None,
            email_verified: None,
            banned: None,
            restore: None,
            metadata: None,
            events,
            mail: None,
            protection: Protection::Operators,
            now,
        }
    }

    /// Deletes users as an admin does, and returns their number.
    pub(super) async fn delete(&self, ids: &[UserId], events: Vec<AuditEvent>) -> u64 {
        self.delete_users(ids, events, Protection::Operators).await.unwrap().unwrap()
    }

    /// Reads a page of users. An empty `search` lists all.
    pub(super) async fn users(&self, search: &str, position: UserPosition, limit: u32) -> UserPage {
        let filter = UserFilter { search: UserSearch::parse(search), ..UserFilter::default() };
        self.users_by(filter, UserSort::Created, position, limit).await
    }

    /// Reads a page of the users that pass a filter, in the usual order of a sort.
    pub(super) async fn users_by(
        &self,
        filter: UserFilter,
        sort: UserSort,
        position: UserPosition,
        limit: u32,
    ) -> UserPage {
        self.list_users(&ListUsers { filter, order: sort.order(), position, limit }).await.unwrap()
    }

    /// Bans a user.
    pub(super) async fn ban(&self, id: UserId, now: Timestamp) {
        let ban = UpdateUser { banned: Some(true), ..self.change(id, now) };
        assert!(matches!(self.update_user(ban).await.unwrap(), UpdateUserOutcome::Updated(_)));
    }

    /// Changes the email address of a user.
    pub(super) async fn move_to(&self, id: UserId, name: &str, now: Timestamp) {
        let change = UpdateUser { email: Some(email(name)), ..self.change(id, now) };
        assert!(matches!(self.update_user(change).await.unwrap(), UpdateUserOutcome::Updated(_)));
    }
}

/// Makes a code that is valid for ten minutes. It is requested by a client that the account does not know.
pub(super) fn email_code(mac: CodeMac, now: Timestamp) -> NewEmailCode {
    email_code_in(lane(&key("nobody"), STRANGER), mac, now)
}

/// Makes a code that is valid for ten minutes. It is requested by this client.
pub(super) fn email_code_in(lane: CodeLane, mac: CodeMac, now: Timestamp) -> NewEmailCode {
    let expires_at = now.plus(std::time::Duration::from_mins(10));
    NewEmailCode::Code(NewCode { mac, long_mac: long(mac), long_sealed: LONG.to_vec(), lane, expires_at })
}

/// Helpers for codes and links.
impl World {
    /// Makes a link that is valid for a day. Returns it with its token's hash.
    pub(super) fn email_link(&self, now: Timestamp) -> (NewEmailCode, TokenHash) {
        let hash = self.token();
        let token = NewToken { hash, expires_at: now.plus(days(1)) };
        (NewEmailCode::Link { token, redirect_to: Some(REDIRECT.to_owned()) }, hash)
    }

    /// Makes a request for a code or link, without rate limits.
    pub(super) fn request(
        &self,
        email: &EmailKey,
        purpose: Purpose,
        email_code: NewEmailCode,
        now: Timestamp,
    ) -> RequestEmailCode {
        RequestEmailCode {
            email: email.clone(),
            purpose,
            takes: Vec::new(),
            email_code,
            mail: self.mail(now),
            now,
        }
    }

    /// Sends a code to an address.
    pub(super) async fn send_code(&self, email: &EmailKey, purpose: Purpose, code: CodeMac, now: Timestamp) {
        let request = self.request(email, purpose, email_code(code, now), now);
        self.request_email_code(request).await.unwrap().unwrap();
    }

    /// Sends a link to an address, and returns its token's hash.
    pub(super) async fn send_link(&self, email: &EmailKey, purpose: Purpose, now: Timestamp) -> TokenHash {
        let (email_code, token) = self.email_link(now);
        let request = self.request(email, purpose, email_code, now);
        self.request_email_code(request).await.unwrap().unwrap();
        token
    }

    /// Makes an attempt to redeem a code, without rate limits, by a client that the account does not know.
    pub(super) fn attempt(&self, email: &EmailKey, code: CodeMac, now: Timestamp) -> CodeAttempt {
        let event = self.event(AuditKind::EmailVerified, now);
        let (lane, form, takes) = (lane(email, STRANGER), CodeForm::SixDigits, Vec::new());
        CodeAttempt { email: email.clone(), mac: code, form, lane, caller: None, takes, event, now }
    }

    pub(super) async fn verify(&self, email: &EmailKey, code: CodeMac, now: Timestamp) -> VerifyOutcome {
        self.verify_by_code(self.attempt(email, code, now), entry(self.session(now))).await.unwrap().unwrap()
    }

    /// True if a verification code of the user `ada` verifies the account for a caller with this
    /// session.
    pub(super) async fn verifies_from(&self, caller: SessionId, code: CodeMac, now: Timestamp) -> bool {
        let attempt = CodeAttempt { caller: Some(caller), ..self.attempt(&key("ada"), code, now) };
        let outcome = self.verify_by_code(attempt, entry(self.session(now))).await.unwrap().unwrap();
        matches!(outcome, VerifyOutcome::Entered(Entered::Session(_)))
    }

    /// True if a verification code verifies the account.
    pub(super) async fn verifies(&self, email: &EmailKey, code: CodeMac, now: Timestamp) -> bool {
        matches!(self.verify(email, code, now).await, VerifyOutcome::Entered(Entered::Session(_)))
    }

    /// Verifies an address by the token of a mailed link, as a client of the API does.
    pub(super) async fn verify_token(&self, token: TokenHash, now: Timestamp) -> VerifyOutcome {
        let event = self.event(AuditKind::EmailVerified, now);
        let attempt = TokenAttempt { token, email: None, caller: None, takes: Vec::new(), event };
        self.verify_by_token(attempt, entry(self.session(now))).await.unwrap().unwrap()
    }

    /// Opens a verification link in a browser.
    pub(super) async fn open_link(&self, token: TokenHash, now: Timestamp) -> OpenedLink {
        self.open_verify_link(self.link_opening(token, now)).await.unwrap().unwrap()
    }

    /// Makes a request to open a verification link in a browser without cookies, whose user has consented on
    /// the page.
    pub(super) fn link_opening(&self, token: TokenHash, now: Timestamp) -> OpenLink {
        OpenLink {
            token,
            browser: Browser::default(),
            consent: Consent::Given,
            takes: Vec::new(),
            event: self.event(AuditKind::EmailVerified, now),
            mail: None,
            now,
        }
    }

    /// Inspects a link without using it.
    pub(super) async fn look(&self, token: TokenHash, purpose: Purpose, now: Timestamp) -> OpenedLink {
        self.inspect_link(token, purpose, &[], now).await.unwrap().unwrap()
    }

    /// Exchanges the code of a password reset for a reset token that is valid for 15 minutes. Returns the
    /// token's hash, or `None` if the code is refused.
    pub(super) async fn exchange(
        &self,
        email: &EmailKey,
        code: CodeMac,
        now: Timestamp,
    ) -> Option<TokenHash> {
        let token = NewToken { hash: self.token(), expires_at: now.plus(std::time::Duration::from_mins(15)) };
        let outcome = self.exchange_reset_code(self.attempt(email, code, now), token).await.unwrap().unwrap();
        (outcome == ExchangeOutcome::Exchanged).then_some(token.hash)
    }

    /// True if a reset token is valid.
    pub(super) async fn can_reset(&self, token: TokenHash, now: Timestamp) -> bool {
        matches!(self.begin_reset(token, &[], now).await.unwrap().unwrap(), BeginReset::Good(_))
    }

    /// Resets a password.
    pub(super) async fn reset(&self, token: TokenHash, secret: &str, now: Timestamp) -> Option<User> {
        let event = self.event(AuditKind::PasswordReset, now);
        let reset =
            ResetPassword { token, password: password(secret), event, mail: None, cleared: None, now };
        match self.reset_password(reset).await.unwrap() {
            ResetOutcome::Reset(user) => Some(*user),
            ResetOutcome::NeedsSecondFactor | ResetOutcome::Refused => None,
        }
    }
}

/// Helpers for sessions.
impl World {
    /// Reads the account and password hashes that a sign-in with this address needs.
    pub(super) async fn candidate(&self, name: &str, now: Timestamp) -> Option<SignInCandidate> {
        match self.begin_sign_in(&key(name), &[], None, now).await.unwrap().unwrap() {
            SignInSubject::Account(found) => Some(*found),
            SignInSubject::Reserved(_) | SignInSubject::Unknown => None,
        }
    }

    /// Makes the second step of a sign-in, for a password that has matched.
    pub(super) fn right(
        &self,
        user: UserId,
        secret: &str,
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> SignIn {
        SignIn {
            user_id: user,
            checked: password(secret),
            rehashed: None,
            entry: entry(self.session(now)),
            guard: guard.cloned(),
            event: self.event(AuditKind::SignedIn, now),
        }
    }

    /// Signs in with the password `secret`.
    pub(super) async fn open_session(&self, user: UserId, now: Timestamp) -> NewSession {
        let sign_in = self.right(user, "secret", None, now);
        let session = sign_in.entry.session.clone();
        assert!(matches!(
            self.sign_in(sign_in).await.unwrap().unwrap(),
            SignInOutcome::Entered(Entered::Session(_))
        ));
        session
    }

    /// True if a session is live. Checks it by all three methods of the store that look a session up.
    pub(super) async fn lives(&self, id: SessionId, now: Timestamp) -> bool {
        let live = self.find_live_session(id, now).await.unwrap();
        let owner = self.find_session_owner(id, now).await.unwrap();
        assert_eq!(live.as_ref().map(|found| found.user.id), owner, "the questions disagree");
        let own = self.find_session_profile(id, now).await.unwrap();
        assert_eq!(own.as_ref().map(|found| found.user_id), owner, "the questions disagree");
        if let Some(own) = own {
            let profile = self.find_profile(own.user_id).await.unwrap();
            assert_eq!(own.profile.map(|profile| *profile), profile, "the profiles disagree");
        }
        live.is_some()
    }
}

/// Helpers for mails and audit events.
impl World {
    /// Claims all due mails for a minute.
    pub(super) async fn mails(&self, now: Timestamp) -> Vec<ClaimedMail> {
        self.claim_mails(self.lease(now), &MailSchedule::default(), 1000, now).await.unwrap()
    }

    /// Makes a lease, by which a worker claims mails for one minute.
    pub(super) fn lease(&self, now: Timestamp) -> Lease {
        Lease { id: self.lease_id(now), until: now.plus(std::time::Duration::from_mins(1)) }
    }

    /// All audit events, newest first.
    pub(super) async fn events(&self) -> Vec<AuditEvent> {
        self.list_events(ListEvents { limit: 1000, ..ListEvents::default() }).await.unwrap().events
    }

    /// Reads an audit event.
    pub(super) async fn event_of(&self, id: EventId) -> Option<AuditEvent> {
        self.events().await.into_iter().find(|event| event.id == id)
    }
}
