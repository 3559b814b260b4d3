//! Cases of changes of a user by an admin.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::user::{AppMetadata, User};
use serde_json::json;

use super::fixtures::{World, at, email, key, mac, object};
use latchkey_store::{UpdateUser, UpdateUserOutcome, VerifyOutcome};

async fn change(world: &World, update: UpdateUser) -> User {
    match world.update_user(update).await.unwrap() {
        UpdateUserOutcome::Updated(user) => *user,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn a_new_address_is_unverified(world: World) {
    let user = world.verified("ada", at(0)).await;

    let changed =
        change(&world, UpdateUser { email: Some(email("Countess")), ..world.change(user.id, at(5)) }).await;

    assert_eq!(
        (changed.email.as_typed(), changed.email_verified, changed.updated_at),
        ("Countess@example.org", false, at(5))
    );
    assert_eq!(world.find_user_by_email(&key("countess")).await.unwrap(), Some(changed));
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), None);
    assert_eq!(world.candidate("ada", at(6)).await, None);
    assert!(world.candidate("countess", at(6)).await.is_some());
}

pub(super) async fn a_new_address_is_verified_where_the_admin_says_so(world: World) {
    let user = world.verified("ada", at(0)).await;
    let update = UpdateUser {
        email: Some(email("countess")),
        email_verified: Some(true),
        ..world.change(user.id, at(5))
    };

    assert!(change(&world, update).await.email_verified);
}

pub(super) async fn a_new_address_ends_codes_and_tokens(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let verify = world.send_link(&key("ada"), Purpose::VerifyEmail, at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;
    let exchanged = world.exchange(&key("ada"), mac(1), at(0)).await.unwrap();
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(2), at(0)).await;

    world.move_to(user.id, "countess", at(1)).await;

    for name in ["ada", "countess"] {
        assert!(world.exchange(&key(name), mac(2), at(2)).await.is_none(), "{name}");
    }
    assert_eq!(world.verify_token(verify, at(2)).await, VerifyOutcome::Refused);
    assert_eq!(world.reset(exchanged, "evil", at(2)).await, None);
    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn an_address_of_another_account_is_refused(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    let metadata = Some(AppMetadata::new(object(json!({"plan": "gold"}))).unwrap());
    let update = UpdateUser { email: Some(email("EVE")), metadata, ..world.change(ada.id, at(1)) };
    let event = update.events[0].id;

    assert_eq!(world.update_user(update).await.unwrap(), UpdateUserOutcome::EmailTaken);

    assert_eq!(world.user(ada.id).await, ada);
    assert_eq!(world.event_of(event).await, None);
}

pub(super) async fn the_own_address_can_be_respelled(world: World) {
    let user = world.verified("ada", at(0)).await;

    let changed =
        change(&world, UpdateUser { email: Some(email("ADA")), ..world.change(user.id, at(1)) }).await;

    assert_eq!((changed.id, changed.email.as_typed()), (user.id, "ADA@example.org"));
}

pub(super) async fn verification_is_set_and_taken_back(world: World) {
    let user = world.pending("ada", at(0)).await;
    let set = |email_verified, now| UpdateUser {
        email_verified: Some(email_verified),
        ..world.change(user.id, now)
    };

    let verified = change(&world, set(true, at(1))).await;
    assert_eq!((verified.email_verified, verified.is_pending), (true, false));

    let unverified = change(&world, set(false, at(2))).await;
    assert_eq!((unverified.email_verified, unverified.updated_at), (false, at(2)));
}

pub(super) async fn a_ban_ends_sessions_codes_and_tokens(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;

    let banned = change(&world, UpdateUser { banned: Some(true), ..world.change(user.id, at(1)) }).await;

    assert_eq!((banned.banned_at, banned.is_banned()), (Some(at(1)), true));
    assert!(!world.lives(session.id, at(1)).await);
    assert!(world.list_sessions(user.id, at(1)).await.unwrap().is_empty());
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert_eq!(world.reset(reset, "evil", at(2)).await, None);
}

pub(super) async fn a_lifted_ban_revives_nothing(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;
    world.ban(user.id, at(1)).await;

    let free = change(&world, UpdateUser { banned: Some(false), ..world.change(user.id, at(2)) }).await;

    assert_eq!(free.banned_at, None);
    assert!(!world.lives(session.id, at(3)).await);
    assert!(!world.verifies(&key("ada"), mac(1), at(3)).await);
    assert_eq!(world.reset(reset, "evil", at(3)).await, None);
    world.open_session(user.id, at(4)).await;
}

pub(super) async fn metadata_is_replaced_as_a_whole(world: World) {
    let user = world.verified("ada", at(0)).await;
    for value in [json!({"a": 1, "b": {"c": ["ü"]}}), json!({"d": null}), json!({})] {
        let metadata = AppMetadata::new(object(value)).unwrap();

        let changed =
            change(&world, UpdateUser { metadata: Some(metadata.clone()), ..world.change(user.id, at(1)) })
                .await;

        assert_eq!(changed.metadata, metadata);
        assert_eq!(world.user(user.id).await.metadata, metadata);
    }
}

pub(super) async fn fields_that_are_not_named_stay(world: World) {
    let user = world.contested("ada", at(0)).await;
    let session = world.session(at(0));
    let other = world.create_in(world.account("eve", at(0)), session.clone()).await;
    let metadata = AppMetadata::new(object(json!({"plan": "gold"}))).unwrap();

    let changed =
        change(&world, UpdateUser { metadata: Some(metadata.clone()), ..world.change(user.id, at(5)) }).await;

    let expected = User { metadata, updated_at: at(5), ..user };
    assert_eq!(changed, expected);
    assert_eq!(world.user(other.id).await, other);
    assert!(world.lives(session.id, at(5)).await);
    assert!(world.verifies(&key("ada"), mac(2), at(6)).await, "its code is still good");
}

pub(super) async fn an_unknown_user_is_not_changed(world: World) {
    let update = UpdateUser { banned: Some(true), ..world.change(world.user_id(at(0)), at(0)) };

    assert_eq!(world.update_user(update).await.unwrap(), UpdateUserOutcome::NotFound);
}

pub(super) async fn every_event_of_a_change_is_written_with_its_user(world: World) {
    let user = world.verified("ada", at(0)).await;
    let events = vec![world.event(AuditKind::UserUpdated, at(1)), world.event(AuditKind::UserBanned, at(1))];

    change(&world, UpdateUser { banned: Some(true), events: events.clone(), ..world.change(user.id, at(1)) })
        .await;

    for event in events {
        assert_eq!(world.event_of(event.id).await.unwrap().user_id, Some(user.id));
    }
}
