//! Cases of sign-in with identities of external providers.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::identity::{IdentityRefusal, IdentityRules};
use latchkey_domain::profile::{Bio, ProfilePatch};
use latchkey_domain::session::AuthMethod;

use super::fixtures::{World, at, key, mac};
use super::oauth_acts::{OPEN, google, identity};
use super::profiles::update;
use latchkey_store::{Entered, IdentityOutcome, NewAccount, SignInOutcome, SignInWithIdentity, UsedToken};

pub(super) async fn a_first_sign_in_makes_an_account(world: World) {
    let sign_in = world.with_identity(google("1", "Ada"), at(0));
    let session = sign_in.entry.session.clone();

    let IdentityOutcome::Entered(Entered::Session(user)) =
        world.sign_in_with_identity(sign_in).await.unwrap()
    else {
        panic!("not opened")
    };

    assert_eq!(user.email.as_typed(), "Ada@example.org");
    assert!(user.email_verified && !user.is_pending && !user.has_password);
    assert_eq!(user.providers(), ["google"]);
    let profile = user.profile.clone().unwrap();
    assert_eq!(profile.name.as_str(), "Ada of Google");
    assert_eq!(profile.avatar_url.unwrap().as_str(), "https://pictures.example/ada.png");
    let live = world.find_live_session(session.id, at(1)).await.unwrap().unwrap();
    assert_eq!((live.session.methods.first(), live.user), (AuthMethod::Federated, *user));
}

pub(super) async fn a_later_sign_in_finds_the_account_by_the_subject_alone(world: World) {
    let first = world.enter(google("1", "ada"), at(0)).await;
    world.move_to(first.id, "countess", at(1)).await;
    world.verified("eve", at(1)).await;

    let again = world.enter(google("1", "eve"), at(2)).await;

    assert_eq!((again.id, again.email.key().as_str()), (first.id, "countess@example.org"));
    let other = world.enter(google("2", "ada"), at(3)).await;
    assert_ne!(other.id, first.id, "another subject is another person");
}

pub(super) async fn subjects_of_two_providers_are_two_identities(world: World) {
    let first = world.enter(google("1", "ada"), at(0)).await;
    let second = world.enter(identity("github", "1", Some("eve"), true), at(0)).await;
    assert_ne!(first.id, second.id);
}

pub(super) async fn subjects_are_compared_byte_by_byte(world: World) {
    let first = world.enter(google("abc", "ada"), at(0)).await;
    let second = world.enter(google("ABC", "eve"), at(0)).await;
    assert_ne!(first.id, second.id);
}

pub(super) async fn profile_and_name_are_of_the_first_sign_in_alone(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    let before = world.find_profile(user.id).await.unwrap();

    let mut renamed = google("1", "ada");
    renamed.name = latchkey_domain::profile::Name::parse("Somebody Else").unwrap();
    renamed.avatar_url = None;
    world.enter(renamed, at(1)).await;

    assert_eq!(world.find_profile(user.id).await.unwrap(), before);
}

pub(super) async fn an_account_without_a_profile_can_be_made(world: World) {
    let sign_in = SignInWithIdentity { profile_id: None, ..world.with_identity(google("1", "ada"), at(0)) };
    let IdentityOutcome::Entered(Entered::Session(user)) =
        world.sign_in_with_identity(sign_in).await.unwrap()
    else {
        panic!("not opened")
    };
    assert_eq!(user.profile, None);
}

pub(super) async fn an_unproven_address_makes_an_unverified_account(world: World) {
    let user = world.enter(identity("x", "1", Some("ada"), false), at(0)).await;
    assert!(!user.email_verified && !user.is_pending && user.is_contested);
    let proven = world.enter(google("2", "eve"), at(0)).await;
    assert!(proven.email_verified && !proven.is_contested);
}

pub(super) async fn data_of_an_unproven_identity_does_not_survive_the_proof_of_the_mailbox(world: World) {
    for (number, name) in ["ada", "eve"].into_iter().enumerate() {
        let unproven = || identity("x", name, Some(name), false);
        let sign_in = world.with_identity(unproven(), at(0));
        let session = sign_in.entry.session.clone();
        let IdentityOutcome::Entered(Entered::Session(user)) =
            world.sign_in_with_identity(sign_in).await.unwrap()
        else {
            panic!("not opened")
        };
        world.link(user.id, &session, identity("y", name, None, false), at(0)).await;

        if number == 0 {
            world.send_code(&key(name), Purpose::VerifyEmail, mac(1), at(1)).await;
            assert!(world.verifies(&key(name), mac(1), at(2)).await);
        } else {
            let link = world.send_link(&key(name), Purpose::VerifyEmail, at(1)).await;
            assert_eq!(
                world.open_link(link, at(2)).await,
                super::acts::known(latchkey_store::LinkStatus::Good)
            );
        }

        let proven = world.user(user.id).await;
        assert!(proven.email_verified && !proven.is_contested);
        assert_eq!(world.list_identities(user.id).await.unwrap(), []);
        assert!(!world.lives(session.id, at(2)).await, "sessions end");
        assert_eq!(world.refused(unproven(), at(3)).await, IdentityRefusal::SignInToLink);
    }
}

pub(super) async fn a_proven_address_links_to_a_verified_account(world: World) {
    let owner = world.verified("Ada", at(0)).await;
    let session = world.open_session(owner.id, at(0)).await;
    let before = world.find_profile(owner.id).await.unwrap();

    let user = world.enter(google("1", "aDa"), at(1)).await;

    assert_eq!(user.id, owner.id);
    assert_eq!(user.providers(), ["email", "google"]);
    assert_eq!(world.find_profile(owner.id).await.unwrap(), before, "the profile stays");
    assert!(world.lives(session.id, at(1)).await, "and so do sessions");
    let signed_in = world.sign_in(world.right(owner.id, "secret", None, at(2))).await.unwrap().unwrap();
    assert!(matches!(signed_in, SignInOutcome::Entered(Entered::Session(_))), "and the password");
}

pub(super) async fn an_unproven_address_links_nothing(world: World) {
    world.verified("ada", at(0)).await;
    world.unverified("eve", at(0)).await;
    for name in ["ada", "eve"] {
        let unproven = identity("x", name, Some(name), false);
        assert_eq!(world.refused(unproven, at(1)).await, IdentityRefusal::SignInToLink);
    }
}

pub(super) async fn a_verified_owner_takes_a_never_verified_account_over(world: World) {
    let squatted = world.unverified("ada", at(0)).await;
    let session = world.open_session(squatted.id, at(0)).await;
    world.link(squatted.id, &session, identity("github", "evil", None, false), at(0)).await;
    let bio = ProfilePatch { bio: Some(Some(Bio::parse("mine now").unwrap())), ..ProfilePatch::default() };
    world.update_profile(update(squatted.id, bio)).await.unwrap();
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;

    let user = world.enter(google("1", "ada"), at(1)).await;

    assert_eq!((user.id, user.providers()), (squatted.id, vec!["google"]));
    assert!(user.email_verified && !user.has_password);
    assert!(!world.lives(session.id, at(1)).await, "sessions end");
    assert!(!world.verifies(&key("ada"), mac(1), at(1)).await, "codes die");
    assert!(!world.can_reset(reset, at(1)).await, "links die");
    let profile = world.find_profile(user.id).await.unwrap().unwrap();
    assert_eq!((profile.name.as_str(), profile.bio), ("Ada of Google", None));
    let other = world.refused(identity("github", "evil", None, false), at(2)).await;
    assert_eq!(other, IdentityRefusal::NoEmail, "what was linked before opens nothing");
}

pub(super) async fn pending_and_contested_accounts_are_taken_over(world: World) {
    world.pending("ada", at(0)).await;
    world.contested("eve", at(0)).await;
    for name in ["ada", "eve"] {
        let user = world.enter(google(name, name), at(1)).await;
        assert!(user.email_verified && !user.is_pending && !user.is_contested && !user.has_password);
        assert_eq!(user.profile.unwrap().name.as_str(), "Ada of Google");
    }
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    let found = latchkey_domain::search::SearchQuery::parse("google").unwrap();
    let hits = world.search_profiles(&found, latchkey_domain::page::Page::new(10, 0)).await.unwrap();
    assert_eq!(hits.total, 2, "they are found from now on");
}

pub(super) async fn an_account_that_moved_to_an_unproven_address_is_not_taken_over(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.move_to(user.id, "new", at(1)).await;
    assert_eq!(world.refused(google("1", "new"), at(2)).await, IdentityRefusal::SignInToLink);
}

pub(super) async fn a_banned_account_is_not_opened_and_not_linked(world: World) {
    let linked = world.enter(google("1", "ada"), at(0)).await;
    let other = world.verified("eve", at(0)).await;
    world.ban(linked.id, at(1)).await;
    world.ban(other.id, at(1)).await;

    assert_eq!(world.refused(google("1", "ada"), at(2)).await, IdentityRefusal::Banned);
    assert_eq!(world.refused(google("2", "eve"), at(2)).await, IdentityRefusal::Banned);
    assert_eq!(world.list_identities(other.id).await.unwrap(), []);
}

pub(super) async fn rules_of_the_operator_hold(world: World) {
    let closed = IdentityRules { is_sign_up_open: false, ..OPEN };
    let strict = IdentityRules { must_be_verified: true, ..OPEN };
    world.unverified("ada", at(0)).await;
    let session = world.session(at(0));
    let cases = [
        (google("9", "new"), closed, IdentityRefusal::SignUpClosed),
        (identity("x", "9", Some("new"), false), strict, IdentityRefusal::EmailUnproven),
        (identity("x", "9", None, false), OPEN, IdentityRefusal::NoEmail),
    ];
    for (identity, rules, refusal) in cases {
        let sign_in = SignInWithIdentity { rules, ..world.with_identity(identity, at(1)) };
        let outcome = world.sign_in_with_identity(sign_in).await.unwrap();
        assert_eq!(outcome, IdentityOutcome::Refused(refusal));
    }
    assert_eq!(world.find_user_by_email(&key("new")).await.unwrap(), None);
    assert!(!world.lives(session.id, at(1)).await);

    let unproven = world.enter(identity("x", "8", Some("eve"), false), at(2)).await;
    let again = identity("x", "8", Some("eve"), false);
    let sign_in = SignInWithIdentity { rules: strict, ..world.with_identity(again, at(3)) };
    let outcome = world.sign_in_with_identity(sign_in).await.unwrap();
    assert_eq!(outcome, IdentityOutcome::Refused(IdentityRefusal::AccountUnverified));
    let in_closed = identity("x", "8", Some("eve"), false);
    let sign_in = SignInWithIdentity { rules: closed, ..world.with_identity(in_closed, at(4)) };
    let IdentityOutcome::Entered(Entered::Session(user)) =
        world.sign_in_with_identity(sign_in).await.unwrap()
    else {
        panic!("an account that is there opens while sign-up is closed")
    };
    assert_eq!(user.id, unproven.id);
}

pub(super) async fn a_token_is_accepted_once(world: World) {
    let token = UsedToken { hash: world.token(), expires_at: at(600) };
    let sign_in =
        || SignInWithIdentity { token: Some(token), ..world.with_identity(google("1", "ada"), at(0)) };
    assert!(matches!(
        world.sign_in_with_identity(sign_in()).await.unwrap(),
        IdentityOutcome::Entered(Entered::Session(_))
    ));
    let events = world.events().await.len();

    assert_eq!(world.sign_in_with_identity(sign_in()).await.unwrap(), IdentityOutcome::Replayed);

    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();
    assert_eq!(world.list_sessions(user.id, at(1)).await.unwrap().len(), 1);
    let written = world.events().await;
    assert_eq!((written.len(), written[0].kind), (events + 1, AuditKind::SignInFailed));
}

pub(super) async fn a_refused_token_is_used_up_as_well(world: World) {
    let token = Some(UsedToken { hash: world.token(), expires_at: at(600) });
    let sign_in =
        || SignInWithIdentity { token, ..world.with_identity(identity("x", "1", None, false), at(0)) };
    let refused = IdentityOutcome::Refused(IdentityRefusal::NoEmail);
    assert_eq!(world.sign_in_with_identity(sign_in()).await.unwrap(), refused);
    assert_eq!(world.sign_in_with_identity(sign_in()).await.unwrap(), IdentityOutcome::Replayed);
}

pub(super) async fn events_name_user_and_session(world: World) {
    use AuditKind::{EmailVerified, IdentityLinked, SignInFailed, SignedIn, SignedUp};
    world.verified("eve", at(0)).await;
    world.unverified("bob", at(0)).await;
    let cases = [
        (google("1", "ada"), vec![SignedUp, SignedIn]),
        (google("1", "ada"), vec![SignedIn]),
        (google("2", "eve"), vec![IdentityLinked, SignedIn]),
        (google("3", "bob"), vec![EmailVerified, IdentityLinked, SignedIn]),
    ];
    for (identity, kinds) in cases {
        let before = world.events().await.len();
        let sign_in = world.with_identity(identity, at(1));
        let session = sign_in.entry.session.id;
        let IdentityOutcome::Entered(Entered::Session(user)) =
            world.sign_in_with_identity(sign_in).await.unwrap()
        else {
            panic!("not opened")
        };
        let mut written = world.events().await;
        written.truncate(written.len() - before);
        written.reverse();
        assert_eq!(written.iter().map(|event| event.kind).collect::<Vec<_>>(), kinds);
        for event in written {
            assert_eq!((event.user_id, event.session_id), (Some(user.id), Some(session)));
        }
    }
    let eve = world.find_user_by_email(&key("eve")).await.unwrap().unwrap();
    world.refused(identity("x", "4", Some("eve"), false), at(2)).await;
    let last = world.events().await.swap_remove(0);
    assert_eq!((last.kind, last.user_id), (SignInFailed, Some(eve.id)));
}

pub(super) async fn a_reset_removes_identities_of_a_never_verified_account(world: World) {
    let user = world.enter(identity("x", "1", Some("ada"), false), at(0)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await;

    let reset = world.reset(reset, "fresh", at(2)).await.unwrap();

    assert_eq!((reset.id, reset.providers()), (user.id, vec!["email"]));
    let refusal = world.refused(identity("x", "1", Some("ada"), false), at(3)).await;
    assert_eq!(refusal, IdentityRefusal::SignInToLink);
}

pub(super) async fn a_take_over_creates_no_missing_profile(world: World) {
    let bare = NewAccount { email_verified: false, profile: None, ..world.account("ada", at(0)) };
    let squatted = world.create(bare).await;
    let user = world.enter(google("1", "ada"), at(1)).await;
    assert_eq!((user.id, user.profile), (squatted.id, None));
    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
}
