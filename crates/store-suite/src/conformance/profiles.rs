//! Cases of profiles: atomic changes, versions, unique usernames.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, ProfilePatch, Username};
use serde_json::json;

use super::fixtures::{World, at, key, mac, object};
use latchkey_store::{EndedSession, NewAccount, UpdateProfile, UpdateProfileOutcome, UpdateUser};

use UpdateProfileOutcome::{NoSession, NotFound, PreconditionFailed, TooLarge, Updated, UsernameTaken};

/// Makes a request to change a profile, whatever its version is. It creates no profile.
pub(super) fn update(user_id: UserId, patch: ProfilePatch) -> UpdateProfile {
    UpdateProfile { user_id, session: None, patch, if_version: None, create: None, now: at(5) }
}

/// Patch that sets the name.
pub(super) fn named(name: &str) -> ProfilePatch {
    ProfilePatch { name: Some(Name::parse(name).unwrap()), ..ProfilePatch::default() }
}

/// Patch that sets the username; an empty one clears it.
pub(super) fn handle(username: &str) -> ProfilePatch {
    let username = (!username.is_empty()).then(|| Username::parse(username).unwrap());
    ProfilePatch { username: Some(username), ..ProfilePatch::default() }
}

fn full() -> ProfilePatch {
    ProfilePatch {
        name: Some(Name::parse("Ädа 𝔏ovelace").unwrap()),
        username: Some(Some(Username::parse("Countess").unwrap())),
        avatar_url: Some(Some(AvatarUrl::parse("HTTPS://x.example/ä?b#c").unwrap())),
        bio: Some(Some(Bio::parse("Two\nlines, 'quotes', \"more\" and \\ % _").unwrap())),
        metadata: Some(
            Metadata::new(object(json!({"deep": {"list": [1, 2.5, null, "ü"]}, "": true}))).unwrap(),
        ),
        custom: object(json!({"city": "Turin", "n": -9_007_199_254_740_993_i64, "o": {"k": []}})),
    }
}

async fn stored(world: &World, user: UserId) -> Profile {
    world.find_profile(user).await.unwrap().unwrap()
}

pub(super) async fn every_field_is_stored_as_given(world: World) {
    let user = world.verified("ada", at(0)).await;
    let expected = full().apply(&stored(&world, user.id).await, at(5)).unwrap();

    let outcome = world.update_profile(update(user.id, full())).await.unwrap();

    assert_eq!(outcome, Updated(Box::new(expected.clone())));
    assert_eq!(stored(&world, user.id).await, expected);
    assert_eq!((expected.version, expected.created_at, expected.updated_at), (2, at(0), at(5)));
}

pub(super) async fn a_patch_changes_only_what_it_names(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.update_profile(update(user.id, full())).await.unwrap();
    let before = stored(&world, user.id).await;
    let patch =
        ProfilePatch { bio: Some(None), custom: object(json!({"city": null, "x": 1})), ..named("Ada") };

    world.update_profile(update(user.id, patch)).await.unwrap();

    let after = stored(&world, user.id).await;
    assert_eq!((after.name.as_str(), &after.bio, after.version), ("Ada", &None, 3));
    assert_eq!(
        (&after.username, &after.avatar_url, &after.metadata),
        (&before.username, &before.avatar_url, &before.metadata)
    );
    let custom = object(json!({"n": -9_007_199_254_740_993_i64, "o": {"k": []}, "x": 1}));
    assert_eq!(after.custom, custom);
}

pub(super) async fn an_empty_patch_changes_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let before = stored(&world, user.id).await;

    let outcome = world.update_profile(update(user.id, ProfilePatch::default())).await.unwrap();

    assert_eq!(outcome, Updated(Box::new(before.clone())));
    assert_eq!(stored(&world, user.id).await, before);
}

pub(super) async fn a_change_of_the_profile_shows_on_the_user(world: World) {
    let user = world.verified("ada", at(0)).await;

    world.update_profile(update(user.id, full())).await.unwrap();

    let profile = world.user(user.id).await.profile.unwrap();
    assert_eq!(profile.name.as_str(), "Ädа 𝔏ovelace");
    assert_eq!(profile.avatar_url.unwrap().as_str(), "HTTPS://x.example/ä?b#c");
}

pub(super) async fn a_change_asks_for_one_of_its_versions(world: World) {
    let user = world.verified("ada", at(0)).await;
    let conditional = |versions: &[i64], name| {
        let if_version = Some(versions.to_vec());
        UpdateProfile { if_version, ..update(user.id, named(name)) }
    };

    assert!(matches!(world.update_profile(conditional(&[7, 1], "One")).await.unwrap(), Updated(_)));
    assert_eq!(world.update_profile(conditional(&[1], "Two")).await.unwrap(), PreconditionFailed);
    assert_eq!(world.update_profile(conditional(&[], "Three")).await.unwrap(), PreconditionFailed);

    let after = stored(&world, user.id).await;
    assert_eq!((after.name.as_str(), after.version), ("One", 2));
}

pub(super) async fn a_failed_precondition_holds_for_an_empty_patch_too(world: World) {
    let user = world.verified("ada", at(0)).await;
    let stale = UpdateProfile { if_version: Some(vec![9]), ..update(user.id, ProfilePatch::default()) };

    assert_eq!(world.update_profile(stale).await.unwrap(), PreconditionFailed);
}

pub(super) async fn a_username_has_one_owner(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    world.update_profile(update(ada.id, handle("countess"))).await.unwrap();
    let before = stored(&world, eve.id).await;
    let claim = ProfilePatch { username: handle("COUNTESS").username, ..named("Countess") };

    assert_eq!(world.update_profile(update(eve.id, claim)).await.unwrap(), UsernameTaken);

    assert_eq!(stored(&world, eve.id).await, before, "nothing of a refused change is kept");
    assert!(matches!(world.update_profile(update(ada.id, handle("Countess"))).await.unwrap(), Updated(_)));
}

pub(super) async fn a_username_given_up_is_free(world: World) {
    let owners = [world.verified("ada", at(0)).await.id, world.verified("eve", at(0)).await.id];
    let next = world.verified("next", at(0)).await.id;
    let events = |count| (0..count).map(|_| world.event(AuditKind::UserDeleted, at(6))).collect();

    world.update_profile(update(next, handle("countess"))).await.unwrap();
    world.update_profile(update(next, handle(""))).await.unwrap();
    assert!(matches!(world.update_profile(update(owners[0], handle("countess"))).await.unwrap(), Updated(_)));

    assert!(world.deletes_profile(owners[0], at(6)).await);
    assert!(matches!(world.update_profile(update(owners[1], handle("countess"))).await.unwrap(), Updated(_)));

    world.delete(&owners[1..], events(1)).await;
    assert!(matches!(world.update_profile(update(next, handle("countess"))).await.unwrap(), Updated(_)));
}

pub(super) async fn a_user_without_a_profile_has_none_to_change(world: World) {
    let user = world.create(NewAccount { profile: None, ..world.account("ada", at(0)) }).await;

    assert_eq!(world.update_profile(update(user.id, named("Ada"))).await.unwrap(), NotFound);

    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
}

pub(super) async fn a_missing_profile_is_made_where_that_is_asked_for(world: World) {
    let user = world.create(NewAccount { profile: None, ..world.account("ada", at(0)) }).await;
    let create = Some(world.profile("", at(5)));
    let id = create.as_ref().unwrap().id;
    let patch = ProfilePatch { custom: object(json!({"city": "Turin"})), ..named("Ada") };

    let outcome = world.update_profile(UpdateProfile { create, ..update(user.id, patch) }).await.unwrap();

    let profile = stored(&world, user.id).await;
    assert_eq!(outcome, Updated(Box::new(profile.clone())));
    assert_eq!((profile.id, profile.user_id, profile.name.as_str()), (id, user.id, "Ada"));
    assert_eq!((profile.created_at, profile.updated_at), (at(5), at(5)));
    assert_eq!(profile.custom, object(json!({"city": "Turin"})));
    assert_eq!(world.user(user.id).await.profile.unwrap().name.as_str(), "Ada");
}

pub(super) async fn a_missing_profile_has_no_version_that_matches(world: World) {
    let user = world.create(NewAccount { profile: None, ..world.account("ada", at(0)) }).await;
    let create = Some(world.profile("", at(5)));
    let conditional = UpdateProfile { create, if_version: Some(vec![1]), ..update(user.id, named("Ada")) };

    assert_eq!(world.update_profile(conditional).await.unwrap(), PreconditionFailed);

    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
}

pub(super) async fn an_existing_profile_is_not_made_again(world: World) {
    let user = world.verified("ada", at(0)).await;
    let before = stored(&world, user.id).await;
    let create = Some(world.profile("Other", at(5)));

    world.update_profile(UpdateProfile { create, ..update(user.id, handle("countess")) }).await.unwrap();

    let after = stored(&world, user.id).await;
    assert_eq!((after.id, after.name, after.version), (before.id, before.name, 2));
}

pub(super) async fn no_profile_is_created_for_an_unknown_user(world: World) {
    let (nobody, create) = (world.user_id(at(0)), Some(world.profile("Ghost", at(0))));

    let outcome =
        world.update_profile(UpdateProfile { create, ..update(nobody, named("Ghost")) }).await.unwrap();

    assert_eq!(outcome, NotFound);
    assert_eq!(world.find_profile(nobody).await.unwrap(), None);
}

pub(super) async fn a_change_by_a_session_needs_one_that_lives(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let session = world.open_session(ada.id, at(0)).await.id;
    let by =
        |user_id, session, name| UpdateProfile { session: Some(session), ..update(user_id, named(name)) };
    assert!(matches!(world.update_profile(by(ada.id, session, "One")).await.unwrap(), Updated(_)));

    let other = world.open_session(ada.id, at(0)).await.id;
    let nobodys = world.session(at(0)).id;
    assert_eq!(world.update_profile(by(eve.id, session, "Two")).await.unwrap(), NoSession);
    assert_eq!(world.update_profile(by(ada.id, nobodys, "Two")).await.unwrap(), NoSession);
    let event = world.event(AuditKind::SignedOut, at(5));
    world.end_sessions(EndedSession::Own(ada.id, session), event, at(5)).await.unwrap();
    let stale = UpdateProfile { if_version: Some(vec![99]), ..by(ada.id, session, "Two") };
    assert_eq!(world.update_profile(stale).await.unwrap(), NoSession);
    assert_eq!(world.update_profile(by(ada.id, session, "Two")).await.unwrap(), NoSession);
    world.ban(ada.id, at(5)).await;
    assert_eq!(world.update_profile(by(ada.id, other, "Two")).await.unwrap(), NoSession);

    world.update_user(UpdateUser { banned: Some(false), ..world.change(ada.id, at(6)) }).await.unwrap();
    assert_eq!(stored(&world, ada.id).await.name.as_str(), "One");
    assert_ne!(stored(&world, eve.id).await.name.as_str(), "Two");
}

pub(super) async fn custom_fields_are_bounded_together(world: World) {
    let user = world.verified("ada", at(0)).await;
    let large =
        |key: &str| ProfilePatch { custom: object(json!({key: "x".repeat(9_000)})), ..named("Large") };
    assert!(matches!(world.update_profile(update(user.id, large("a"))).await.unwrap(), Updated(_)));
    let before = stored(&world, user.id).await;

    assert_eq!(world.update_profile(update(user.id, large("b"))).await.unwrap(), TooLarge);

    assert_eq!(stored(&world, user.id).await, before);
}

pub(super) async fn a_clock_that_steps_back_decreases_no_update_time(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.update_profile(update(user.id, named("One"))).await.unwrap();

    world.update_profile(UpdateProfile { now: at(1), ..update(user.id, named("Two")) }).await.unwrap();

    assert_eq!(stored(&world, user.id).await.updated_at, at(5));
}

pub(super) async fn the_profile_of_a_pending_or_banned_user_is_hidden(world: World) {
    let pending = world.pending("ada", at(0)).await;
    let banned = world.verified("eve", at(0)).await;
    assert!(world.find_profile(banned.id).await.unwrap().is_some());

    world.ban(banned.id, at(1)).await;

    assert_eq!(world.find_profile(banned.id).await.unwrap(), None);
    assert_eq!(world.find_profile(pending.id).await.unwrap(), None);
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);
    world.update_user(UpdateUser { banned: Some(false), ..world.change(banned.id, at(2)) }).await.unwrap();
    for user in [pending, banned] {
        assert!(world.find_profile(user.id).await.unwrap().is_some());
    }
}
