//! Cases of the first verification of a mailbox, on an account in which a stranger may be signed in.

use latchkey_domain::codes::Purpose;
use latchkey_domain::identity::IdentityRefusal;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use super::acts::{REDIRECT, known};
use super::fixtures::{World, at, days, key, mac};
use super::numbered::{self, entry};
use super::oauth_acts::{google, identity};
use latchkey_store::{
    Browser, Consent, Entered, LinkStatus, NewAccount, OpenLink, OpenedLink, TokenAttempt, UpdateUser,
    VerifyOutcome,
};

use Purpose::{ResetPassword, VerifyEmail};

/// Stranger who signed up with the address of the user `ada` while verification was off, and linked an identity.
struct Squatter {
    user: User,
    session: NewSession,
}

impl Squatter {
    async fn settle(world: &World) -> Self {
        let user = world.unverified("ada", at(0)).await;
        let session = world.open_session(user.id, at(0)).await;
        world.link(user.id, &session, identity("github", "evil", None, false), at(0)).await;
        Self { user, session }
    }

    /// Asserts that the stranger's session, password and identity are removed, and that the owner's identity leads to
    /// the owner's account only.
    async fn assert_gone(&self, world: &World, now: Timestamp) {
        let user = world.user(self.user.id).await;
        assert!(user.email_verified && !user.has_password && user.identities.is_empty(), "{user:?}");
        assert_eq!(user.profile.unwrap().name.as_str(), "", "the public text goes");
        assert!(!world.lives(self.session.id, now).await, "the session ends");
        let evil = world.refused(identity("github", "evil", None, false), now).await;
        assert_eq!(evil, IdentityRefusal::NoEmail, "the identity opens nothing");
        let owner = world.enter(google("1", "ada"), now).await;
        assert_eq!((owner.id, owner.providers()), (self.user.id, vec!["google"]));
    }

    /// Asserts that session, password and identity of the person who signed up with somebody else's address are still
    /// there.
    async fn assert_there(&self, world: &World, now: Timestamp) {
        let user = world.user(self.user.id).await;
        assert_eq!(user.providers(), ["email", "github"]);
        assert_eq!(user.profile.unwrap().name.as_str(), "ada");
        assert!(world.lives(self.session.id, now).await);
    }

    fn browser(&self) -> Browser {
        let presented = numbered::presented(&self.session, self.session.refresh);
        Browser { refresh: Some(presented), sign_up: None }
    }
}

/// Request to open a link in a browser without consent.
fn unasked(world: &World, link: TokenHash, browser: Browser, now: Timestamp) -> OpenLink {
    OpenLink { browser, consent: Consent::Unasked, ..world.link_opening(link, now) }
}

fn asks() -> OpenedLink {
    OpenedLink::Asks { redirect_to: Some(REDIRECT.to_owned()) }
}

pub(super) async fn a_code_from_outside_removes_everything_of_a_squatter(world: World) {
    let squatter = Squatter::settle(&world).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(1)).await;
    let reset = world.send_link(&key("ada"), ResetPassword, at(1)).await;

    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);

    assert_eq!(
        world.list_sessions(squatter.user.id, at(2)).await.unwrap().len(),
        1,
        "the proof itself signs in"
    );
    assert!(!world.can_reset(reset, at(2)).await);
    squatter.assert_gone(&world, at(3)).await;
}

pub(super) async fn a_token_from_outside_removes_everything_of_a_squatter(world: World) {
    let squatter = Squatter::settle(&world).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    assert!(matches!(world.verify_token(link, at(2)).await, VerifyOutcome::Entered(Entered::Session(_))));

    squatter.assert_gone(&world, at(3)).await;
}

pub(super) async fn a_link_from_outside_asks_before_it_verifies(world: World) {
    let squatter = Squatter::settle(&world).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    for _ in 0..2 {
        let opening = unasked(&world, link, Browser::default(), at(2));
        let event = opening.event.id;
        assert_eq!(world.open_verify_link(opening).await.unwrap().unwrap(), asks());
        assert_eq!(world.event_of(event).await, None);
    }

    assert!(!world.user(squatter.user.id).await.email_verified);
    squatter.assert_there(&world, at(2)).await;
}

pub(super) async fn a_link_with_consent_removes_everything_of_a_squatter(world: World) {
    let squatter = Squatter::settle(&world).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;
    let reset = world.send_link(&key("ada"), ResetPassword, at(1)).await;

    assert_eq!(world.open_link(link, at(2)).await, known(LinkStatus::Good));

    assert!(world.list_sessions(squatter.user.id, at(2)).await.unwrap().is_empty());
    assert!(!world.can_reset(reset, at(2)).await);
    let again = unasked(&world, link, Browser::default(), at(2));
    assert_eq!(
        world.open_verify_link(again).await.unwrap().unwrap(),
        known(LinkStatus::Good),
        "the link is good as before"
    );
    squatter.assert_gone(&world, at(3)).await;
}

pub(super) async fn a_proof_from_inside_keeps_everything_but_outstanding_codes(world: World) {
    let squatter = Squatter::settle(&world).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(1)).await;
    let reset = world.send_link(&key("ada"), ResetPassword, at(1)).await;

    assert!(world.verifies_from(squatter.session.id, mac(1), at(2)).await);

    assert!(world.user(squatter.user.id).await.email_verified);
    assert!(!world.can_reset(reset, at(2)).await);
    squatter.assert_there(&world, at(2)).await;
}

pub(super) async fn a_link_in_the_browser_of_the_session_keeps_everything(world: World) {
    let squatter = Squatter::settle(&world).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    let opened =
        world.open_verify_link(unasked(&world, link, squatter.browser(), at(2))).await.unwrap().unwrap();

    assert_eq!(opened, known(LinkStatus::Good));
    assert!(world.user(squatter.user.id).await.email_verified);
    squatter.assert_there(&world, at(2)).await;
}

pub(super) async fn a_session_of_another_account_is_outside(world: World) {
    let squatter = Squatter::settle(&world).await;
    let eve = world.verified("eve", at(0)).await;
    let other = Squatter { session: world.open_session(eve.id, at(0)).await, user: eve };
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    let opened =
        world.open_verify_link(unasked(&world, link, other.browser(), at(2))).await.unwrap().unwrap();
    let event = world.event(latchkey_domain::audit::AuditKind::EmailVerified, at(2));
    let caller = Some(other.session.id);
    let attempt = TokenAttempt { token: link, email: None, caller, takes: Vec::new(), event };
    world.verify_by_token(attempt, entry(world.session(at(2)))).await.unwrap().unwrap();

    assert_eq!(opened, asks());
    squatter.assert_gone(&world, at(3)).await;
    assert!(world.lives(other.session.id, at(3)).await);
}

pub(super) async fn a_session_that_ended_is_outside(world: World) {
    let squatter = Squatter::settle(&world).await;
    let now = at(0).plus(days(31));
    let link = world.send_link(&key("ada"), VerifyEmail, now).await;
    let opened =
        world.open_verify_link(unasked(&world, link, squatter.browser(), now)).await.unwrap().unwrap();
    world.send_code(&key("ada"), VerifyEmail, mac(1), now).await;

    assert!(world.verifies_from(squatter.session.id, mac(1), now).await);

    assert_eq!(opened, asks());
    squatter.assert_gone(&world, now).await;
}

pub(super) async fn a_contested_account_is_emptied_from_inside_as_well(world: World) {
    let sign_in = world.with_identity(identity("x", "1", Some("ada"), false), at(0));
    let (session, opened) =
        (sign_in.entry.session.clone(), world.sign_in_with_identity(sign_in).await.unwrap());
    assert!(matches!(opened, latchkey_store::IdentityOutcome::Entered(Entered::Session(_))));
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(1)).await;

    assert!(world.verifies_from(session.id, mac(1), at(2)).await);

    assert!(!world.lives(session.id, at(2)).await);
    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();
    assert_eq!(user.providers(), Vec::<&str>::new());
}

pub(super) async fn an_inaccessible_account_is_verified_without_asking_for_consent(world: World) {
    let shut = NewAccount { email_verified: false, password: None, ..world.account("ada", at(0)) };
    let user = world.create(shut).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    let opened =
        world.open_verify_link(unasked(&world, link, Browser::default(), at(2))).await.unwrap().unwrap();

    assert_eq!(opened, known(LinkStatus::Good));
    let user = world.user(user.id).await;
    assert!(user.email_verified);
    assert_eq!(user.profile.unwrap().name.as_str(), "ada", "the name that an admin gave stays");
}

pub(super) async fn a_pending_account_is_verified_without_asking_and_keeps_its_password(world: World) {
    let user = world.pending("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    let opened =
        world.open_verify_link(unasked(&world, link, Browser::default(), at(2))).await.unwrap().unwrap();

    assert_eq!(opened, known(LinkStatus::Good));
    let user = world.user(user.id).await;
    assert!(user.email_verified && user.has_password);
    assert_eq!(user.profile.unwrap().name.as_str(), "ada");
}

pub(super) async fn an_admin_who_vouches_removes_nothing(world: World) {
    let squatter = Squatter::settle(&world).await;
    let vouch = UpdateUser { email_verified: Some(true), ..world.change(squatter.user.id, at(1)) };

    world.update_user(vouch).await.unwrap();

    assert!(world.user(squatter.user.id).await.email_verified);
    squatter.assert_there(&world, at(2)).await;
}
