//! Cases of linking identities of external providers to accounts, and of unlinking them.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::identity::Subject;
use latchkey_domain::ids::UserId;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;

use super::fixtures::{World, at, mac};
use super::numbered::entry;
use super::oauth_acts::{google, identity, provider};
use latchkey_store::{LinkOutcome, SignInWithIdentity, UnlinkIdentity, UnlinkOutcome, Unlinker, UpdateUser};

pub(super) async fn an_identity_is_linked_to_the_account_of_a_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    let outcome = world.link(user.id, &session, identity("github", "7", Some("other"), false), at(1)).await;

    let LinkOutcome::Linked(linked) = outcome else { panic!("not linked") };
    assert_eq!(linked.providers(), ["email", "github"]);
    assert_eq!(linked.email.key(), user.email.key(), "the address stays");
    let listed = world.list_identities(user.id).await.unwrap();
    assert_eq!((listed[0].provider.as_str(), listed[0].subject.as_str()), ("github", "7"));
    assert_eq!(listed[0].email.as_ref().unwrap().as_typed(), "other@example.org");
    assert_eq!(listed[0].created_at, at(1));
    assert_eq!(world.enter(identity("github", "7", None, false), at(2)).await.id, user.id);
}

pub(super) async fn linking_again_changes_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.link(user.id, &session, google("1", "ada"), at(1)).await;
    let before = (world.events().await, world.list_identities(user.id).await.unwrap());

    assert!(matches!(world.link(user.id, &session, google("1", "ada"), at(2)).await, LinkOutcome::Linked(_)));

    assert_eq!((world.events().await, world.list_identities(user.id).await.unwrap()), before);
}

pub(super) async fn an_identity_of_another_account_is_taken(world: World) {
    let owner = world.enter(google("1", "ada"), at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(eve.id, at(0)).await;

    assert_eq!(world.link(eve.id, &session, google("1", "ada"), at(1)).await, LinkOutcome::Taken);

    assert_eq!(world.list_identities(eve.id).await.unwrap(), []);
    assert_eq!(world.enter(google("1", "ada"), at(2)).await.id, owner.id);
}

pub(super) async fn only_a_living_session_of_the_user_links(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let of_ada = world.open_session(ada.id, at(0)).await;
    let of_eve = world.open_session(eve.id, at(0)).await;
    let ended = world.open_session(ada.id, at(0)).await;
    let own = latchkey_store::EndedSession::Own(ada.id, ended.id);
    world.end_sessions(own, world.event(AuditKind::SignedOut, at(0)), at(0)).await.unwrap();

    assert_eq!(world.link(ada.id, &ended, google("1", "x"), at(1)).await, LinkOutcome::Gone);
    assert_eq!(world.link(ada.id, &of_eve, google("1", "x"), at(1)).await, LinkOutcome::Gone);
    world.ban(ada.id, at(1)).await;
    assert_eq!(world.link(ada.id, &of_ada, google("1", "x"), at(2)).await, LinkOutcome::Gone);
    assert_eq!(world.list_identities(ada.id).await.unwrap(), []);
}

pub(super) async fn the_last_way_to_sign_in_stays(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    assert_eq!(world.unlink(user.id, "google", None, at(1)).await, UnlinkOutcome::LastWayIn);

    let session = world.session(at(1));
    let sign_in = SignInWithIdentity {
        entry: entry(session.clone()),
        ..world.with_identity(google("1", "ada"), at(1))
    };
    world.sign_in_with_identity(sign_in).await.unwrap();
    world.link(user.id, &session, identity("gone", "1", None, false), at(2)).await;
    let outcome = world.unlink(user.id, "google", None, at(3)).await;
    assert_eq!(outcome, UnlinkOutcome::LastWayIn, "a provider that is not offered is no way in");

    world.link(user.id, &session, identity("github", "1", None, false), at(4)).await;
    let UnlinkOutcome::Unlinked(left) = world.unlink(user.id, "google", None, at(5)).await else {
        panic!("not unlinked")
    };
    assert_eq!(left.providers(), ["github", "gone"]);
    let event = world.events().await.swap_remove(0);
    assert_eq!((event.kind, event.user_id), (AuditKind::IdentityUnlinked, Some(user.id)));
}

pub(super) async fn a_verified_address_is_a_way_to_sign_in_by_mail(world: World) {
    let verified = world.enter(google("1", "ada"), at(0)).await;
    let unverified = world.enter(identity("google", "2", Some("eve"), false), at(0)).await;
    let offer = SignInOffer { by_email: true, ..SignInOffer::default() };
    let by_mail = |id, subject| UnlinkIdentity { offer: offer.clone(), ..unlink_of(&world, id, subject) };

    let outcome = world.unlink_identity(by_mail(unverified.id, "2")).await.unwrap();
    assert_eq!(outcome, UnlinkOutcome::LastWayIn);
    let outcome = world.unlink_identity(by_mail(verified.id, "1")).await.unwrap();
    assert!(matches!(outcome, UnlinkOutcome::Unlinked(_)));
}

pub(super) async fn a_password_is_a_way_to_sign_in(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("1", "ada"), at(0)).await;

    let UnlinkOutcome::Unlinked(left) = world.unlink(user.id, "google", None, at(1)).await else {
        panic!("not unlinked")
    };

    assert_eq!(left.providers(), ["email"]);
    assert_eq!(world.unlink(user.id, "google", None, at(2)).await, UnlinkOutcome::NotFound);
}

pub(super) async fn one_of_several_identities_of_a_provider_is_unlinked(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    world.enter(google("2", "ada"), at(1)).await;

    assert_eq!(world.unlink(user.id, "google", Some("3"), at(2)).await, UnlinkOutcome::NotFound);
    assert_eq!(world.unlink(user.id, "google", None, at(2)).await, UnlinkOutcome::LastWayIn);
    let outcome = world.unlink(user.id, "google", Some("1"), at(2)).await;

    assert!(matches!(outcome, UnlinkOutcome::Unlinked(_)));
    let left = world.list_identities(user.id).await.unwrap();
    assert_eq!(left.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["2"]);
}

pub(super) async fn identities_of_others_are_not_unlinked(world: World) {
    let ada = world.enter(google("1", "ada"), at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    assert_eq!(world.unlink(eve.id, "google", Some("1"), at(1)).await, UnlinkOutcome::NotFound);
    assert_eq!(world.list_identities(ada.id).await.unwrap().len(), 1);
}

pub(super) async fn identities_go_with_their_user(world: World) {
    let first = world.enter(google("1", "ada"), at(0)).await;
    let event = world.event(AuditKind::UserDeleted, at(1));
    assert_eq!(world.delete(&[first.id], vec![event]).await, 1);

    let second = world.enter(google("1", "ada"), at(2)).await;

    assert_ne!(second.id, first.id);
    assert_eq!(world.list_identities(first.id).await.unwrap(), []);
}

pub(super) async fn unlinking_ends_the_other_sessions_that_the_identity_opened(world: World) {
    let user = world.verified("ada", at(0)).await;
    let enter = async |subject: &str| {
        let sign_in = world.with_identity(google(subject, "ada"), at(1));
        let id = sign_in.entry.session.id;
        world.sign_in_with_identity(sign_in).await.unwrap();
        id
    };
    let (caller, other, of_another) = (enter("1").await, enter("1").await, enter("2").await);
    let by_password = world.open_session(user.id, at(1)).await;

    let unlink = UnlinkIdentity { by: Unlinker::Owner(caller), ..unlink_of(&world, user.id, "1") };
    assert!(matches!(world.unlink_identity(unlink).await.unwrap(), UnlinkOutcome::Unlinked(_)));

    assert!(!world.lives(other, at(3)).await);
    for id in [caller, of_another, by_password.id] {
        assert!(world.lives(id, at(3)).await);
    }
}

pub(super) async fn unlinking_ends_provider_sessions_of_unknown_identity(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    let mut old = world.with_identity(google("2", "ada"), at(1));
    old.entry.session.identity = None;
    let id = old.entry.session.id;
    world.sign_in_with_identity(old).await.unwrap();

    world.unlink_identity(unlink_of(&world, user.id, "1")).await.unwrap();

    assert!(!world.lives(id, at(3)).await);
}

fn unlink_of(world: &World, user_id: UserId, subject: &str) -> UnlinkIdentity {
    UnlinkIdentity {
        user_id,
        provider: provider("google"),
        subject: Subject::parse(subject),
        offer: SignInOffer { providers: vec![provider("google")], ..SignInOffer::default() },
        by: Unlinker::Owner(world.session_id(at(2))),
        event: world.event(AuditKind::IdentityUnlinked, at(2)),
        mail: None,
        now: at(2),
    }
}

/// Subjects of the identities that are still linked after a password reset.
async fn left_after_reset(world: &World, id: UserId, now: Timestamp) -> Vec<String> {
    let email = world.user(id).await.email.key().clone();
    world.send_code(&email, Purpose::ResetPassword, mac(9), now).await;
    let token = world.exchange(&email, mac(9), now).await.unwrap();
    world.reset(token, "new", now).await.unwrap();
    let left = world.list_identities(id).await.unwrap();
    left.into_iter().map(|one| one.subject).collect()
}

pub(super) async fn a_reset_keeps_the_identities_that_vouch_for_the_address_alone(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("own", "ADA"), at(1)).await;
    let session = world.open_session(user.id, at(1)).await;
    for (subject, name, is_verified) in
        [("strange", Some("eve"), true), ("unproven", Some("ada"), false), ("silent", None, false)]
    {
        world.link(user.id, &session, identity("github", subject, name, is_verified), at(2)).await;
    }

    assert_eq!(left_after_reset(&world, user.id, at(3)).await, ["own"]);
    assert_ne!(world.enter(identity("github", "strange", Some("eve"), true), at(4)).await.id, user.id);
}

pub(super) async fn the_last_assertion_of_a_provider_counts_at_a_reset(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    for (subject, before, now) in [("moved away", "ada", "eve"), ("moved here", "eve", "ada")] {
        world.link(user.id, &session, google(subject, before), at(1)).await;
        assert_eq!(world.enter(google(subject, now), at(2)).await.id, user.id);
    }
    world.enter(identity("google", "moved here", None, false), at(3)).await;

    assert_eq!(left_after_reset(&world, user.id, at(4)).await, ["moved here"]);
}

pub(super) async fn an_identity_of_the_address_before_goes_at_a_reset(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("1", "ada"), at(1)).await;
    world.move_to(user.id, "countess", at(2)).await;
    let verify = UpdateUser { email_verified: Some(true), ..world.change(user.id, at(2)) };
    world.update_user(verify).await.unwrap();

    assert_eq!(left_after_reset(&world, user.id, at(3)).await, Vec::<String>::new());
}
