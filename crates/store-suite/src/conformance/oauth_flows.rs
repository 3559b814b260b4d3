//! Cases of OAuth `state` parameters, and of the one-time codes that the service issues to the app: single
//! use, bound to their client.

use latchkey_domain::identity::{IdentityRefusal, IdentityRules};
use latchkey_domain::profile::{AvatarUrl, Name};

use super::fixtures::{MINUTE, World, at};
use super::oauth_acts::{APP, OPEN, google, identity, linker};
use latchkey_store::{NewCodeOutcome, NewOAuthCode, StateOutcome, TakenCode};

pub(super) async fn a_state_gives_its_flow_back(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    for linker in [None, Some(linker(user.id, &session))] {
        let flow = world.flow(linker, at(0));
        world.begin_flow(flow.clone()).await.unwrap();

        let StateOutcome::Taken(taken) = world.take_flow(flow.state, at(1)).await.unwrap() else {
            panic!("not taken")
        };

        assert_eq!((taken.provider.as_str(), taken.redirect_to.as_str()), ("google", APP));
        assert_eq!((taken.code_challenge, taken.sealed), (flow.code_challenge, flow.sealed));
        assert_eq!((taken.linker, taken.expires_at), (linker, flow.expires_at));
    }
}

pub(super) async fn a_state_comes_back_once(world: World) {
    let flow = world.flow(None, at(0));
    world.begin_flow(flow.clone()).await.unwrap();
    assert!(matches!(world.take_flow(flow.state, at(1)).await.unwrap(), StateOutcome::Taken(_)));

    let replayed = StateOutcome::Replayed { redirect_to: APP.to_owned() };
    for seconds in [2, 11 * MINUTE] {
        assert_eq!(world.take_flow(flow.state, at(seconds)).await.unwrap(), replayed);
    }
    assert_eq!(world.take_flow(world.token(), at(3)).await.unwrap(), StateOutcome::Unknown);
}

pub(super) async fn a_late_state_still_tells_where_it_leads(world: World) {
    let flow = world.flow(None, at(0));
    world.begin_flow(flow.clone()).await.unwrap();

    let StateOutcome::Taken(taken) = world.take_flow(flow.state, at(20 * MINUTE)).await.unwrap() else {
        panic!("not taken")
    };

    assert_eq!((taken.redirect_to.as_str(), taken.expires_at), (APP, at(10 * MINUTE)));
}

pub(super) async fn a_code_gives_its_identity_back(world: World) {
    let mut bare = identity("x", "\u{1F511} \u{e9}", None, false);
    (bare.name, bare.avatar_url) = (Name::default(), None);
    let mut full = google("1", "Ada");
    full.avatar_url = Some(AvatarUrl::parse("https://pictures.example/a?b=c").unwrap());
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let linker = Some(linker(user.id, &session));
    for (identity, linker) in [(full, None), (bare, linker)] {
        let code = world.oauth_code(identity.clone(), linker, at(0));
        assert_eq!(world.save_oauth_code(code.clone()).await.unwrap(), NewCodeOutcome::Saved);

        let taken = world.present_code(code.code, "verifier", linker, at(1)).await;

        assert_eq!(taken, TakenCode::Good { identity: Box::new(identity), linker });
    }
}

pub(super) async fn a_code_is_good_once_and_for_a_minute(world: World) {
    let save = async |seconds| {
        let code = world.oauth_code(google("1", "ada"), None, at(seconds));
        assert_eq!(world.save_oauth_code(code.clone()).await.unwrap(), NewCodeOutcome::Saved);
        code.code
    };
    let (used, old) = (save(0).await, save(0).await);

    assert!(matches!(world.present_code(used, "verifier", None, at(59)).await, TakenCode::Good { .. }));
    assert_eq!(world.present_code(used, "verifier", None, at(59)).await, TakenCode::Unknown);
    let burnt = TakenCode::Burnt(Box::new(google("1", "ada")));
    assert_eq!(world.present_code(old, "verifier", None, at(60)).await, burnt);
    assert_eq!(world.present_code(world.token(), "verifier", None, at(1)).await, TakenCode::Unknown);
}

pub(super) async fn a_wrong_verifier_burns_the_code(world: World) {
    let code = world.oauth_code(google("1", "ada"), None, at(0));
    world.save_oauth_code(code.clone()).await.unwrap();

    assert_eq!(
        world.present_code(code.code, "guess", None, at(1)).await,
        TakenCode::Burnt(Box::new(code.identity))
    );
    assert_eq!(world.present_code(code.code, "verifier", None, at(2)).await, TakenCode::Unknown);
}

pub(super) async fn a_code_that_links_waits_for_its_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let linker = linker(user.id, &session);
    let code = world.oauth_code(google("1", "other"), Some(linker), at(0));
    world.save_oauth_code(code.clone()).await.unwrap();

    assert_eq!(world.present_code(code.code, "verifier", None, at(1)).await, TakenCode::NeedsSession);
    let taken = world.present_code(code.code, "verifier", Some(linker), at(2)).await;
    assert!(matches!(taken, TakenCode::Good { .. }));
}

pub(super) async fn another_session_burns_a_code_that_links(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let of_ada = world.open_session(ada.id, at(0)).await;
    let others = [world.open_session(ada.id, at(0)).await, world.open_session(eve.id, at(0)).await];
    let own = linker(ada.id, &of_ada);
    for (user, other) in [ada.id, eve.id].into_iter().zip(&others) {
        let code = world.oauth_code(google("1", "other"), Some(own), at(0));
        world.save_oauth_code(code.clone()).await.unwrap();

        let stolen = world.present_code(code.code, "verifier", Some(linker(user, other)), at(1)).await;

        assert_eq!(stolen, TakenCode::Burnt(Box::new(code.identity)));
        assert_eq!(world.present_code(code.code, "verifier", Some(own), at(2)).await, TakenCode::Unknown);
    }
}

pub(super) async fn a_code_for_a_sign_in_asks_for_no_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let code = world.oauth_code(google("1", "new"), None, at(0));
    world.save_oauth_code(code.clone()).await.unwrap();

    let caller = Some(linker(user.id, &session));
    let taken = world.present_code(code.code, "verifier", caller, at(1)).await;

    assert!(matches!(taken, TakenCode::Good { linker: None, .. }));
}

pub(super) async fn a_sign_in_that_would_be_refused_gets_no_code(world: World) {
    let owner = world.enter(google("1", "ada"), at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let of_eve = linker(eve.id, &world.open_session(eve.id, at(0)).await);
    let closed = IdentityRules { is_sign_up_open: false, ..OPEN };
    let unproven = || identity("x", "1", Some("eve"), false);
    let refused = |refusal| NewCodeOutcome::Refused(refusal);
    let cases = [
        (unproven(), None, OPEN, refused(IdentityRefusal::SignInToLink)),
        (google("9", "new"), None, closed, refused(IdentityRefusal::SignUpClosed)),
        (google("1", "ada"), Some(of_eve), OPEN, NewCodeOutcome::Taken),
        (google("1", "ada"), None, closed, NewCodeOutcome::Saved),
        (unproven(), Some(of_eve), closed, NewCodeOutcome::Saved),
    ];
    for (identity, linker, rules, outcome) in cases {
        let code = NewOAuthCode { rules, ..world.oauth_code(identity, linker, at(1)) };
        assert_eq!(world.save_oauth_code(code.clone()).await.unwrap(), outcome);
        let is_there = world.present_code(code.code, "verifier", linker, at(2)).await != TakenCode::Unknown;
        assert_eq!(is_there, outcome == NewCodeOutcome::Saved);
    }
    assert_eq!(world.list_identities(owner.id).await.unwrap().len(), 1, "nothing is linked by a code");
    assert_eq!(world.list_identities(eve.id).await.unwrap(), []);
}
