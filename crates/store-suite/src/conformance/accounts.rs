//! Cases of accounts: atomic creation, lookup by id and by address.

use latchkey_domain::email::Email;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::user::{AppMetadata, UserProfile};
use serde_json::json;

use super::fixtures::{World, at, email, key, object, password, with_avatar};
use super::numbered::entry;
use latchkey_store::{NewAccount, UserPosition};

pub(super) async fn an_account_is_made_as_it_was_given(world: World) {
    let metadata =
        AppMetadata::new(object(json!({"plan": "gold", "n": 1.5, "ä": [null, "𝔄", {"x": -7}]}))).unwrap();
    let account = NewAccount { metadata: metadata.clone(), ..world.account("Ada", at(1)) };
    let (id, avatar_url) = (account.id, AvatarUrl::parse("https://x.example/a.png").unwrap());
    let account =
        NewAccount { profile: account.profile.map(|profile| with_avatar(profile, &avatar_url)), ..account };

    let user = world.create(account).await;

    assert_eq!((user.id, user.email.as_typed()), (id, "Ada@example.org"));
    assert_eq!(
        (user.email_verified, user.has_password, user.is_pending, user.is_contested),
        (true, true, false, false)
    );
    assert_eq!((user.created_at, user.updated_at, user.banned_at), (at(1), at(1), None));
    assert_eq!((&user.metadata, user.providers()), (&metadata, vec!["email"]));
    let profile = UserProfile { name: Name::parse("Ada").unwrap(), avatar_url: Some(avatar_url) };
    assert_eq!(user.profile, Some(profile));
    assert_eq!(world.find_user(id).await.unwrap(), Some(user));
}

pub(super) async fn an_account_is_found_by_its_address_without_case(world: World) {
    let made = world.verified("Ada.Lovelace", at(0)).await;
    world.verified("eve", at(0)).await;

    let found =
        world.find_user_by_email(Email::parse("aDA.lovelACE@EXAMPLE.org").unwrap().key()).await.unwrap();

    assert_eq!(found, Some(made));
}

pub(super) async fn an_unknown_user_is_not_found(world: World) {
    world.verified("ada", at(0)).await;

    assert_eq!(world.find_user(world.user_id(at(0))).await.unwrap(), None);
    assert_eq!(world.find_user_by_email(&key("ad")).await.unwrap(), None);
    assert_eq!(world.find_user_by_email(&key("ada+x")).await.unwrap(), None);
}

pub(super) async fn an_account_can_be_without_profile_and_password(world: World) {
    let account = NewAccount { profile: None, password: None, ..world.account("ada", at(0)) };

    let user = world.create(account).await;

    assert!(!user.has_password && user.providers().is_empty());
    assert_eq!(user.profile, None);
    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
    assert_eq!(world.candidate("ada", at(1)).await.unwrap().password, None::<PasswordHash>);
}

pub(super) async fn an_account_comes_with_its_profile(world: World) {
    let account = world.account("Ada", at(3));
    let expected = account.profile.clone().unwrap().into_profile(account.id, at(3));

    let user = world.create(account).await;

    assert_eq!(world.find_profile(user.id).await.unwrap(), Some(expected));
}

pub(super) async fn an_account_comes_with_its_session(world: World) {
    let session = world.session(at(0));
    let user = world.create_in(world.account("ada", at(0)), session.clone()).await;

    let live = world.find_live_session(session.id, at(1)).await.unwrap().unwrap();
    assert_eq!((live.session.id, live.session.user_id, &live.user), (session.id, user.id, &user));
}

pub(super) async fn an_account_comes_with_its_event(world: World) {
    let session = world.session(at(0));
    let account = world.account("ada", at(0));
    let mut expected = account.event.clone();

    let user = world.create_in(account, session.clone()).await;

    (expected.user_id, expected.session_id) = (Some(user.id), Some(session.id));
    assert_eq!(world.events().await, [expected]);
}

pub(super) async fn a_taken_address_creates_nothing(world: World) {
    let first = world.verified("Ada", at(0)).await;
    let session = world.session(at(1));
    let second =
        NewAccount { email: email("aDa"), password: Some(password("other")), ..world.account("eve", at(1)) };
    let second_id = second.id;

    let outcome = world.create_account_and_enter(second, entry(session.clone())).await.unwrap();

    assert_eq!(outcome, None);
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), Some(first));
    assert_eq!(world.find_user(second_id).await.unwrap(), None);
    assert_eq!(world.find_profile(second_id).await.unwrap(), None);
    assert!(!world.lives(session.id, at(1)).await);
    assert_eq!(world.events().await.len(), 1);
    assert_eq!(world.users("", UserPosition::Offset(0), 10).await.total, 1);
}
