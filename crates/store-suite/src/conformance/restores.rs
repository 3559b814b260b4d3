//! Cases of restored databases: sessions, half sign-ins and keys end, unless they are kept, and old mails are given up.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email_change::EmailChangeId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    ConfirmedEmailChange, LinkStatus, ListMails, MailState, NewSigningKey, SettleRestored, SettledRestored,
    StateOutcome, TakenCode,
};

use super::acts::known;
use super::email_change_acts::{CURRENT, Mover, NEW};
use super::fixtures::{HOUR, World, at, key, mac};
use super::oauth_acts::google;
use super::signing_keys::new_key;

fn settle(world: &World, key: Option<NewSigningKey>, seconds: i64) -> SettleRestored {
    let event = world.event(AuditKind::DatabaseRestored, at(seconds));
    SettleRestored { key, mails_since: at(seconds - HOUR), event, now: at(seconds) }
}

pub(super) async fn all_sessions_of_a_restored_database_end(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let sessions = [world.open_session(ada.id, at(0)).await, world.open_session(eve.id, at(1)).await];
    let key = new_key(&world, at(2));

    let settled = world.settle_restored(settle(&world, Some(key), 2)).await.unwrap();

    assert_eq!(settled, SettledRestored { sessions: 2, mails: 0 });
    for session in sessions {
        assert!(!world.lives(session.id, at(2)).await);
    }
}

pub(super) async fn no_earlier_key_of_a_restored_database_is_accepted(world: World) {
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));
    world.ensure_signing_key(first.clone()).await.unwrap();
    let event = world.event(AuditKind::KeyRotated, at(1));
    world.rotate_signing_key(second, first.id, at(HOUR), event).await.unwrap();
    let third = new_key(&world, at(2));
    let version = world.shared_version().await.unwrap();

    world.settle_restored(settle(&world, Some(third.clone()), 2)).await.unwrap();

    let listed: Vec<_> =
        world.list_signing_keys(at(2)).await.unwrap().into_iter().map(|key| key.id).collect();
    assert_eq!(listed, [third.id]);
    assert!(world.shared_version().await.unwrap() > version);
}

pub(super) async fn kept_sessions_and_keys_of_a_restored_database_go_on(world: World) {
    let key = new_key(&world, at(0));
    world.ensure_signing_key(key.clone()).await.unwrap();
    let ada = world.verified("ada", at(0)).await;
    let session = world.open_session(ada.id, at(0)).await;

    let settled = world.settle_restored(settle(&world, None, 2)).await.unwrap();

    assert_eq!(settled.sessions, 0);
    assert!(world.lives(session.id, at(2)).await);
    assert_eq!(world.list_signing_keys(at(2)).await.unwrap()[0].id, key.id);
}

/// What may be half done when a backup is made.
struct HalfDone {
    challenge: TokenHash,
    verify_link: TokenHash,
    reset_link: TokenHash,
    flow: TokenHash,
    oauth_code: TokenHash,
    change: (Mover, EmailChangeId),
    undo: TokenHash,
}

async fn half_done(world: &World) -> HalfDone {
    let ada = world.verified("ada", at(0)).await;
    let undo = world.turn_on_with_undo(ada.id, at(0)).await.1;
    world.unverified("bob", at(0)).await;
    let (flow, code) = (world.flow(None, at(1)), world.oauth_code(google("1", "Ada"), None, at(1)));
    world.begin_flow(flow.clone()).await.unwrap();
    world.save_oauth_code(code.clone()).await.unwrap();
    let mover = world.mover("mia", at(0)).await;
    let (change, _) = world.begun(mover, "new", at(1)).await;
    world.unverified("eve", at(0)).await;
    world.send_code(&key("eve"), Purpose::VerifyEmail, mac(1), at(1)).await;
    HalfDone {
        challenge: world.challenged(ada.id, at(1)).await,
        verify_link: world.send_link(&key("bob"), Purpose::VerifyEmail, at(1)).await,
        reset_link: world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await,
        flow: flow.state,
        oauth_code: code.code,
        change: (mover, change),
        undo,
    }
}

impl HalfDone {
    /// Tells for each whether it can be completed. Each is completed that can be.
    async fn complete(&self, world: &World) -> [bool; 7] {
        let now = at(3);
        [
            world.found(self.challenge, now).await.is_some(),
            world.look(self.verify_link, Purpose::VerifyEmail, now).await == known(LinkStatus::Good),
            world.can_reset(self.reset_link, now).await,
            matches!(world.take_flow(self.flow, now).await.unwrap(), StateOutcome::Taken(_)),
            matches!(
                world.present_code(self.oauth_code, "verifier", None, now).await,
                TakenCode::Good { .. }
            ),
            matches!(
                world.entered(self.change.0, self.change.1, (Some(NEW), Some(CURRENT)), now).await,
                ConfirmedEmailChange::Changed(_)
            ),
            world.verifies(&key("eve"), mac(1), now).await,
        ]
    }
}

pub(super) async fn no_half_sign_in_of_a_restored_database_goes_on(world: World) {
    let half = half_done(&world).await;
    let key = new_key(&world, at(2));

    world.settle_restored(settle(&world, Some(key), 2)).await.unwrap();

    assert_eq!(half.complete(&world).await, [false; 7]);
    let undo = world.find_undo(half.undo, &[], at(3)).await.unwrap().unwrap();
    assert!(undo.is_some(), "the owner still reverses what a thief changed");
}

pub(super) async fn half_sign_ins_go_on_with_kept_sessions(world: World) {
    let half = half_done(&world).await;

    world.settle_restored(settle(&world, None, 2)).await.unwrap();

    assert_eq!(half.complete(&world).await, [true; 7]);
}

pub(super) async fn mails_of_a_restored_database_whose_code_has_ended_are_dead(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.turn_on(ada.id, at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(1)).await;
    let key = new_key(&world, at(2));

    let settled = world.settle_restored(settle(&world, Some(key), 2)).await.unwrap();

    let mails = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
    let (dead, queued): (Vec<_>, Vec<_>) = mails.iter().partition(|mail| mail.state == MailState::Dead);
    assert_eq!(settled.mails, dead.len() as u64);
    assert_eq!(dead.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::Reset]);
    assert!(queued.iter().any(|mail| mail.kind == MailKind::TwoStepOn), "{mails:?}");
}

pub(super) async fn old_mails_of_a_restored_database_are_dead(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(1)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(2), at(HOUR)).await;

    let settled = world.settle_restored(settle(&world, None, HOUR + 10)).await.unwrap();

    assert_eq!(settled.mails, 1);
    let mails = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
    let states: Vec<_> = mails.iter().map(|mail| (mail.created_at, mail.state)).collect();
    assert_eq!(states, [(at(HOUR), MailState::Queued), (at(1), MailState::Dead)]);
    assert_eq!(mails[1].last_error.as_deref(), Some("restored from a backup"));
}
