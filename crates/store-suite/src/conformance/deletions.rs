//! Cases of accounts that their owners delete: grace period, restoral, and deletion for good. Cases with
//! concurrent calls are in `deletion_races`.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::undo::UndoableEvent;

use super::email_change_acts::{Mover, to};
use super::factor_acts::TwoStep;
use super::fixtures::{DAY, World, at, days, key, mac};
use super::oauth_acts::google;
use super::profiles::{handle, update};
use super::search::found;
use latchkey_store::{
    AnswerChallenge, Answered, Completion, CreateOutcome, DeleteAccount, DueDeletion, Entered,
    FinishedDeletion, IdentityOutcome, PasskeySignIn, Restoral, Shown, SignInOutcome, UndoLink, UndoOutcome,
    UpdateProfileOutcome, UpdateUser, UpdateUserOutcome, VerifyOutcome,
};

/// Grace period of the deletions, in days.
const GRACE: i64 = 14;

impl World {
    /// Makes an owner's request to delete the account, with a grace period of two weeks.
    pub(super) fn deletion(&self, of: Mover, now: Timestamp) -> DeleteAccount {
        let deletes_at = now.plus(days(GRACE.unsigned_abs()));
        DeleteAccount {
            user_id: of.user,
            session_id: of.session,
            deletes_at,
            event: self.event(AuditKind::DeletionScheduled, now),
            mail: Some(self.mail(now)),
            undo: Some(self.new_token(now, days(GRACE.unsigned_abs()))),
            now,
        }
    }

    /// Creates an account whose deletion is scheduled.
    pub(super) async fn in_deletion(&self, name: &'static str, now: Timestamp) -> Mover {
        let of = self.mover(name, now).await;
        assert!(self.delete_account(self.deletion(of, now)).await.unwrap().unwrap());
        self.mails(now).await;
        of
    }

    /// Makes an answer to the challenge of a sign-in that restores an account whose deletion is scheduled.
    pub(super) fn restoring(&self, challenge: TokenHash, now: Timestamp) -> AnswerChallenge {
        self.answer(challenge, ChallengeKind::Restore, Shown::Restore(self.restoral(now)), now)
    }

    pub(super) fn restoral(&self, now: Timestamp) -> Restoral {
        Restoral { event: self.event(AuditKind::DeletionCancelled, now), mail: Some(self.mail(now)) }
    }

    /// Deletes the accounts whose grace period is over, and returns their number.
    pub(super) async fn finish(&self, now: Timestamp) -> u64 {
        let due = self.list_due_deletions(now).await.unwrap();
        self.finish_deletions(self.finished(due, now), now).await.unwrap()
    }

    pub(super) fn finished(&self, due: Vec<DueDeletion>, now: Timestamp) -> Vec<FinishedDeletion> {
        let finished = |due: DueDeletion| FinishedDeletion {
            user_id: due.user_id,
            event: self.event(AuditKind::UserDeleted, now),
            mail: Some(self.mail(now)),
        };
        due.into_iter().map(finished).collect()
    }

    async fn kinds(&self, challenge: TokenHash, now: Timestamp) -> Vec<ChallengeKind> {
        self.found(challenge, now).await.unwrap().kinds
    }
}

pub(super) async fn a_deleted_account_is_hidden_and_signed_out(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.update_profile(update(ada.user, handle("countess"))).await.unwrap();
    let other = world.open_session(ada.user, at(0)).await;
    let reset = world.reset_token("ada", at(0)).await;
    world.begun(ada, "eva", at(0)).await;
    world.mails(at(0)).await;
    let delete = world.deletion(ada, at(1));
    let event = delete.event.id;

    assert!(world.delete_account(delete).await.unwrap().unwrap());

    assert_eq!(world.user(ada.user).await.deletes_at, Some(at(1 + GRACE * DAY)));
    for session in [ada.session, other.id] {
        assert!(!world.lives(session, at(1)).await);
    }
    assert!(!world.can_reset(reset, at(1)).await);
    assert_eq!(world.find_profile(ada.user).await.unwrap(), None);
    assert!(found(&world, "ada").await.is_empty() && found(&world, "countess").await.is_empty());
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(ada.user));
    assert_eq!(world.told(at(1)).await, [(MailKind::DeletionScheduled, to("ada"))]);
    let again = world.create_account(world.account("ada", at(2))).await.unwrap();
    assert_eq!(again, CreateOutcome::EmailTaken);
    let eve = world.verified("eve", at(2)).await;
    let taken = world.update_profile(update(eve.id, handle("countess"))).await.unwrap();
    assert_eq!(taken, UpdateProfileOutcome::UsernameTaken);
}

pub(super) async fn only_a_live_session_of_the_account_deletes_it(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let eve = world.mover("eve", at(0)).await;
    let foreign = world.deletion(Mover { session: eve.session, ..ada }, at(1));

    assert!(!world.delete_account(foreign).await.unwrap().unwrap());

    assert_eq!(world.user(ada.user).await.deletes_at, None);
    assert!(world.delete_account(world.deletion(ada, at(1))).await.unwrap().unwrap());
    assert!(!world.delete_account(world.deletion(ada, at(2))).await.unwrap().unwrap(), "the session ended");
    assert_eq!(world.user(eve.user).await.deletes_at, None);
}

pub(super) async fn every_way_in_asks_whether_to_restore(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.enter(google("1", "ada"), at(0)).await;
    let passkey = world.add_passkey(ada.user, ada.session, at(0)).await;
    assert!(world.delete_account(world.deletion(ada, at(1))).await.unwrap().unwrap());
    let eve = world.unverified("eve", at(0)).await;
    let session = world.open_session(eve.id, at(0)).await.id;
    let of_eve = world.deletion(Mover { user: eve.id, session, name: "eve" }, at(1));
    assert!(world.delete_account(of_eve).await.unwrap().unwrap());
    world.send_code(&key("eve"), Purpose::VerifyEmail, mac(1), at(2)).await;
    let restore = Entered::Challenge(vec![ChallengeKind::Restore]);

    let by_password = world.right(ada.user, "secret", None, at(2));
    let by_password = world.sign_in(by_password).await.unwrap().unwrap();
    let by_identity = world.with_identity(google("1", "ada"), at(2));
    let by_identity = world.sign_in_with_identity(by_identity).await.unwrap();
    let by_passkey = world.passkey_sign_in(passkey.id, 6, at(2));
    let by_passkey = world.sign_in_with_passkey(by_passkey).await.unwrap();
    let by_code = world.verify(&key("eve"), mac(1), at(2)).await;

    assert_eq!(by_password, SignInOutcome::Entered(restore.clone()));
    assert_eq!(by_identity, IdentityOutcome::Entered(restore.clone()));
    assert_eq!(by_passkey, PasskeySignIn::Entered(restore.clone()));
    assert_eq!(by_code, VerifyOutcome::Entered(restore));
    assert!(world.list_sessions(ada.user, at(3)).await.unwrap().is_empty());
    assert!(world.user(ada.user).await.is_in_deletion());
}

pub(super) async fn the_answer_restores_and_signs_in_once(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let challenge = world.challenged(ada.user, at(1)).await;
    let other = world.challenged(ada.user, at(1)).await;
    let answer = world.restoring(challenge, at(2));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let session = completed.session.id;

    let answered = world.judged(answer.clone()).await;

    assert!(matches!(answered, Answered::Entered(Entered::Session(owner)) if owner.deletes_at.is_none()));
    assert!(world.lives(session, at(2)).await);
    assert!(world.find_profile(ada.user).await.unwrap().is_some());
    assert_eq!(found(&world, "ada").await, [ada.user]);
    assert_eq!(world.told(at(2)).await, [(MailKind::DeletionCancelled, to("ada"))]);
    let Shown::Restore(restoral) = &answer.shown else { unreachable!() };
    assert_eq!(world.event_of(restoral.event.id).await.unwrap().user_id, Some(ada.user));
    assert_eq!(world.judged(answer).await, Answered::Invalid, "once");
    assert_eq!(world.judged(world.restoring(other, at(3))).await, Answered::Invalid, "the others are void");
    assert_eq!(world.finish(at(GRACE * DAY)).await, 0);
    assert!(world.lives(session, at(GRACE * DAY)).await);
}

pub(super) async fn a_second_factor_comes_before_the_restoral(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let ada = Mover { user: user.id, session: session.id, name: "ada" };
    assert!(world.delete_account(world.deletion(ada, at(1))).await.unwrap().unwrap());
    let first = world.challenged(user.id, at(2)).await;
    assert_eq!(world.kinds(first, at(2)).await, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    assert_eq!(world.judged(world.restoring(first, at(2))).await, Answered::Invalid, "not yet");
    let answer = world.totp_answer(first, factor, 200, at(2));
    let Completion::SignIn(_, next) = &answer.completes else { unreachable!() };
    let next = next.hash;

    let answered = world.judged(answer).await;

    assert_eq!(answered, Answered::Entered(Entered::Challenge(vec![ChallengeKind::Restore])));
    assert!(world.user(user.id).await.is_in_deletion());
    let found = world.found(next, at(3)).await.unwrap();
    assert_eq!(found.methods.unwrap().level(), Level::Two);
    assert!(matches!(
        world.judged(world.restoring(next, at(3))).await,
        Answered::Entered(Entered::Session(_))
    ));
}

pub(super) async fn the_session_remembers_the_passkey_and_identity_from_before_the_restoral(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let passkey = world.add_passkey(ada.user, ada.session, at(0)).await;
    assert!(world.delete_account(world.deletion(ada, at(1))).await.unwrap().unwrap());
    let sign_in = world.passkey_sign_in(passkey.id, 6, at(2));
    let challenge = sign_in.entry.challenge.hash;
    world.sign_in_with_passkey(sign_in).await.unwrap();
    let answer = world.restoring(challenge, at(3));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let by_passkey = completed.session.id;
    assert!(matches!(world.judged(answer).await, Answered::Entered(Entered::Session(_))));

    world.take_passkey((ada.user, by_passkey), passkey.id, at(4)).await;
    let sign_in = world.with_identity(google("1", "ada"), at(5));
    assert!(matches!(world.sign_in_with_identity(sign_in).await.unwrap(), IdentityOutcome::Entered(_)));
    let caller = world.open_session(ada.user, at(5)).await;
    let mover = Mover { session: caller.id, ..ada };
    assert!(world.delete_account(world.deletion(mover, at(6))).await.unwrap().unwrap());
    let sign_in = world.with_identity(google("1", "ada"), at(7));
    let challenge = sign_in.entry.challenge.hash;
    world.sign_in_with_identity(sign_in).await.unwrap();
    let answer = world.restoring(challenge, at(8));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let by_identity = completed.session.id;
    world.judged(answer).await;
    assert!(world.lives(by_identity, at(8)).await);
    world.unlink(ada.user, "google", None, at(9)).await;
    assert!(!world.lives(by_identity, at(9)).await);
}

pub(super) async fn an_account_is_gone_after_its_grace(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let event = world.events().await[0].id;
    let challenge = world.challenged(ada.user, at(GRACE * DAY - 1)).await;
    assert_eq!(world.finish(at(GRACE * DAY - 1)).await, 0);
    let now = at(GRACE * DAY);

    assert_eq!(world.finish(now).await, 1);

    assert_eq!(world.find_user(ada.user).await.unwrap(), None);
    assert_eq!(world.judged(world.restoring(challenge, now)).await, Answered::Invalid);
    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.user_id, event.client), (Some(ada.user), None));
    assert!(world.events().await.iter().any(|event| event.kind == AuditKind::UserDeleted));
    assert_eq!(world.told(now).await, [(MailKind::AccountDeleted, to("ada"))]);
    assert_eq!(world.finish(now).await, 0);
    world.verified("ada", now).await;
}

pub(super) async fn a_restored_account_is_not_finished(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let now = at(GRACE * DAY);
    let due = world.list_due_deletions(now).await.unwrap();
    assert_eq!(due, [DueDeletion { user_id: ada.user, locale: None }]);
    let challenge = world.challenged(ada.user, now).await;
    world.judged(world.restoring(challenge, now)).await;

    let finished = world.finish_deletions(world.finished(due, now), now).await.unwrap();

    assert_eq!(finished, 0);
    assert!(!world.user(ada.user).await.is_in_deletion());
}

pub(super) async fn without_a_grace_it_is_gone_at_once(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.mails(at(0)).await;
    let event = world.event(AuditKind::UserDeleted, at(1));
    let id = event.id;
    let delete = DeleteAccount { deletes_at: at(1), event, undo: None, ..world.deletion(ada, at(1)) };

    assert!(world.delete_account(delete).await.unwrap().unwrap());

    assert_eq!(world.find_user(ada.user).await.unwrap(), None);
    assert_eq!(world.event_of(id).await.unwrap().user_id, Some(ada.user));
    assert_eq!(world.told(at(1)).await, [(MailKind::AccountDeleted, to("ada"))]);
}

pub(super) async fn its_undo_link_restores_the_account(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let delete = world.deletion(ada, at(1));
    let undo = delete.undo.unwrap().hash;
    world.delete_account(delete).await.unwrap().unwrap();
    world.mails(at(1)).await;
    let link = UndoLink { event: UndoableEvent::DeletionScheduled, happened_at: at(1) };
    assert_eq!(world.find_undo(undo, &[], at(2)).await.unwrap().unwrap(), Some(link));
    assert_eq!(world.find_undo(undo, &[], at(1 + GRACE * DAY)).await.unwrap().unwrap(), None, "too late");

    let outcome = world.undo(world.use_undo(undo, "ada", at(3))).await.unwrap().unwrap();

    assert_eq!(outcome, UndoOutcome::Undone);
    let user = world.user(ada.user).await;
    assert_eq!((user.deletes_at, user.has_password), (None, false));
    assert_eq!(found(&world, "ada").await, [ada.user]);
    let told = [(MailKind::Reset, to("ada")), (MailKind::Undone, to("ada"))];
    assert_eq!(world.told(at(3)).await, told);
    assert_eq!(world.finish(at(2 * GRACE * DAY)).await, 0);
}

pub(super) async fn an_undo_of_an_earlier_event_ends_the_deletion(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (undo, eva) = world.moved(ada, "eva", at(1)).await;
    assert!(world.delete_account(world.deletion(eva, at(2))).await.unwrap().unwrap());
    world.mails(at(2)).await;

    let outcome = world.undo(world.use_undo(undo, "ada", at(3))).await.unwrap().unwrap();

    assert_eq!(outcome, UndoOutcome::Undone);
    assert_eq!(world.user(ada.user).await.deletes_at, None);
    assert!(world.find_profile(ada.user).await.unwrap().is_some());
    let told = [(MailKind::Reset, to("ada")), (MailKind::Undone, to("ada")), (MailKind::Undone, to("eva"))];
    assert_eq!(world.told(at(3)).await, told);
}

pub(super) async fn an_admin_restores_and_deletes(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let restore = |now| UpdateUser { restore: Some(world.restoral(now)), ..world.change(ada.user, now) };
    let update = restore(at(1));
    let event = update.restore.as_ref().unwrap().event.id;

    let UpdateUserOutcome::Updated(user) = world.update_user(update).await.unwrap() else { panic!() };

    assert_eq!(user.deletes_at, None);
    assert!(world.event_of(event).await.is_some());
    assert_eq!(world.told(at(1)).await, [(MailKind::DeletionCancelled, to("ada"))]);
    let again = restore(at(2));
    let event = again.restore.as_ref().unwrap().event.id;
    world.update_user(again).await.unwrap();
    assert_eq!((world.event_of(event).await, world.told(at(2)).await), (None, vec![]), "nothing to restore");
    let eve = world.in_deletion("eve", at(3)).await;
    let gone = world.delete(&[eve.user], vec![world.event(AuditKind::UserDeleted, at(4))]).await;
    assert_eq!(gone, 1);
}

pub(super) async fn in_the_grace_there_are_no_mails_but_of_sign_in_and_reset(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let eve = world.mover("eve", at(0)).await;
    world.mails(at(0)).await;

    let sign_up = world.sign_up("ada", super::fixtures::password("x"), mac(1), at(1));
    world.sign_up_pending(sign_up).await.unwrap();
    world.begun(eve, "ada", at(1)).await;
    world
        .reset_factors(latchkey_store::ResetFactors {
            user_id: ada.user,
            with_passkeys: true,
            event: world.event(AuditKind::FactorsReset, at(1)),
            mail: Some(world.mail(at(1))),
            protection: latchkey_domain::operator::Protection::Operators,
            even_last_owner: false,
            now: at(1),
        })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(world.told(at(1)).await, [(MailKind::EmailChange, to("eve"))], "the caller's own mail alone");
    let token = world.reset_token("ada", at(2)).await;
    assert!(world.reset(token, "new", at(2)).await.is_some());

    assert_eq!(world.told(at(2)).await, [(MailKind::Reset, to("ada"))]);
    assert!(world.user(ada.user).await.is_in_deletion(), "a reset restores nothing");
}

pub(super) async fn a_profile_changed_in_the_grace_stays_hidden(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;

    world.ban(ada.user, at(1)).await;
    world.update_user(UpdateUser { banned: Some(false), ..world.change(ada.user, at(2)) }).await.unwrap();
    assert!(world.deletes_profile(ada.user, at(3)).await);

    assert_eq!(world.find_profile(ada.user).await.unwrap(), None);
    assert!(found(&world, "ada").await.is_empty());
}
