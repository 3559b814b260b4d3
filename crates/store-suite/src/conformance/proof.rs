//! Cases of the first verification of an address: it removes everything that a stranger may have stored in the
//! account.

use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::UserId;
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, ProfilePatch, Username};
use latchkey_domain::user::User;
use serde_json::json;

use super::fixtures::{World, at, key, mac, object, password};
use latchkey_store::{
    Entered, LinkStatus, PendingSignUp, SignInOutcome, SignUpOutcome, UpdateProfile, UpdateProfileOutcome,
};

/// Sets every field of a profile.
async fn fill_profile(world: &World, user_id: UserId) -> Profile {
    let patch = ProfilePatch {
        name: Some(Name::parse("Somebody").unwrap()),
        username: Some(Some(Username::parse("somebody").unwrap())),
        avatar_url: Some(Some(AvatarUrl::parse("https://x.example/a.png").unwrap())),
        bio: Some(Some(Bio::parse("I was here first.").unwrap())),
        metadata: Some(Metadata::new(object(json!({"theme": "dark"}))).unwrap()),
        custom: object(json!({"city": "Turin"})),
    };
    let update = UpdateProfile { user_id, session: None, patch, if_version: None, create: None, now: at(0) };
    let UpdateProfileOutcome::Updated(profile) = world.update_profile(update).await.unwrap() else {
        panic!("no profile")
    };
    *profile
}

/// Creates an account with a full profile that is contested: sign-ups used its address with different
/// passwords.
async fn contested(world: &World) -> (User, Profile) {
    let user = world.contested("ada", at(0)).await;
    let profile = fill_profile(world, user.id).await;
    (user, profile)
}

/// Asserts that a contested account (see [`contested`]) lost its password and the public texts of its profile
/// by the verification at `at(2)`.
async fn assert_bare(world: &World, user: &User, before: &Profile) {
    let now = world.user(user.id).await;
    assert_eq!((now.email_verified, now.is_pending, now.is_contested), (true, false, false));
    assert!(!now.has_password, "no password given before may survive");
    assert_eq!(world.candidate("ada", at(2)).await.unwrap().password, None);
    let profile = world.find_profile(user.id).await.unwrap().unwrap();
    assert_eq!(profile, before.without_public_text(at(2)));
    assert_eq!(now.profile.unwrap().name, Name::default());
}

pub(super) async fn a_contested_account_verified_by_code_keeps_no_password_and_no_name(world: World) {
    let (user, profile) = contested(&world).await;

    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);

    assert_bare(&world, &user, &profile).await;
    assert_eq!(world.list_sessions(user.id, at(2)).await.unwrap().len(), 1, "the proof itself signs in");
}

pub(super) async fn a_contested_account_verified_by_link_keeps_no_password_and_no_name(world: World) {
    let (user, profile) = contested(&world).await;
    let link = world.send_link(&key("ada"), Purpose::VerifyEmail, at(1)).await;

    assert_eq!(world.open_link(link, at(2)).await, super::acts::known(LinkStatus::Good));

    assert_bare(&world, &user, &profile).await;
}

pub(super) async fn a_contested_account_verified_by_token_keeps_no_password_and_no_name(world: World) {
    let (user, profile) = contested(&world).await;
    let link = world.send_link(&key("ada"), Purpose::VerifyEmail, at(1)).await;

    let latchkey_store::VerifyOutcome::Entered(Entered::Session(verified)) =
        world.verify_token(link, at(2)).await
    else {
        panic!("refused")
    };

    assert!(!verified.has_password);
    assert_bare(&world, &user, &profile).await;
}

pub(super) async fn neither_password_opens_a_contested_account_afterwards(world: World) {
    let (user, _) = contested(&world).await;
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);

    for secret in ["secret", "other"] {
        let outcome = world.sign_in(world.right(user.id, secret, None, at(3))).await.unwrap().unwrap();
        assert_eq!(outcome, SignInOutcome::Gone, "{secret}");
    }
}

pub(super) async fn a_contested_account_gets_its_password_by_reset(world: World) {
    let (user, _) = contested(&world).await;
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(3)).await;

    assert!(world.reset(link, "mine", at(4)).await.is_some());

    assert_eq!(world.candidate("ada", at(5)).await.unwrap().password, Some(password("mine")));
    assert!(!world.user(user.id).await.is_contested);
}

pub(super) async fn an_uncontested_account_keeps_password_and_profile(world: World) {
    let user = world.pending("ada", at(0)).await;
    let profile = fill_profile(&world, user.id).await;

    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);

    assert!(world.user(user.id).await.has_password);
    assert_eq!(world.find_profile(user.id).await.unwrap(), Some(profile));
}

pub(super) async fn a_verified_address_is_contested_no_more(world: World) {
    let (user, _) = contested(&world).await;
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
    let sign_up: PendingSignUp = world.sign_up("ada", password("third"), mac(3), at(3));

    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);

    assert!(!world.user(user.id).await.is_contested);
}

pub(super) async fn the_first_proof_by_reset_clears_what_came_before(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let squatter = world.open_session(user.id, at(0)).await;
    let before = fill_profile(&world, user.id).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await;

    let owner = world.reset(link, "mine", at(2)).await.unwrap();

    assert!(owner.email_verified && !owner.is_pending);
    assert!(!world.lives(squatter.id, at(2)).await);
    assert_eq!(world.find_profile(user.id).await.unwrap(), Some(before.without_public_text(at(2))));
    assert_eq!(owner.profile.unwrap().name, Name::default());
}

pub(super) async fn a_pending_account_is_verified_by_reset(world: World) {
    let user = world.contested("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await;

    assert!(world.reset(link, "mine", at(2)).await.is_some());

    let owner = world.user(user.id).await;
    assert_eq!((owner.email_verified, owner.is_pending, owner.is_contested), (true, false, false));
    assert!(owner.has_password);
    assert!(!world.verifies(&key("ada"), mac(2), at(3)).await, "the outstanding code died");
}

pub(super) async fn a_reset_of_a_verified_account_keeps_its_profile(world: World) {
    let user = world.verified("ada", at(0)).await;
    let profile = fill_profile(&world, user.id).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await;

    assert!(world.reset(link, "mine", at(2)).await.is_some());

    assert_eq!(world.find_profile(user.id).await.unwrap(), Some(profile));
}
