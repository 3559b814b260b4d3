//! Helpers of the cases, each of which makes one call of the store, or the request for it: passkeys.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::{ChallengeKind, SecondFactorPolicy};
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{
    Aaguid, CredentialId, Passkey, PasskeyState, Passkeys as OwnPasskeys, RpId, Transports, UserHandle,
};
use latchkey_domain::session::{AuthMethod, AuthMethods, Level, NewSession};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use super::fixtures::{World, days};
use super::numbered::rules;
use latchkey_store::{
    AnswerChallenge, BeginPasskey, BegunPasskey, Ceremony, ChangeFactors, ChangedFactors, Enroller, Entry,
    FoundPasskey, NewPasskey, PasskeyOptions, PasskeyRefusal, PasskeySignIn, RegisterPasskey,
    RegisteredPasskey, Shown, ShownPasskey, SignInWithPasskey, VerifiablePasskey,
};

/// Relying party id that the service uses.
pub(super) fn rp_id() -> RpId {
    RpId::new("example.org")
}

/// Methods of sign-in that the service offers: password and passkey.
pub(super) fn offer() -> SignInOffer {
    SignInOffer { rp_id: Some(rp_id()), ..SignInOffer::default() }
}

/// Makes the state of a passkey after an assertion with this signature counter. The passkey is synced.
pub(super) const fn state(counter: u32) -> PasskeyState {
    PasskeyState { counter, is_backed_up: true }
}

/// Kinds of the mails that are due.
pub(super) async fn mailed(world: &World, now: Timestamp) -> Vec<MailKind> {
    world.mails(now).await.iter().map(|mail| mail.kind).collect()
}

impl World {
    /// Makes a WebAuthn ceremony (registration or sign-in) that is valid for ten minutes.
    pub(super) fn ceremony(&self, now: Timestamp) -> Ceremony {
        Ceremony { hash: self.token(), expires_at: now.plus(Duration::from_mins(10)) }
    }

    /// Begins a registration with this user handle.
    pub(super) async fn begin_registration(
        &self,
        enroller: Enroller,
        handle: u8,
        now: Timestamp,
    ) -> BegunPasskey {
        let begin = BeginPasskey { enroller, user_handle: UserHandle::new([handle; 16]), now };
        self.begin_passkey(begin).await.unwrap()
    }

    /// Makes a passkey with a new credential id. It may be synced; its signature counter is 5.
    pub(super) fn new_passkey(&self, now: Timestamp) -> NewPasskey {
        NewPasskey {
            id: self.id(now, PasskeyId::new),
            credential_id: CredentialId::parse(self.token().as_bytes()).unwrap(),
            public_key: b"public key".to_vec(),
            rp_id: rp_id(),
            name: FactorName::parse("Phone").unwrap(),
            aaguid: Aaguid::new([9; 16]),
            transports: Transports::new(["internal", "hybrid"]),
            is_backup_eligible: true,
            state: PasskeyState { counter: 5, is_backed_up: false },
        }
    }

    /// Makes a request to register a new passkey, with the mails about it and an undo link.
    pub(super) fn registration(&self, enroller: Enroller, now: Timestamp) -> RegisterPasskey {
        RegisterPasskey {
            enroller,
            ceremony: self.ceremony(now),
            passkey: self.new_passkey(now),
            turned_on: None,
            event: self.event(AuditKind::PasskeyAdded, now),
            mail: Some(self.mail(now)),
            undoable: Some((self.mail(now), self.new_token(now, days(3)))),
            sleeps: false,
            now,
        }
    }

    /// Begins and completes a registration in a session.
    pub(super) async fn register(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> RegisteredPasskey {
        let enroller = Enroller::Session(user, session);
        self.begin_registration(enroller.clone(), 1, now).await;
        self.register_passkey(self.registration(enroller, now)).await.unwrap()
    }

    /// Registers a passkey in a session.
    pub(super) async fn add_passkey(&self, user: UserId, session: SessionId, now: Timestamp) -> Passkey {
        match self.register(user, session, now).await {
            RegisteredPasskey::Added(passkey) => *passkey,
            other => panic!("{other:?}"),
        }
    }

    /// Registers a passkey of another relying party id in a session.
    pub(super) async fn add_foreign_passkey(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> Passkey {
        let enroller = Enroller::Session(user, session);
        self.begin_registration(enroller.clone(), 1, now).await;
        let mut register = self.registration(enroller, now);
        register.passkey.rp_id = RpId::new("example.com");
        match self.register_passkey(register).await.unwrap() {
            RegisteredPasskey::Added(passkey) => *passkey,
            other => panic!("{other:?}"),
        }
    }

    /// Makes a session of authentication level two, opened by a passkey alone.
    pub(super) fn session_by_passkey(&self, now: Timestamp) -> NewSession {
        let methods = AuthMethods::of(AuthMethod::SyncedPasskey).with(AuthMethod::MultiFactor);
        NewSession { methods, level: Level::Two, ..self.session(now) }
    }

    /// Makes a sign-in with a passkey whose assertion has this signature counter.
    pub(super) fn passkey_sign_in(&self, id: PasskeyId, counter: u32, now: Timestamp) -> SignInWithPasskey {
        SignInWithPasskey {
            ceremony: self.ceremony(now),
            shown: ShownPasskey { id, state: Some(state(counter)) },
            rp_id: rp_id(),
            entry: Entry {
                session: self.session_by_passkey(now),
                challenge: self.new_challenge(now),
                rules: rules(SecondFactorPolicy::Optional),
            },
            guard: None,
            must_verify: true,
            event: self.event(AuditKind::SignedIn, now),
            refusal: self.passkey_refusal(now),
        }
    }

    /// Passkey with a credential id and its user, looked up in a new ceremony.
    pub(super) async fn known_passkey(
        &self,
        id: &CredentialId,
        rp_id: &RpId,
    ) -> Option<(VerifiablePasskey, User)> {
        match self.find_passkey(id, rp_id, self.token()).await.unwrap() {
            FoundPasskey::Usable(found) => Some(*found),
            FoundPasskey::Unknown => None,
            FoundPasskey::CeremonyUsed => panic!("a new ceremony is not used"),
        }
    }

    /// Makes the audit event and the mail that are written if a passkey is refused.
    pub(super) fn passkey_refusal(&self, now: Timestamp) -> PasskeyRefusal {
        PasskeyRefusal { event: self.event(AuditKind::PasskeyRefused, now), mail: Some(self.mail(now)) }
    }

    /// Signs in with a passkey, and returns the session if it was opened.
    pub(super) async fn enter_with_passkey(
        &self,
        id: PasskeyId,
        counter: u32,
        now: Timestamp,
    ) -> Option<SessionId> {
        let sign_in = self.passkey_sign_in(id, counter, now);
        let session = sign_in.entry.session.id;
        let outcome = self.sign_in_with_passkey(sign_in).await.unwrap();
        matches!(outcome, PasskeySignIn::Entered(_)).then_some(session)
    }

    /// Makes a request of the owner to change passkeys in a session.
    pub(super) fn passkey_change<T>(
        &self,
        (user_id, session_id): (UserId, SessionId),
        change: T,
        kind: AuditKind,
        now: Timestamp,
    ) -> ChangeFactors<T> {
        let (event, mail) = (self.event(kind, now), Some(self.mail(now)));
        ChangeFactors { user_id, session_id, rp_id: Some(rp_id()), change, event, mail, now }
    }

    /// Removes a passkey in a session of its owner.
    pub(super) async fn take_passkey(
        &self,
        owner: (UserId, SessionId),
        id: PasskeyId,
        now: Timestamp,
    ) -> ChangedFactors<OwnPasskeys> {
        let remove = self.passkey_change(owner, id, AuditKind::PasskeyRemoved, now);
        self.remove_passkey(remove, offer()).await.unwrap()
    }

    /// Stores the WebAuthn challenge of request options for an answer by passkey, in place of an earlier one.
    pub(super) async fn ask_for_passkey(
        &self,
        challenge: TokenHash,
        now: Timestamp,
    ) -> Option<PasskeyOptions> {
        let options = PasskeyOptions(*self.token().as_bytes());
        let terms = super::factor_acts::terms(now);
        self.save_passkey_options(challenge, options, terms).await.unwrap().map(|_| options)
    }

    /// Makes an answer to a challenge by a passkey whose assertion has this signature counter.
    pub(super) fn passkey_answer(
        &self,
        challenge: TokenHash,
        options: PasskeyOptions,
        (id, counter): (PasskeyId, u32),
        now: Timestamp,
    ) -> AnswerChallenge {
        let shown = ShownPasskey { id, state: Some(state(counter)) };
        self.answer(challenge, ChallengeKind::Passkey, Shown::Passkey(shown, options), now)
    }

    /// Passkeys of an account.
    pub(super) async fn passkeys_of(&self, id: UserId) -> Vec<Passkey> {
        self.factors_of(id).await.passkeys
    }
}
