//! Cases of changes of address that end (completed, cancelled or expired), and of what a completed change
//! leaves in the account.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;

use super::email_change_acts::{CURRENT, Mover, NEW};
use super::fixtures::{DAY, HOME, STRANGER, World, at, key, lane, mac, password};
use super::numbered::entry;
use super::oauth_acts::google;
use latchkey_store::{Entered, NewAccount, SignUpOutcome, UpdateUser};

use latchkey_store::ConfirmedEmailChange::NotFound;

pub(super) async fn what_ends_the_codes_of_an_account_ends_its_change(world: World) {
    let set_up = |name: &'static str| {
        let world = world.clone();
        async move {
            let of = world.mover(name, at(0)).await;
            let (id, _) = world.begun(of, "new", at(1)).await;
            (of, id)
        }
    };
    let (reset, id_of_reset) = set_up("reset").await;
    let token = world.reset_token("reset", at(2)).await;
    world.reset(token, "fresh", at(2)).await.unwrap();
    let (moved, id_of_moved) = set_up("moved").await;
    world.move_to(moved.user, "elsewhere", at(2)).await;
    let (banned, id_of_banned) = set_up("banned").await;
    world.ban(banned.user, at(2)).await;
    let (stepped, id_of_stepped) = set_up("stepped").await;
    world.turn_on(stepped.user, at(2)).await;
    let lift = UpdateUser { banned: Some(false), ..world.change(banned.user, at(2)) };
    world.update_user(lift).await.unwrap();

    let moved = Mover { name: "elsewhere", ..moved };
    for (of, id) in
        [(reset, id_of_reset), (moved, id_of_moved), (banned, id_of_banned), (stepped, id_of_stepped)]
    {
        let session = match world.list_sessions(of.user, at(3)).await.unwrap().first() {
            Some(live) => live.id,
            None if of.name == "reset" => world.enter_by_password(of, "fresh").await,
            None => world.open_session(of.user, at(3)).await.id,
        };
        let of = Mover { session, ..of };
        assert_eq!(world.entered(of, id, (Some(NEW), Some(CURRENT)), at(4)).await, NotFound, "{}", of.name);
    }
}

impl World {
    /// Signs in with this password; returns the session.
    async fn enter_by_password(&self, of: Mover, secret: &str) -> latchkey_domain::ids::SessionId {
        let sign_in = self.right(of.user, secret, None, at(3));
        let session = sign_in.entry.session.id;
        self.sign_in(sign_in).await.unwrap().unwrap();
        session
    }
}

pub(super) async fn a_cancelled_change_is_gone(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    let event = world.event(AuditKind::EmailChangeCancelled, at(2));
    let cancel = |event| world.cancel_email_change(ada.user, ada.session, event, at(2));

    assert!(cancel(event.clone()).await.unwrap());

    assert_eq!(world.event_of(event.id).await.unwrap().user_id, Some(ada.user));
    assert_eq!(world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(3)).await, NotFound);
    let again = world.event(AuditKind::EmailChangeCancelled, at(2));
    assert!(!cancel(again.clone()).await.unwrap());
    assert_eq!(world.event_of(again.id).await, None);
}

pub(super) async fn a_known_client_is_known_under_the_new_address(world: World) {
    let user = world.create_in(world.account("ada", at(0)), world.session(at(0))).await.id; // signed up from HOME
    let ada = Mover { user, session: world.open_session(user, at(0)).await.id, name: "ada" };
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    let confirm = world.entering(ada, id, (Some(mac(NEW)), Some(mac(CURRENT))), HOME, at(2));
    world.confirm_email_change(confirm).await.unwrap().unwrap();
    let guess = |host| latchkey_store::CodeAttempt {
        lane: lane(&key("eva"), host),
        ..world.attempt(&key("eva"), mac(99), at(3))
    };
    let token = || world.new_token(at(3), std::time::Duration::from_mins(15));
    for _ in 0..10 {
        world.exchange_reset_code(guess(STRANGER), token()).await.unwrap().unwrap();
    }

    world.send_code(&key("eva"), Purpose::ResetPassword, mac(1), at(3)).await;

    let right = latchkey_store::CodeAttempt { mac: mac(1), ..guess(HOME) };
    let outcome = world.exchange_reset_code(right, token()).await.unwrap().unwrap();
    assert_eq!(outcome, latchkey_store::ExchangeOutcome::Exchanged, "strangers used up their own lane");
}

pub(super) async fn the_password_counts_as_proven_at_the_new_address(world: World) {
    let user = world.unverified("ada", at(0)).await.id;
    let ada = Mover { user, session: world.open_session(user, at(0)).await.id, name: "ada" };
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    world.entered(ada, id, (Some(NEW), None), at(2)).await;

    world.enter(google("1", "eva"), at(3)).await;

    assert!(world.user(user).await.has_password, "the identity is linked, and takes nothing over");
    assert!(world.lives(ada.session, at(3)).await);
}

pub(super) async fn the_sign_up_of_the_old_address_is_forgotten(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let sign_up = world.sign_up("ada", password("other"), mac(1), at(1));
    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);

    world.moved(ada, "eva", at(2)).await;

    assert_eq!(world.candidate("eva", at(3)).await.unwrap().last_sign_up, None);
}

pub(super) async fn a_stale_change_is_purged(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.begun(ada, "eva", at(1)).await;

    world.purge(at(2 * DAY)).await.unwrap();

    assert_eq!(world.open_change(ada, at(2)).await, None);
}

pub(super) async fn a_deleted_account_leaves_no_change_and_no_reservation(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.moved(ada, "eva", at(1)).await;
    world.delete(&[ada.user], vec![world.event(AuditKind::UserDeleted, at(2))]).await;

    let account = NewAccount { email_verified: false, ..world.account("ada", at(3)) };
    let session = world.session(at(3));
    let entered = world.create_account_and_enter(account, entry(session)).await.unwrap();

    assert!(matches!(entered, Some(Entered::Session(_))));
}
