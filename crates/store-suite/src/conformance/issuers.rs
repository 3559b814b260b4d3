//! Cases of issuers of identities, and of identities that were linked before issuers were stored.

use latchkey_domain::identity::{IdentityRefusal, IdentityRules, Issuer, LegacyIdentities, VerifiedIdentity};
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    Entered, IdentityOutcome, LinkIdentity, LinkOutcome, NewCodeOutcome, NewOAuthCode, SignInWithIdentity,
    UpdateUser,
};

use super::fixtures::{World, at};
use super::oauth_acts::{ISSUER, OPEN, google, identity, issued_by, linker, of_unknown_issuer, provider};
use super::races::race;

const OTHER: &str = "https://other.example";
/// Rules for sign-ins at a provider whose issuer is known only from its id tokens.
const BY_TOKEN: IdentityRules = IdentityRules { earlier: LegacyIdentities::OfAnyIssuer, ..OPEN };
/// Rules of a provider that does not link identities by address.
const APART: IdentityRules = IdentityRules { links_by_email: false, ..OPEN };

/// Google identity without an address, which can sign in only to the account that it is linked to.
fn bare(subject: &str) -> VerifiedIdentity {
    identity("google", subject, None, false)
}

/// Issuers under which a user's identities are stored.
async fn issuers(world: &World, user_id: UserId) -> Vec<String> {
    let listed = world.list_identities(user_id).await.unwrap();
    listed.iter().map(|one| one.issuer.as_str().to_owned()).collect()
}

async fn settle(world: &World, key: &str, issuer: &str) {
    world.settle_issuers(&[(provider(key), Issuer::parse(issuer).unwrap())]).await.unwrap();
}

async fn sign_in(
    world: &World,
    identity: VerifiedIdentity,
    rules: IdentityRules,
    now: Timestamp,
) -> IdentityOutcome {
    let sign_in = SignInWithIdentity { rules, ..world.with_identity(identity, now) };
    world.sign_in_with_identity(sign_in).await.unwrap()
}

#[track_caller]
fn opened(outcome: IdentityOutcome) -> User {
    match outcome {
        IdentityOutcome::Entered(Entered::Session(user)) => *user,
        other => panic!("not opened: {other:?}"),
    }
}

pub(super) async fn same_subject_at_another_issuer_is_another_identity(world: World) {
    let ada = world.enter(google("1", "ada"), at(0)).await;

    assert_eq!(world.refused(issued_by(OTHER, bare("1")), at(1)).await, IdentityRefusal::NoEmail);
    let eve = world.enter(issued_by(OTHER, google("1", "eve")), at(1)).await;

    assert_ne!(eve.id, ada.id);
    assert_eq!(world.enter(bare("1"), at(2)).await.id, ada.id);
    assert_eq!(world.enter(issued_by(OTHER, bare("1")), at(2)).await.id, eve.id);
    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
    assert_eq!(issuers(&world, eve.id).await, [OTHER]);
}

pub(super) async fn another_issuer_links_to_another_account(world: World) {
    world.enter(google("1", "ada"), at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(eve.id, at(0)).await;

    let code = world.oauth_code(issued_by(OTHER, bare("1")), Some(linker(eve.id, &session)), at(1));
    assert_eq!(world.save_oauth_code(code).await.unwrap(), NewCodeOutcome::Saved);
    let linked = world.link(eve.id, &session, issued_by(OTHER, bare("1")), at(1)).await;

    assert!(matches!(linked, LinkOutcome::Linked(_)));
    assert_eq!(world.link(eve.id, &session, bare("1"), at(2)).await, LinkOutcome::Taken);
}

pub(super) async fn earlier_identities_take_the_issuer_of_their_provider(world: World) {
    let ada = world.enter(of_unknown_issuer(google("1", "ada")), at(0)).await;
    let eve = world.enter(of_unknown_issuer(identity("github", "1", Some("eve"), true)), at(0)).await;
    assert_eq!(world.refused(bare("1"), at(1)).await, IdentityRefusal::NoEmail);

    for _ in 0..2 {
        settle(&world, "google", ISSUER).await;
    }

    assert_eq!(world.enter(bare("1"), at(2)).await.id, ada.id);
    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
    assert_eq!(issuers(&world, eve.id).await, ["?"], "another provider's wait for theirs");
    settle(&world, "github", "").await;
    assert_eq!(issuers(&world, eve.id).await, [""], "a provider without an issuer has an empty one");
}

pub(super) async fn issuer_that_is_known_does_not_change(world: World) {
    let ada = world.enter(google("1", "ada"), at(0)).await;

    settle(&world, "google", OTHER).await;

    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
    assert_eq!(world.refused(issued_by(OTHER, bare("1")), at(1)).await, IdentityRefusal::NoEmail);
}

pub(super) async fn earlier_identity_stays_as_it_is_where_its_subject_is_linked_again(world: World) {
    let ada = world.enter(of_unknown_issuer(google("1", "ada")), at(0)).await;
    let eve = world.enter(google("1", "eve"), at(1)).await;
    let other = world.enter(of_unknown_issuer(google("2", "other")), at(1)).await;

    settle(&world, "google", ISSUER).await;

    assert_eq!(world.enter(bare("1"), at(2)).await.id, eve.id);
    assert_eq!(world.enter(bare("2"), at(2)).await.id, other.id);
    assert_eq!(issuers(&world, ada.id).await, ["?"]);
}

pub(super) async fn of_twenty_instances_all_find_the_issuers_settled(world: World) {
    let mut users = Vec::new();
    for name in ["a", "b", "c", "d"] {
        users.push(world.enter(of_unknown_issuer(google(name, name)), at(0)).await.id);
    }

    let answers = race(&world, |world, _| async move {
        settle(&world, "google", ISSUER).await;
        world.enter(bare("c"), at(1)).await.id
    })
    .await;

    assert!(answers.iter().all(|id| *id == users[2]));
    for user in users {
        assert_eq!(issuers(&world, user).await, [ISSUER]);
    }
}

pub(super) async fn earlier_identity_takes_the_issuer_of_a_sign_in_that_alone_tells_it(world: World) {
    let ada = world.enter(of_unknown_issuer(google("1", "ada")), at(0)).await;
    let code = NewOAuthCode { rules: BY_TOKEN, ..world.oauth_code(bare("1"), None, at(1)) };
    assert_eq!(world.save_oauth_code(code).await.unwrap(), NewCodeOutcome::Saved);
    let strict = IdentityRules { must_be_verified: true, ..BY_TOKEN };
    world.ban(ada.id, at(1)).await;
    let banned = IdentityOutcome::Refused(IdentityRefusal::Banned);
    assert_eq!(sign_in(&world, bare("1"), strict, at(1)).await, banned);
    assert_eq!(issuers(&world, ada.id).await, ["?"], "a refused sign-in tells nothing");
    let unban = UpdateUser { banned: Some(false), ..world.change(ada.id, at(2)) };
    world.update_user(unban).await.unwrap();

    let again = opened(sign_in(&world, bare("1"), BY_TOKEN, at(2)).await);

    assert_eq!(again.id, ada.id);
    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
    let other = sign_in(&world, issued_by(OTHER, bare("1")), BY_TOKEN, at(3)).await;
    assert_eq!(other, IdentityOutcome::Refused(IdentityRefusal::NoEmail));
}

pub(super) async fn earlier_identity_of_an_account_is_not_linked_twice(world: World) {
    let first = world.with_identity(of_unknown_issuer(google("1", "ada")), at(0));
    let of_ada = first.entry.session.clone();
    let ada = opened(world.sign_in_with_identity(first).await.unwrap());
    let eve = world.verified("eve", at(0)).await;
    let of_eve = world.open_session(eve.id, at(0)).await;
    let link = async |user_id, session_id| {
        let event = world.event(latchkey_domain::audit::AuditKind::IdentityLinked, at(1));
        let (identity, earlier, now) = (bare("1"), LegacyIdentities::OfAnyIssuer, at(1));
        let link = LinkIdentity { user_id, session_id, identity, earlier, event, mail: None, now };
        world.link_identity(link).await.unwrap()
    };
    assert_eq!(link(eve.id, of_eve.id).await, LinkOutcome::Taken);
    assert_eq!(issuers(&world, ada.id).await, ["?"]);
    assert!(matches!(link(ada.id, of_ada.id).await, LinkOutcome::Linked(_)));

    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
}

pub(super) async fn twenty_sign_ins_of_an_earlier_identity_end_at_its_account(world: World) {
    let ada = world.enter(of_unknown_issuer(google("1", "ada")), at(0)).await;

    let answers = race(&world, |world, _| async move {
        opened(sign_in(&world, google("1", "eve"), BY_TOKEN, at(1)).await).id
    })
    .await;

    assert!(answers.iter().all(|id| *id == ada.id));
    assert_eq!(issuers(&world, ada.id).await, [ISSUER]);
}

pub(super) async fn address_opens_nothing_where_it_does_not_link(world: World) {
    let refused = IdentityOutcome::Refused(IdentityRefusal::SignInToLink);
    let (ada, eve) = (world.verified("ada", at(0)).await, world.unverified("eve", at(0)).await);
    world.pending("bob", at(0)).await;
    for name in ["ada", "eve", "bob"] {
        assert_eq!(sign_in(&world, google(name, name), APART, at(1)).await, refused);
        let code = NewOAuthCode { rules: APART, ..world.oauth_code(google(name, name), None, at(1)) };
        let outcome = world.save_oauth_code(code).await.unwrap();
        assert_eq!(outcome, NewCodeOutcome::Refused(IdentityRefusal::SignInToLink));
    }
    assert_eq!((issuers(&world, ada.id).await, issuers(&world, eve.id).await), (vec![], vec![]));
    assert!(world.user(eve.id).await.has_password);

    let session = world.open_session(ada.id, at(2)).await;
    world.link(ada.id, &session, google("ada", "ada"), at(2)).await;
    assert_eq!(opened(sign_in(&world, google("ada", "ada"), APART, at(3)).await).id, ada.id);
    assert_eq!(
        opened(sign_in(&world, google("new", "new"), APART, at(3)).await).email.as_typed(),
        "new@example.org"
    );
}
