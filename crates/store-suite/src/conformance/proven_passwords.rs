//! Cases of passwords that are known to come from the mailbox's owner, called proven.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use super::acts::known;
use super::fixtures::{DAY, World, at, key, mac, password};
use super::numbered::entry;
use super::oauth_acts::{google, identity};
use latchkey_store::{
    Browser, ChangePassword, Consent, Entered, LinkStatus, NewAccount, OpenLink, PasswordChange,
    PendingSignUp, SignIn, SignInOutcome, SignUpOutcome, UpdateUser,
};

use Purpose::{ResetPassword, VerifyEmail};

/// Signs up with the address of the user `ada` in a browser, while verification is required.
async fn sign_up(world: &World, browser: Option<TokenHash>, now: Timestamp) -> SignUpOutcome {
    let sign_up = world.sign_up("ada", password("secret"), mac(1), now);
    let sign_up = PendingSignUp { account: NewAccount { browser, ..sign_up.account }, ..sign_up };
    world.sign_up_pending(sign_up).await.unwrap()
}

/// Verifies the address of the user `ada` by a link that is opened in a browser, with this sign-up cookie if
/// any.
async fn verify(world: &World, sign_up: Option<TokenHash>, now: Timestamp) -> User {
    let link = world.send_link(&key("ada"), VerifyEmail, now).await;
    let browser = Browser { refresh: None, sign_up };
    let opening = OpenLink { browser, consent: Consent::Unasked, ..world.link_opening(link, now) };
    assert_eq!(world.open_verify_link(opening).await.unwrap().unwrap(), known(LinkStatus::Good));
    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();
    assert!(user.email_verified && user.has_password);
    user
}

/// True if the password is proven: an identity of the address's owner is then linked to the account. Otherwise the
/// identity takes the account over.
async fn is_proven(world: &World, now: Timestamp) -> bool {
    let user = world.enter(google("1", "ada"), now).await;
    match user.providers()[..] {
        ["email", "google"] => true,
        ["google"] => false,
        _ => panic!("{user:?}"),
    }
}

pub(super) async fn a_link_from_outside_leaves_the_password_unproven_and_the_provider_takes_over(
    world: World,
) {
    sign_up(&world, Some(world.token()), at(0)).await;
    let user = verify(&world, None, at(1)).await;
    let squatter = world.open_session(user.id, at(2)).await;
    world.link(user.id, &squatter, identity("github", "evil", None, false), at(2)).await;

    let owner = world.enter(google("1", "ada"), at(3)).await;

    assert_eq!((owner.id, owner.providers()), (user.id, vec!["google"]));
    assert!(!world.lives(squatter.id, at(3)).await);
}

pub(super) async fn a_reset_takes_over_where_the_password_is_unproven(world: World) {
    sign_up(&world, None, at(0)).await;
    let user = verify(&world, None, at(1)).await;
    let squatter = world.open_session(user.id, at(2)).await;
    world.link(user.id, &squatter, identity("github", "evil", None, false), at(2)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(3)).await;

    let owner = world.reset(link, "mine", at(4)).await.unwrap();

    assert_eq!(owner.providers(), ["email"]);
    assert_eq!(owner.profile.unwrap().name.as_str(), "");
    assert!(!world.lives(squatter.id, at(4)).await);
    assert!(is_proven(&world, at(5)).await);
}

pub(super) async fn a_code_proves_the_password(world: World) {
    sign_up(&world, None, at(0)).await;
    assert!(world.verifies(&key("ada"), mac(1), at(1)).await);

    assert!(is_proven(&world, at(2)).await);
}

pub(super) async fn the_browser_that_signed_up_proves_the_password(world: World) {
    let browser = Some(world.token());
    assert_eq!(sign_up(&world, browser, at(0)).await, SignUpOutcome::Created);
    verify(&world, browser, at(1)).await;

    assert!(is_proven(&world, at(2)).await);
}

pub(super) async fn another_browser_proves_nothing(world: World) {
    sign_up(&world, Some(world.token()), at(0)).await;
    verify(&world, Some(world.token()), at(1)).await;

    assert!(!is_proven(&world, at(2)).await);
}

pub(super) async fn the_browser_of_an_older_sign_up_proves_nothing(world: World) {
    let older = Some(world.token());
    sign_up(&world, older, at(0)).await;
    assert_eq!(sign_up(&world, None, at(1)).await, SignUpOutcome::Renewed);
    verify(&world, older, at(2)).await;

    assert!(!is_proven(&world, at(3)).await);
}

pub(super) async fn the_browser_that_signed_up_is_forgotten_after_a_day(world: World) {
    let browser = Some(world.token());
    sign_up(&world, browser, at(0)).await;
    verify(&world, browser, at(DAY)).await;

    assert!(!is_proven(&world, at(DAY)).await);
}

pub(super) async fn a_sign_up_at_a_taken_address_makes_no_browser_known(world: World) {
    let squatted = world.unverified("ada", at(0)).await;
    let session = world.open_session(squatted.id, at(0)).await;
    let owner = Some(world.token());
    assert_eq!(sign_up(&world, owner, at(1)).await, SignUpOutcome::OwnerTold);
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;
    let browser = Browser { refresh: None, sign_up: owner };

    world.open_verify_link(OpenLink { browser, ..world.link_opening(link, at(2)) }).await.unwrap().unwrap();

    assert!(!world.lives(session.id, at(2)).await, "the owner's browser is no squatter's");
    assert!(!world.user(squatted.id).await.has_password);
}

pub(super) async fn a_changed_or_rehashed_password_is_as_unproven_as_before(world: World) {
    sign_up(&world, None, at(0)).await;
    let user = verify(&world, None, at(1)).await;
    let session = world.session(at(2));
    let rehash = SignIn {
        rehashed: Some(password("secret again")),
        entry: entry(session.clone()),
        ..world.right(user.id, "secret", None, at(2))
    };
    assert!(matches!(
        world.sign_in(rehash).await.unwrap().unwrap(),
        SignInOutcome::Entered(Entered::Session(_))
    ));
    let change = ChangePassword {
        user_id: user.id,
        checked: password("secret again"),
        password: password("changed"),
        keep: session.id,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(3)),
        mail: None,
        now: at(3),
    };
    assert_eq!(world.change_password(change).await.unwrap().unwrap(), PasswordChange::Changed);
    assert_eq!(world.candidate("ada", at(3)).await.unwrap().password, Some(password("changed")));

    assert!(!is_proven(&world, at(4)).await);
}

pub(super) async fn a_password_that_was_reset_is_proven(world: World) {
    let bare = NewAccount { password: None, ..world.account("ada", at(0)) };
    world.create(bare).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(1)).await;
    assert!(world.reset(link, "mine", at(2)).await.is_some());

    assert!(is_proven(&world, at(3)).await);
}

pub(super) async fn an_admin_who_vouches_proves_the_password(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let vouch = UpdateUser { email_verified: Some(true), ..world.change(user.id, at(1)) };
    world.update_user(vouch).await.unwrap();
    assert!(is_proven(&world, at(2)).await);

    world.verified("eve", at(0)).await;
    let eve = world.enter(google("2", "eve"), at(3)).await;
    assert_eq!(eve.providers(), ["email", "google"], "made as verified");
}
