//! Cases of sign-in by mailed link.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use super::acts::REDIRECT;
use super::email_sign_in::is_entered;
use super::fixtures::{HOME, MINUTE, STRANGER, World, at, email, key, lane, mac};
use latchkey_store::{
    LinkState, LinkStatus, NewCode, NewSignInLink, NewToken, OpenedLink, PresentedLink, RequestSignInMail,
    SignInLink, VerifyOutcome,
};

fn challenge(number: u8) -> TokenHash {
    TokenHash::of(&[number])
}

impl World {
    /// Requests, from this host, a mail with the code `mac(1)` and a sign-in link. Returns the link's token.
    /// The link has a PKCE code challenge.
    async fn send_sign_in_link(&self, name: &str, host: u8, now: Timestamp) -> TokenHash {
        let hash = self.token();
        let link = NewSignInLink {
            token: NewToken { hash, expires_at: now.plus(Duration::from_mins(15)) },
            code_challenge: challenge(1),
            redirect_to: Some(REDIRECT.to_owned()),
        };
        let request = self.sign_in_mail(name, mac(1), now);
        let code = NewCode { lane: lane(&key(name), host), ..request.code.clone() };
        let request = RequestSignInMail { code, link: Some(link), ..request };
        self.request_sign_in_mail(request).await.unwrap().unwrap();
        hash
    }

    async fn enter_by_link(&self, name: &str, token: TokenHash, shown: u8, now: Timestamp) -> VerifyOutcome {
        let link = PresentedLink {
            token,
            email: email(name),
            code_challenge: challenge(shown),
            event: self.event(AuditKind::SignedIn, now),
            now,
        };
        self.sign_in_by_link(link, self.email_sign_in(now)).await.unwrap()
    }

    async fn sign_in_link(&self, token: TokenHash, now: Timestamp) -> Option<SignInLink> {
        self.find_sign_in_link(token, &[], now).await.unwrap().unwrap()
    }

    async fn status(&self, token: TokenHash, now: Timestamp) -> LinkStatus {
        self.sign_in_link(token, now).await.unwrap().state.status
    }
}

pub(super) async fn a_link_opens_with_its_challenge_alone(world: World) {
    world.verified("ada", at(0)).await;
    let token = world.send_sign_in_link("ada", STRANGER, at(0)).await;
    let found = world.sign_in_link(token, at(1)).await;
    let state = LinkState { status: LinkStatus::Good, redirect_to: Some(REDIRECT.to_owned()) };
    assert_eq!(found, Some(SignInLink { email: email("ada"), state }));

    for _ in 0..12 {
        assert_eq!(world.enter_by_link("ada", token, 2, at(1)).await, VerifyOutcome::Refused);
    }
    assert_eq!(world.enter_by_link("eve", token, 1, at(1)).await, VerifyOutcome::Refused);

    assert!(is_entered(&world.enter_by_link("ada", token, 1, at(1)).await));
    assert_eq!(world.status(token, at(1)).await, LinkStatus::Used);
    assert_eq!(world.enter_by_link("ada", token, 1, at(1)).await, VerifyOutcome::Refused);
    assert_eq!(
        world.enter_by_code("ada", mac(1), at(1)).await,
        VerifyOutcome::Refused,
        "the code is used up too"
    );
}

pub(super) async fn a_sign_in_link_expires(world: World) {
    world.verified("ada", at(0)).await;
    let token = world.send_sign_in_link("ada", STRANGER, at(0)).await;
    let end = at(15 * MINUTE);

    assert_eq!(world.status(token, at(15 * MINUTE - 1)).await, LinkStatus::Good);
    assert_eq!(world.status(token, end).await, LinkStatus::Expired);
    assert_eq!(world.enter_by_link("ada", token, 1, end).await, VerifyOutcome::Refused);
}

pub(super) async fn a_sign_in_link_for_no_account_creates_one(world: World) {
    let token = world.send_sign_in_link("Ada", STRANGER, at(0)).await;
    assert_eq!(world.sign_in_link(token, at(1)).await.unwrap().email.as_typed(), "Ada@example.org");

    assert!(is_entered(&world.enter_by_link("Ada", token, 1, at(1)).await));

    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();
    assert!(user.email_verified && !user.has_password);
    assert_eq!(world.status(token, at(1)).await, LinkStatus::Used);
}

pub(super) async fn a_sign_in_link_is_of_the_account_that_it_was_mailed_for(world: World) {
    let of_nobody = world.send_sign_in_link("ada", STRANGER, at(0)).await;
    let ada = world.verified("ada", at(1)).await;
    assert_eq!(world.status(of_nobody, at(2)).await, LinkStatus::Superseded);
    assert_eq!(world.enter_by_link("ada", of_nobody, 1, at(2)).await, VerifyOutcome::Refused);

    let of_ada = world.send_sign_in_link("ada", STRANGER, at(3)).await;
    world.move_to(ada.id, "elsewhere", at(4)).await;

    assert_eq!(world.status(of_ada, at(5)).await, LinkStatus::Superseded);
    for name in ["ada", "elsewhere"] {
        assert_eq!(world.enter_by_link(name, of_ada, 1, at(5)).await, VerifyOutcome::Refused);
    }
}

pub(super) async fn a_newer_mail_supersedes_the_link_of_its_lane(world: World) {
    world.create_in(world.account("ada", at(0)), world.session(at(0))).await; // HOME is known from now on
    let home = world.send_sign_in_link("ada", HOME, at(1)).await;
    let first = world.send_sign_in_link("ada", STRANGER, at(2)).await;
    let second = world.send_sign_in_link("ada", STRANGER, at(3)).await;

    assert_eq!(world.status(first, at(4)).await, LinkStatus::Superseded);
    assert_eq!(
        (world.status(second, at(4)).await, world.status(home, at(4)).await),
        (LinkStatus::Good, LinkStatus::Good)
    );
    assert!(is_entered(&world.enter_by_link("ada", home, 1, at(4)).await));
    assert_eq!(world.status(second, at(4)).await, LinkStatus::Used, "a success ends the links of both lanes");
}

pub(super) async fn a_code_ends_the_link_of_its_mail(world: World) {
    for name in ["ada", "nobody"] {
        if name == "ada" {
            world.unverified(name, at(0)).await;
        }
        let token = world.send_sign_in_link(name, STRANGER, at(1)).await;

        assert!(is_entered(&world.enter_by_code(name, mac(1), at(2)).await), "{name}");

        assert_eq!(world.status(token, at(2)).await, LinkStatus::Used, "{name}");
        assert_eq!(world.enter_by_link(name, token, 1, at(2)).await, VerifyOutcome::Refused, "{name}");
    }
}

pub(super) async fn a_sign_in_link_is_of_its_own_purpose(world: World) {
    world.unverified("ada", at(0)).await;
    let verification = world.send_link(&key("ada"), Purpose::VerifyEmail, at(0)).await;
    let sign_in = world.send_sign_in_link("ada", STRANGER, at(0)).await;

    assert_eq!(world.sign_in_link(verification, at(1)).await, None);
    assert_eq!(world.enter_by_link("ada", verification, 1, at(1)).await, VerifyOutcome::Refused);
    assert_eq!(world.verify_token(sign_in, at(1)).await, VerifyOutcome::Refused);
    assert!(!world.can_reset(sign_in, at(1)).await);
    for purpose in [Purpose::VerifyEmail, Purpose::ResetPassword] {
        assert_eq!(world.look(sign_in, purpose, at(1)).await, OpenedLink::Unknown);
    }
}
