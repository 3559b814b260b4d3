//! Cases of mailed links that undo a change of address, and of the former address, which stays reserved while
//! the link is valid.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::factors::TotpStep;
use latchkey_domain::identity::IdentityRefusal;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::NewSession;
use latchkey_domain::undo::UndoableEvent;

use super::email_change_acts::{CURRENT, Mover, NEW, to};
use super::factor_acts::{FIRST_STEP, TwoStep};
use super::fixtures::{DAY, HOUR, World, at, email, key, mac, password};
use super::oauth_acts::google;
use latchkey_store::{
    AnswerChallenge, Answered, BeginSignUp, Completion, ConfirmedEmailChange, CreateOutcome, Shown,
    SignInSubject, SignUpOutcome, UndoLink, UndoOutcome, UpdateUser, UpdateUserOutcome,
};

impl World {
    async fn undone(&self, token: latchkey_domain::tokens::TokenHash, name: &str, now: i64) -> UndoOutcome {
        self.undo(self.use_undo(token, name, at(now))).await.unwrap().unwrap()
    }
}

pub(super) async fn the_old_mailbox_takes_the_address_back(world: World) {
    let ada = world.mover("Ada", at(0)).await;
    let (undo, eva) = world.moved(ada, "eva", at(1)).await;
    let reset = world.reset_token("eva", at(2)).await;
    world.begun(eva, "eve", at(2)).await;
    world.mails(at(2)).await;
    let link = UndoLink { event: UndoableEvent::EmailChanged, happened_at: at(1) };
    assert_eq!(world.find_undo(undo, &[], at(3)).await.unwrap().unwrap(), Some(link));
    let reserved = world.list_reserved_emails(ada.user, at(3)).await.unwrap();
    assert_eq!(reserved.iter().map(|(email, _)| email.as_typed()).collect::<Vec<_>>(), ["Ada@example.org"]);
    assert_eq!(world.list_reserved_emails(ada.user, reserved[0].1).await.unwrap(), []);
    assert_eq!(world.undone(undo, "eva", 3).await, UndoOutcome::Refused, "the mail went to the old address");

    assert_eq!(world.undone(undo, "ada", 3).await, UndoOutcome::Undone);

    let user = world.user(ada.user).await;
    assert_eq!(
        (user.email.as_typed(), user.email_verified, user.has_password),
        ("Ada@example.org", true, false)
    );
    assert!(!world.lives(ada.session, at(3)).await && !world.can_reset(reset, at(3)).await);
    let told = [(MailKind::Reset, to("ada")), (MailKind::Undone, to("ada")), (MailKind::Undone, to("eva"))];
    assert_eq!(world.told(at(3)).await, told);
    assert_eq!(world.find_user_by_email(&key("eva")).await.unwrap(), None);
    let token = world.exchange(&key("ada"), mac(9), at(4)).await.unwrap();
    assert!(world.reset(token, "fresh", at(4)).await.is_some());
    assert_eq!(world.undone(undo, "ada", 5).await, UndoOutcome::Refused, "once");
    world.verified("eva", at(6)).await;
}

pub(super) async fn identities_since_the_day_before_the_change_go(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.enter(google("1", "ada"), at(HOUR)).await;
    world.enter(google("2", "ada"), at(2 * HOUR)).await;
    let (undo, eva) = world.moved(ada, "eva", at(2 * HOUR + DAY)).await;
    let session = NewSession { id: eva.session, ..world.session(at(0)) };
    world.link(eva.user, &session, google("3", "eva"), at(3 * HOUR + DAY)).await;

    assert_eq!(world.undone(undo, "ada", 4 * HOUR + DAY).await, UndoOutcome::Undone);

    let left = world.list_identities(ada.user).await.unwrap();
    assert_eq!(left.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["1"]);
}

pub(super) async fn an_earlier_link_ends_the_later_ones_with_their_reservations(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (first, eva) = world.moved(ada, "eva", at(1)).await;
    let (second, _) = world.moved(eva, "eve", at(2)).await;
    assert_eq!(world.create_account(world.account("eva", at(3))).await.unwrap(), CreateOutcome::EmailTaken);

    assert_eq!(world.undone(first, "ada", 3).await, UndoOutcome::Undone);

    assert_eq!(world.user(ada.user).await.email, email("ada"));
    assert_eq!(world.undone(second, "eva", 4).await, UndoOutcome::Refused);
    world.verified("eva", at(4)).await;
    world.verified("eve", at(4)).await;
}

pub(super) async fn a_later_link_leaves_the_earlier_one(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (first, eva) = world.moved(ada, "eva", at(1)).await;
    let (second, _) = world.moved(eva, "eve", at(2)).await;

    assert_eq!(world.undone(second, "eva", 3).await, UndoOutcome::Undone);

    assert_eq!(world.user(ada.user).await.email, email("eva"));
    assert_eq!(world.undone(first, "ada", 4).await, UndoOutcome::Undone);
    assert_eq!(world.user(ada.user).await.email, email("ada"));
}

pub(super) async fn two_step_from_before_the_change_is_asked_for(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let ada = Mover { user: user.id, session: session.id, name: "ada" };
    let now = at(2 * DAY);
    let (undo, _) = world.moved(ada, "eva", now).await;
    world.mails(now).await;
    let link = world.use_undo(undo, "ada", now);
    let challenge = link.challenge.hash;

    let UndoOutcome::Challenged(kinds) = world.undo(link).await.unwrap().unwrap() else { panic!() };

    assert_eq!(kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    assert_eq!(world.user(user.id).await.email, email("eva"), "not yet");
    let found = world.found(challenge, now).await.unwrap();
    assert_eq!(found.undo_email, Some(key("ada")));
    let writes = world.use_undo(undo, "ada", now).writes;
    let answer = world.totp_answer(challenge, factor, FIRST_STEP + 1, now);
    let answer = AnswerChallenge { completes: Completion::Undo(Box::new(writes)), ..answer };
    assert_eq!(world.judged(answer).await, Answered::Undone);
    let owner = world.user(user.id).await;
    assert!(owner.has_two_step() && !owner.has_password);
    assert_eq!(owner.email, email("ada"));
    let told = [(MailKind::Reset, to("ada")), (MailKind::Undone, to("ada")), (MailKind::Undone, to("eva"))];
    assert_eq!(world.told(now).await, told);
}

pub(super) async fn a_recovery_code_of_an_undo_is_told_at_the_address_that_is_back(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    let now = at(2 * DAY);
    let (undo, _) = world.moved(Mover { user: user.id, session: session.id, name: "ada" }, "eva", now).await;
    let link = world.use_undo(undo, "ada", now);
    let challenge = link.challenge.hash;
    world.undo(link).await.unwrap().unwrap();
    world.mails(now).await;
    let writes = world.use_undo(undo, "ada", now).writes;
    let answer = world.recovery_answer(challenge, 0, super::factor_acts::RECOVERY_CODES, now);

    let answer = AnswerChallenge { completes: Completion::Undo(Box::new(writes)), ..answer };
    assert_eq!(world.judged(answer).await, Answered::Undone);

    assert!(world.told(now).await.contains(&(MailKind::RecoveryCodeUsed, to("ada"))));
}

pub(super) async fn an_undo_for_another_address_completes_no_challenge(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let now = at(2 * DAY);
    let (undo, _) = world.moved(Mover { user: user.id, session: session.id, name: "ada" }, "eva", now).await;
    let link = world.use_undo(undo, "ada", now);
    let challenge = link.challenge.hash;
    world.undo(link).await.unwrap().unwrap();

    let writes = world.use_undo(undo, "eva", now).writes;
    let shown = Shown::Totp(factor, TotpStep(FIRST_STEP + 1));
    let answer = world.answer(challenge, ChallengeKind::Totp, shown, now);
    let answer = AnswerChallenge { completes: Completion::Undo(Box::new(writes)), ..answer };

    assert_eq!(world.judged(answer).await, Answered::Invalid);
}

pub(super) async fn the_link_of_two_step_gives_a_later_changed_address_back(world: World) {
    let user = world.verified("ada", at(0)).await.id;
    let undo = world.turn_on_with_undo(user, at(1)).await.1;
    let session = world.list_sessions(user, at(1)).await.unwrap()[0].id;
    let (later, _) = world.moved(Mover { user, session, name: "ada" }, "eva", at(2)).await;

    assert_eq!(world.undone(undo, "ada", 3).await, UndoOutcome::Undone);

    let owner = world.user(user).await;
    assert_eq!((owner.email.clone(), owner.has_two_step()), (email("ada"), false));
    assert_eq!(world.undone(later, "ada", 4).await, UndoOutcome::Refused);
}

pub(super) async fn a_change_by_an_admin_ends_links_and_reservations(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (undo, eva) = world.moved(ada, "eva", at(1)).await;

    world.move_to(eva.user, "eve", at(2)).await;

    assert_eq!(world.undone(undo, "ada", 3).await, UndoOutcome::Refused);
    world.verified("ada", at(4)).await;
}

pub(super) async fn a_link_and_its_reservation_last_as_long_as_the_window(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (undo, _) = world.moved(ada, "eva", at(1)).await;
    let last = 7 * DAY;
    let early = world.create_account(world.account("ada", at(last))).await.unwrap();
    assert_eq!(early, CreateOutcome::EmailTaken);

    assert_eq!(world.undone(undo, "ada", last + 1).await, UndoOutcome::Refused);

    assert_eq!(world.find_undo(undo, &[], at(last + 1)).await.unwrap().unwrap(), None);
    world.verified("ada", at(last + 1)).await;
    world.purge(at(last + 2)).await.unwrap();
    assert_eq!(world.undone(undo, "ada", 2).await, UndoOutcome::Refused);
}

pub(super) async fn a_reserved_address_is_taken_for_everybody_else(world: World) {
    let (ada, eve) = (world.mover("ada", at(0)).await, world.mover("eve", at(0)).await);
    let (_, eva) = world.moved(ada, "eva", at(1)).await;
    world.mails(at(1)).await;

    let begun = world.begin_sign_up(&key("ada"), &[], at(2)).await.unwrap().unwrap();
    assert_eq!(begun, BeginSignUp::Taken(None));
    let sign_up = world.sign_up("ada", password("x"), mac(1), at(2));
    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);
    let create = world.create_account(world.account("ada", at(2))).await.unwrap();
    assert_eq!(create, CreateOutcome::EmailTaken);
    let update = UpdateUser { email: Some(email("ada")), ..world.change(eve.user, at(2)) };
    assert_eq!(world.update_user(update).await.unwrap(), UpdateUserOutcome::EmailTaken);
    assert_eq!(world.refused(google("1", "ada"), at(2)).await, IdentityRefusal::SignInToLink);
    let (id, _) = world.begun(eve, "ada", at(2)).await;
    assert_eq!(world.told(at(2)).await, [(MailKind::EmailChange, to("eve"))], "nothing is mailed there");
    let refused = world.entered(eve, id, (Some(NEW), Some(CURRENT)), at(3)).await;
    assert_eq!(refused, ConfirmedEmailChange::Refused);
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), None);

    let (_, back) = world.moved(eva, "ada", at(4)).await;
    assert_eq!(world.user(back.user).await.email, email("ada"), "not for the account itself");
}

pub(super) async fn an_admin_gives_an_account_its_reserved_address(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.moved(ada, "eva", at(1)).await;

    world.move_to(ada.user, "ada", at(2)).await;

    assert_eq!(world.user(ada.user).await.email, email("ada"));
}

pub(super) async fn an_address_reserved_meanwhile_is_lost_to_a_change(world: World) {
    let (ada, eve) = (world.mover("ada", at(0)).await, world.mover("eve", at(0)).await);
    let (id, _) = world.begun(eve, "wanted", at(1)).await;
    let (_, there) = world.moved(ada, "wanted", at(2)).await;
    world.moved(there, "eva", at(3)).await;

    let outcome = world.entered(eve, id, (Some(NEW), Some(CURRENT)), at(4)).await;

    assert_eq!(outcome, ConfirmedEmailChange::Taken);
}

pub(super) async fn the_last_sign_up_is_stored_for_a_reserved_address(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let email = key("ada");
    let subject = async |now| world.begin_sign_in(&email, &[], None, now).await.unwrap().unwrap();
    assert!(matches!(subject(at(0)).await, SignInSubject::Account(_)));
    world.moved(ada, "eva", at(1)).await;
    assert_eq!(subject(at(2)).await, SignInSubject::Reserved(None));

    for secret in ["first", "second"] {
        world.sign_up_pending(world.sign_up("ada", password(secret), mac(1), at(3))).await.unwrap();
    }

    let reserved = SignInSubject::Reserved(Some(password("second")));
    assert_eq!(subject(at(4)).await, reserved);
    assert_eq!(subject(at(8 * DAY)).await, SignInSubject::Unknown);
    assert_eq!(world.candidate("eva", at(4)).await.unwrap().last_sign_up, None);
}

pub(super) async fn an_undo_of_a_change_changes_no_other_account(world: World) {
    let (ada, eve) = (world.mover("ada", at(0)).await, world.mover("eve", at(0)).await);
    let (undo, _) = world.moved(ada, "eva", at(1)).await;
    let (kept, _) = world.moved(eve, "bob", at(1)).await;
    let before = world.user(eve.user).await;

    assert_eq!(world.undone(undo, "ada", 2).await, UndoOutcome::Undone);

    assert_eq!(world.user(eve.user).await, before);
    assert!(world.lives(eve.session, at(2)).await);
    assert!(world.find_undo(kept, &[], at(2)).await.unwrap().unwrap().is_some());
}
