//! Cases of acts of admins on the accounts of others: sessions, passwords, profiles, mails and identities.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::identity::Subject;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::{OperatorRefusal, Protection, Role};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;

use super::account_limits::limits;
use super::acts::email_code;
use super::fixtures::{World, at, key, mac, password};
use super::oauth_acts::{google, provider};
use latchkey_store::{
    AccountAct, ClearedProfile, ReplacePassword, SendEmailCode, SentEmailCode, UnlinkIdentity, UnlinkOutcome,
    Unlinker,
};

impl World {
    /// Makes an act on an account by a party that may change all but the last owner.
    pub(super) fn act(&self, user_id: UserId, kind: AuditKind, now: Timestamp) -> AccountAct {
        AccountAct { user_id, event: self.event(kind, now), protection: Protection::LastOwner, now }
    }

    /// Deletes the profile of a user as an admin. Returns `false` if the user has none.
    pub(super) async fn deletes_profile(&self, user_id: UserId, now: Timestamp) -> bool {
        self.delete_profile(self.act(user_id, AuditKind::ProfileDeleted, now)).await.unwrap().unwrap()
    }

    pub(super) async fn end_sessions_of(&self, user_id: UserId, now: Timestamp) -> Option<u64> {
        self.end_all_sessions(self.act(user_id, AuditKind::SessionsEnded, now)).await.unwrap().unwrap()
    }

    fn new_password(&self, user_id: UserId, now: Timestamp) -> ReplacePassword {
        let act = self.act(user_id, AuditKind::PasswordSet, now);
        ReplacePassword { act, password: password("new"), mail: Some(self.mail(now)) }
    }

    fn sent(&self, user_id: UserId, name: &str, purpose: Purpose, now: Timestamp) -> SendEmailCode {
        let kind = AuditKind::VerificationSent;
        let request = self.request(&key(name), purpose, email_code(mac(7), now), now);
        SendEmailCode { user_id, request, event: self.event(kind, now) }
    }

    fn unlink_by_admin(&self, user_id: UserId, subject: &str, protection: Protection) -> UnlinkIdentity {
        UnlinkIdentity {
            user_id,
            provider: provider("google"),
            subject: Subject::parse(subject),
            offer: SignInOffer { providers: vec![provider("google")], ..SignInOffer::default() },
            by: Unlinker::Admin(protection),
            event: self.event(AuditKind::IdentityUnlinked, at(3)),
            mail: Some(self.mail(at(3))),
            now: at(3),
        }
    }
}

pub(super) async fn an_admin_ends_all_sessions(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let sessions = [world.open_session(ada.id, at(0)).await, world.open_session(ada.id, at(0)).await];
    let kept = world.open_session(eve.id, at(0)).await;
    let act = world.act(ada.id, AuditKind::SessionsEnded, at(1));
    let event = act.event.id;

    assert_eq!(world.end_all_sessions(act).await.unwrap(), Ok(Some(2)));
    assert_eq!(world.end_sessions_of(ada.id, at(2)).await, Some(0));
    assert_eq!(world.end_sessions_of(world.user_id(at(2)), at(2)).await, None);

    for session in sessions {
        assert!(!world.lives(session.id, at(1)).await);
    }
    assert!(world.lives(kept.id, at(2)).await);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(ada.id));
}

pub(super) async fn an_admin_ends_one_session(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let (ended, kept) = (world.open_session(ada.id, at(0)).await, world.open_session(ada.id, at(0)).await);
    let act = world.act(ada.id, AuditKind::SessionEnded, at(1));
    let event = act.event.id;

    assert_eq!(world.end_session(act, ended.id).await.unwrap(), Ok(true));

    assert!(!world.lives(ended.id, at(1)).await);
    assert!(world.lives(kept.id, at(1)).await);
    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.user_id, event.session_id), (Some(ada.id), Some(ended.id)));
    let again = world.act(ada.id, AuditKind::SessionEnded, at(2));
    let of_again = again.event.id;
    assert_eq!(world.end_session(again, ended.id).await.unwrap(), Ok(false));
    assert_eq!(world.event_of(of_again).await, None);
}

pub(super) async fn a_session_of_another_user_does_not_end(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let session = world.open_session(eve.id, at(0)).await;

    let act = world.act(ada.id, AuditKind::SessionEnded, at(1));
    assert_eq!(world.end_session(act, session.id).await.unwrap(), Ok(false));

    assert!(world.lives(session.id, at(1)).await);
}

pub(super) async fn an_admin_sets_a_password_which_ends_sessions_codes_and_tokens(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let session = world.open_session(ada.id, at(0)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;
    world.mails(at(1)).await;

    assert_eq!(world.replace_password(world.new_password(ada.id, at(1))).await.unwrap(), Ok(true));

    let candidate = world.candidate("ada", at(2)).await.unwrap();
    assert_eq!(candidate.password, Some(password("new")));
    assert!(!world.lives(session.id, at(2)).await);
    assert!(!world.can_reset(reset, at(2)).await);
    let kinds: Vec<_> = world.mails(at(2)).await.into_iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, [MailKind::PasswordReplaced]);
    let nobody = world.new_password(world.user_id(at(2)), at(2));
    assert_eq!(world.replace_password(nobody).await.unwrap(), Ok(false));
}

pub(super) async fn a_password_for_an_unverified_address_is_not_mailed_about(world: World) {
    let ada = world.unverified("ada", at(0)).await;

    assert_eq!(world.replace_password(world.new_password(ada.id, at(1))).await.unwrap(), Ok(true));

    assert_eq!(world.mails(at(2)).await.len(), 0);
}

pub(super) async fn an_admin_removes_the_text_of_a_profile(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.ban(ada.id, at(1)).await;
    let before = world.find_profile_of_any(ada.id).await.unwrap().unwrap();
    assert_ne!(before.name.as_str(), "");

    let act = world.act(ada.id, AuditKind::ProfileCleared, at(2));
    assert_eq!(world.clear_profile(act).await.unwrap(), Ok(ClearedProfile::Cleared));

    let after = world.find_profile_of_any(ada.id).await.unwrap().unwrap();
    assert_eq!(after, before.without_public_text(at(2)));
    assert!(world.deletes_profile(ada.id, at(3)).await);
    let act = world.act(ada.id, AuditKind::ProfileCleared, at(4));
    assert_eq!(world.clear_profile(act).await.unwrap(), Ok(ClearedProfile::NotFound));
}

pub(super) async fn an_admin_has_a_code_mailed(world: World) {
    let ada = world.unverified("ada", at(0)).await;

    let send = world.sent(ada.id, "ada", Purpose::VerifyEmail, at(1));
    let event = send.event.id;
    assert_eq!(world.send_email_code(send).await.unwrap(), Ok(SentEmailCode::Sent));

    let kinds: Vec<_> = world.mails(at(1)).await.into_iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, [MailKind::Verify]);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(ada.id));
    assert!(world.verifies(&key("ada"), mac(7), at(2)).await);
}

pub(super) async fn an_account_that_may_not_have_a_code_gets_none_from_an_admin(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.unverified("eve", at(0)).await);
    world.ban(eve.id, at(0)).await;
    let refused = [
        world.sent(ada.id, "ada", Purpose::VerifyEmail, at(1)),
        world.sent(eve.id, "eve", Purpose::ResetPassword, at(1)),
        world.sent(ada.id, "eve", Purpose::ResetPassword, at(1)),
        world.sent(world.user_id(at(1)), "ada", Purpose::ResetPassword, at(1)),
    ];

    for send in refused {
        let event = send.event.id;
        assert_eq!(world.send_email_code(send).await.unwrap(), Ok(SentEmailCode::Refused));
        assert_eq!(world.event_of(event).await, None);
    }

    assert_eq!(world.mails(at(2)).await.len(), 0);
}

pub(super) async fn an_admin_unlinks_an_identity_but_not_the_last_way_in(world: World) {
    let ada = world.enter(google("1", "ada"), at(0)).await;
    world.enter(google("2", "ada"), at(1)).await;
    let opened = world.list_sessions(ada.id, at(2)).await.unwrap();
    let by_admin = |subject| world.unlink_by_admin(ada.id, subject, Protection::Operators);

    let unlinked = world.unlink_identity(by_admin("2")).await.unwrap();

    assert!(matches!(unlinked, UnlinkOutcome::Unlinked(_)), "{unlinked:?}");
    let left = world.list_sessions(ada.id, at(3)).await.unwrap();
    assert_eq!((opened.len(), left.len()), (2, 1));
    let event = world.events().await.swap_remove(0);
    assert_eq!((event.user_id, event.session_id), (Some(ada.id), None));
    assert_eq!(world.unlink_identity(by_admin("1")).await.unwrap(), UnlinkOutcome::LastWayIn);
    assert_eq!(world.unlink_identity(by_admin("2")).await.unwrap(), UnlinkOutcome::NotFound);
}

pub(super) async fn acts_spare_the_accounts_of_operators(world: World) {
    let operator = world.operator("ada", Role::Viewer, at(0)).await;
    let (id, protected) = (operator.user.id, Err(OperatorRefusal::Protected));
    let spared = |kind| AccountAct { protection: Protection::Operators, ..world.act(id, kind, at(3)) };
    let password = ReplacePassword { act: spared(AuditKind::PasswordSet), ..world.new_password(id, at(3)) };

    assert_eq!(
        world.end_all_sessions(spared(AuditKind::SessionsEnded)).await.unwrap().map(|_| ()),
        protected
    );
    let one = world.end_session(spared(AuditKind::SessionEnded), operator.session.id).await.unwrap();
    assert_eq!(one.map(|_| ()), protected);
    assert_eq!(world.replace_password(password).await.unwrap().map(|_| ()), protected);
    assert_eq!(world.clear_profile(spared(AuditKind::ProfileCleared)).await.unwrap().map(|_| ()), protected);
    let lifted = world.lift_limits(&limits("ada"), spared(AuditKind::LimitsLifted)).await.unwrap();
    assert_eq!(lifted, protected);
    let unlink = world.unlink_by_admin(id, "1", Protection::Operators);
    let unlinked = world.unlink_identity(unlink).await.unwrap();
    assert_eq!(unlinked, UnlinkOutcome::Refused(OperatorRefusal::Protected));

    assert!(world.lives(operator.session.id, at(4)).await);
    let unspared = world.act(id, AuditKind::SessionsEnded, at(4));
    assert_eq!(world.end_all_sessions(unspared).await.unwrap(), Ok(Some(1)));
}
