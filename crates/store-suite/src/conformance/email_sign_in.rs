//! Cases of sign-in by mail.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::{CodeMac, Purpose};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;

use super::acts::email_code;
use super::fixtures::{World, at, email, key, mac};
use super::numbered::entry;
use latchkey_store::{
    EmailSignIn, Entered, NewAccount, NewEmailCode, Newcomer, RequestSignInMail, VerifyOutcome,
};

impl World {
    /// Makes a request for a mail with a sign-in code, without rate limits, while sign-up is open.
    pub(super) fn sign_in_mail(&self, name: &str, code: CodeMac, now: Timestamp) -> RequestSignInMail {
        let NewEmailCode::Code(code) = email_code(code, now) else { panic!("a code") };
        let (email, takes, mail) = (email(name), Vec::new(), self.mail(now));
        RequestSignInMail { email, is_sign_up_open: true, takes, code, link: None, mail, now }
    }

    async fn send_sign_in_code(&self, name: &str, code: CodeMac, now: Timestamp) {
        self.request_sign_in_mail(self.sign_in_mail(name, code, now)).await.unwrap().unwrap();
    }

    pub(super) fn email_sign_in(&self, now: Timestamp) -> EmailSignIn {
        let newcomer = Newcomer {
            user_id: self.user_id(now),
            profile: Some(self.profile("newcomer", now)),
            locale: None,
            event: self.event(AuditKind::SignedUp, now),
        };
        EmailSignIn {
            entry: entry(self.session(now)),
            newcomer: Some(newcomer),
            verified: self.event(AuditKind::EmailVerified, now),
            refused: self.event(AuditKind::SignInFailed, now),
        }
    }

    pub(super) async fn enter_by_code(&self, name: &str, code: CodeMac, now: Timestamp) -> VerifyOutcome {
        self.enter_by_code_with(name, code, self.email_sign_in(now), now).await
    }

    async fn enter_by_code_with(
        &self,
        name: &str,
        code: CodeMac,
        sign_in: EmailSignIn,
        now: Timestamp,
    ) -> VerifyOutcome {
        let mut attempt = self.attempt(&key(name), code, now);
        attempt.event.kind = AuditKind::SignedIn;
        self.sign_in_by_code(attempt, email(name), sign_in).await.unwrap().unwrap()
    }
}

pub(super) fn is_entered(outcome: &VerifyOutcome) -> bool {
    matches!(outcome, VerifyOutcome::Entered(Entered::Session(_)))
}

pub(super) async fn a_sign_in_code_opens_a_session_once(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.send_sign_in_code("ada", mac(1), at(1)).await;
    let sign_in = world.email_sign_in(at(2));
    let session = sign_in.entry.session.id;

    let outcome = world.enter_by_code_with("ada", mac(1), sign_in, at(2)).await;

    let entered = User { last_sign_in_at: Some(at(2)), ..ada.clone() };
    assert_eq!(outcome, VerifyOutcome::Entered(Entered::Session(Box::new(entered))), "nothing else changed");
    assert!(world.lives(session, at(2)).await);
    let kinds: Vec<_> = world.events().await.iter().map(|event| (event.kind, event.session_id)).collect();
    assert_eq!(kinds[0], (AuditKind::SignedIn, Some(session)));
    assert!(!kinds.contains(&(AuditKind::EmailVerified, Some(session))), "{kinds:?}");
    assert_eq!(world.enter_by_code("ada", mac(1), at(3)).await, VerifyOutcome::Refused);
}

pub(super) async fn an_address_without_an_account_is_mailed(world: World) {
    let request = world.sign_in_mail("Ada", mac(1), at(1));
    let id = request.mail.id;

    world.request_sign_in_mail(request).await.unwrap().unwrap();

    let [mail] = &world.mails(at(1)).await[..] else { panic!("one mail expected") };
    assert_eq!((mail.id, mail.kind), (id, MailKind::SignIn));
    assert_eq!((mail.recipient.user_id, mail.recipient.email.as_typed()), (None, "Ada@example.org"));
    assert!(!mail.recipient.may_be_hijacked);
}

pub(super) async fn a_code_for_no_account_creates_one(world: World) {
    world.send_sign_in_code("ada", mac(1), at(1)).await;
    let sign_in = world.email_sign_in(at(2));
    let (id, session) = (sign_in.newcomer.as_ref().unwrap().user_id, sign_in.entry.session.id);

    let outcome = world.enter_by_code_with("Ada", mac(1), sign_in, at(2)).await;

    assert!(is_entered(&outcome), "{outcome:?}");
    let user = world.user(id).await;
    assert_eq!(
        (user.email.as_typed(), user.email_verified, user.has_password),
        ("Ada@example.org", true, false)
    );
    assert!(!user.is_pending && world.find_profile(id).await.unwrap().is_some());
    assert!(world.lives(session, at(2)).await);
    assert_eq!(world.enter_by_code("ada", mac(1), at(3)).await, VerifyOutcome::Refused);
}

pub(super) async fn an_account_created_after_the_code_does_not_get_it(world: World) {
    world.send_sign_in_code("ada", mac(1), at(1)).await;
    world.verified("ada", at(2)).await;

    assert_eq!(world.enter_by_code("ada", mac(1), at(3)).await, VerifyOutcome::Refused);
}

pub(super) async fn a_code_of_an_account_creates_no_other(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.send_sign_in_code("ada", mac(1), at(1)).await;
    world.move_to(ada.id, "elsewhere", at(2)).await;

    assert_eq!(world.enter_by_code("ada", mac(1), at(3)).await, VerifyOutcome::Refused);
    assert_eq!(world.enter_by_code("elsewhere", mac(1), at(3)).await, VerifyOutcome::Refused);
}

pub(super) async fn closed_sign_up_leaves_a_decoy(world: World) {
    let request = RequestSignInMail { is_sign_up_open: false, ..world.sign_in_mail("ada", mac(1), at(1)) };
    world.request_sign_in_mail(request).await.unwrap().unwrap();

    assert!(world.mails(at(1)).await.is_empty());
    assert_eq!(world.enter_by_code("ada", mac(1), at(1)).await, VerifyOutcome::Refused);
    world.send_sign_in_code("ada", mac(2), at(2)).await;
    let closed = EmailSignIn { newcomer: None, ..world.email_sign_in(at(2)) };
    assert_eq!(world.enter_by_code_with("ada", mac(2), closed, at(2)).await, VerifyOutcome::Refused);
    assert!(is_entered(&world.enter_by_code("ada", mac(2), at(2)).await));
}

pub(super) async fn a_banned_account_gets_a_decoy(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.ban(ada.id, at(0)).await;

    world.send_sign_in_code("ada", mac(1), at(1)).await;

    assert!(world.mails(at(1)).await.is_empty());
    assert_eq!(world.enter_by_code("ada", mac(1), at(1)).await, VerifyOutcome::Refused);
}

pub(super) async fn a_refused_code_is_counted_and_audited(world: World) {
    let ada = world.verified("ada", at(0)).await;
    for (name, user) in [("ada", Some(ada.id)), ("nobody", None)] {
        world.send_sign_in_code(name, mac(1), at(1)).await;
        for _ in 0..5 {
            let sign_in = world.email_sign_in(at(2));
            let refused = sign_in.refused.id;
            let outcome = world.enter_by_code_with(name, mac(2), sign_in, at(2)).await;
            assert_eq!(outcome, VerifyOutcome::Refused);
            let event = world.event_of(refused).await.unwrap();
            assert_eq!((event.kind, event.user_id), (AuditKind::SignInFailed, user));
        }

        assert_eq!(world.enter_by_code(name, mac(1), at(2)).await, VerifyOutcome::Refused, "{name}");
    }
}

pub(super) async fn a_sign_in_code_is_of_its_own_purpose(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(1)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(2), at(1)).await;
    world.send_sign_in_code("ada", mac(3), at(1)).await;

    for code in [1, 2] {
        assert_eq!(world.enter_by_code("ada", mac(code), at(2)).await, VerifyOutcome::Refused);
    }
    assert!(!world.verifies(&key("ada"), mac(3), at(2)).await);
    assert!(world.exchange(&key("ada"), mac(3), at(2)).await.is_none());
    assert!(is_entered(&world.enter_by_code("ada", mac(3), at(2)).await));
}

pub(super) async fn a_sign_in_by_mail_takes_an_unproven_account_over(world: World) {
    let pending = world.pending("pending", at(0)).await;
    let entered = world.unverified("entered", at(0)).await;
    let session = world.open_session(entered.id, at(0)).await;
    let bare = NewAccount { password: None, email_verified: false, ..world.account("bare", at(0)) };
    let bare = world.create(bare).await;
    for (name, user) in [("pending", pending), ("entered", entered), ("bare", bare)] {
        world.send_sign_in_code(name, mac(1), at(1)).await;
        let sign_in = world.email_sign_in(at(2));
        let verified = sign_in.verified.id;

        assert!(is_entered(&world.enter_by_code_with(name, mac(1), sign_in, at(2)).await), "{name}");

        let owned = world.user(user.id).await;
        assert_eq!(
            (owned.email_verified, owned.has_password, owned.is_pending),
            (true, false, false),
            "{name}"
        );
        assert_eq!(world.event_of(verified).await.unwrap().user_id, Some(user.id));
    }
    assert!(!world.lives(session.id, at(2)).await);
}
