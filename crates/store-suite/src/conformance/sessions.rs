//! Cases of sessions: lifetime, list, end.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::{MAX_LIVE_SESSIONS, NewSession, SessionName};
use latchkey_domain::time::Timestamp;

use super::fixtures::{DAY, World, at, days, password};
use super::numbered;
use super::oauth_acts::google;
use super::refresh::present;
use latchkey_store::{EndedSession, Entered, RefreshOutcome, SignIn, SignInOutcome};

async fn end(world: &World, which: EndedSession, now: Timestamp) -> u64 {
    world.end_sessions(which, world.event(AuditKind::SignedOut, now), now).await.unwrap()
}

fn of_token(session: &NewSession, presented: latchkey_domain::tokens::TokenHash) -> EndedSession {
    EndedSession::OfRefreshToken(numbered::presented(session, presented))
}

pub(super) async fn an_unknown_session_does_not_live(world: World) {
    world.verified("ada", at(0)).await;

    assert!(!world.lives(world.session_id(at(0)), at(0)).await);
}

pub(super) async fn a_session_ends_when_it_was_idle_too_long(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    assert!(world.lives(session.id, at(30 * DAY - 1)).await);
    assert!(!world.lives(session.id, at(30 * DAY)).await);
    assert!(world.list_sessions(user.id, at(30 * DAY)).await.unwrap().is_empty());
}

pub(super) async fn a_session_ends_when_it_is_too_old(world: World) {
    let session = NewSession { idle_expires_at: at(0).plus(days(365)), ..world.session(at(0)) };
    let user = world.create_in(world.account("ada", at(0)), session.clone()).await;

    assert!(world.lives(session.id, at(90 * DAY - 1)).await);
    assert!(!world.lives(session.id, at(90 * DAY)).await);
    assert!(world.list_sessions(user.id, at(90 * DAY)).await.unwrap().is_empty());
}

pub(super) async fn living_sessions_are_listed_newest_first(world: World) {
    let user = world.verified("ada", at(0)).await;
    let other = world.verified("eve", at(0)).await;
    let mut opened = Vec::new();
    for seconds in [3, 1, 2] {
        opened.push((seconds, world.open_session(user.id, at(seconds)).await.id));
    }
    world.open_session(other.id, at(4)).await;
    let ended = world.open_session(user.id, at(5)).await;
    end(&world, EndedSession::Own(user.id, ended.id), at(6)).await;

    let listed = world.list_sessions(user.id, at(7)).await.unwrap();

    opened.sort_unstable();
    let expected: Vec<SessionId> = opened.iter().rev().map(|(_, id)| *id).collect();
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), expected);
    let live = world.find_live_session(expected[0], at(7)).await.unwrap().unwrap();
    assert_eq!(listed[0], live.session);
}

pub(super) async fn a_live_session_is_named_by_its_user_alone(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let (session, ended) = (world.open_session(ada.id, at(0)).await, world.open_session(ada.id, at(1)).await);
    end(&world, EndedSession::Own(ada.id, ended.id), at(2)).await;
    let name = |text: &str| Some(SessionName::from_stored(text.to_owned()));

    let named = world.rename_session(ada.id, session.id, name("Laptop"), at(3)).await.unwrap().unwrap();
    for (user_id, id, now) in [
        (eve.id, session.id, at(3)),
        (ada.id, ended.id, at(3)),
        (ada.id, world.session_id(at(3)), at(3)),
        (ada.id, session.id, at(30 * DAY)),
    ] {
        assert_eq!(world.rename_session(user_id, id, name("Taken"), now).await.unwrap(), None);
    }

    assert_eq!((named.id, &named.name), (session.id, &name("Laptop")));
    assert_eq!(world.list_sessions(ada.id, at(4)).await.unwrap(), [named]);
    let unnamed = world.rename_session(ada.id, session.id, None, at(5)).await.unwrap().unwrap();
    assert_eq!(unnamed.name, None);
}

pub(super) async fn a_user_ends_one_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (one, two) = (world.open_session(user.id, at(0)).await, world.open_session(user.id, at(1)).await);

    assert_eq!(end(&world, EndedSession::Own(user.id, one.id), at(2)).await, 1);
    assert_eq!(end(&world, EndedSession::Own(user.id, one.id), at(3)).await, 0, "it is over already");

    assert!(!world.lives(one.id, at(2)).await);
    assert!(world.lives(two.id, at(2)).await);
}

pub(super) async fn nobody_ends_the_session_of_another(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(ada.id, at(0)).await;

    assert_eq!(end(&world, EndedSession::Own(eve.id, session.id), at(1)).await, 0);
    assert_eq!(end(&world, EndedSession::OthersOf(eve.id, session.id), at(1)).await, 0);

    assert!(world.lives(session.id, at(1)).await);
}

pub(super) async fn a_user_ends_all_other_sessions(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let kept = world.open_session(ada.id, at(0)).await;
    let others = [world.open_session(ada.id, at(1)).await, world.open_session(ada.id, at(2)).await];
    let foreign = world.open_session(eve.id, at(2)).await;
    let over = world.open_session(ada.id, at(2)).await;
    end(&world, EndedSession::Own(ada.id, over.id), at(2)).await;

    assert_eq!(end(&world, EndedSession::OthersOf(ada.id, kept.id), at(3)).await, 2);

    assert!(world.lives(kept.id, at(3)).await && world.lives(foreign.id, at(3)).await);
    for session in others {
        assert!(!world.lives(session.id, at(3)).await);
    }
}

pub(super) async fn a_refresh_token_ends_its_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (one, two) = (world.open_session(user.id, at(0)).await, world.open_session(user.id, at(0)).await);

    assert_eq!(end(&world, of_token(&one, one.refresh), at(1)).await, 1);
    assert_eq!(end(&world, of_token(&one, one.refresh), at(1)).await, 0);

    assert!(!world.lives(one.id, at(1)).await);
    assert!(world.lives(two.id, at(1)).await);
}

pub(super) async fn a_recently_replaced_token_ends_its_session_too(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    assert!(matches!(present(&world, &session, session.refresh, at(10)).await.0, RefreshOutcome::Rotated(_)));

    assert_eq!(end(&world, of_token(&session, session.refresh), at(20)).await, 1);

    assert!(!world.lives(session.id, at(20)).await);
}

pub(super) async fn a_token_whose_successor_was_never_used_ends_its_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    assert!(matches!(present(&world, &session, session.refresh, at(10)).await.0, RefreshOutcome::Rotated(_)));

    assert_eq!(end(&world, of_token(&session, session.refresh), at(DAY)).await, 1);

    assert!(!world.lives(session.id, at(DAY)).await);
}

pub(super) async fn a_stale_or_foreign_token_ends_no_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let (first, second) = present(&world, &session, session.refresh, at(10)).await;
    let (next, _) = present(&world, &session, second, at(11)).await;
    assert!(matches!((first, next), (RefreshOutcome::Rotated(_), RefreshOutcome::Rotated(_))));
    let unknown = of_token(&world.session(at(0)), world.token());

    assert_eq!(end(&world, of_token(&session, session.refresh), at(41)).await, 0, "its successor was used");
    assert_eq!(end(&world, of_token(&session, world.token()), at(41)).await, 0);
    assert_eq!(end(&world, unknown, at(41)).await, 0);

    assert!(world.lives(session.id, at(41)).await);
}

pub(super) async fn an_event_is_written_where_a_session_ended(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let (ended, nothing) =
        (world.event(AuditKind::SignedOut, at(1)), world.event(AuditKind::SignedOut, at(2)));
    let which = of_token(&session, session.refresh);

    world.end_sessions(which, ended.clone(), at(1)).await.unwrap();
    world.end_sessions(which, nothing.clone(), at(2)).await.unwrap();

    assert_eq!(world.event_of(ended.id).await.unwrap().kind, AuditKind::SignedOut);
    assert_eq!(world.event_of(nothing.id).await, None);
}

pub(super) async fn an_expired_session_is_not_ended_again(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    assert_eq!(end(&world, EndedSession::Own(user.id, session.id), at(31 * DAY)).await, 0);
    assert_eq!(end(&world, of_token(&session, session.refresh), at(31 * DAY)).await, 0);
}

pub(super) async fn a_ban_and_a_deletion_end_sessions_at_once(world: World) {
    let banned = world.verified("ada", at(0)).await;
    let deleted = world.verified("eve", at(0)).await;
    let sessions = [world.open_session(banned.id, at(0)).await, world.open_session(deleted.id, at(0)).await];

    world.ban(banned.id, at(1)).await;
    world.delete(&[deleted.id], vec![world.event(AuditKind::UserDeleted, at(1))]).await;

    for session in sessions {
        assert!(!world.lives(session.id, at(1)).await);
        assert_eq!(present(&world, &session, session.refresh, at(1)).await.0, RefreshOutcome::Refused);
    }
}

/// Opens the maximum number of active sessions, one per second from `at(1)` on, and refreshes the first one.
async fn fill(world: &World, user: UserId) -> Vec<NewSession> {
    let mut opened = Vec::new();
    for seconds in 0..i64::from(MAX_LIVE_SESSIONS) {
        opened.push(world.open_session(user, at(1 + seconds)).await);
    }
    let (outcome, _) = present(world, &opened[0], opened[0].refresh, at(500)).await;
    assert!(matches!(outcome, RefreshOutcome::Rotated(_)));
    opened
}

pub(super) async fn the_session_limit_ends_the_least_recently_refreshed_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let other = world.verified("eve", at(0)).await;
    let foreign = world.open_session(other.id, at(0)).await;
    let opened = fill(&world, user.id).await;
    assert_eq!(world.list_sessions(user.id, at(501)).await.unwrap().len(), opened.len());

    let new = world.open_session(user.id, at(501)).await;

    let listed = world.list_sessions(user.id, at(502)).await.unwrap();
    assert_eq!((listed.len(), listed[0].id), (opened.len(), new.id));
    assert!(!world.lives(opened[1].id, at(502)).await);
    assert!(world.lives(opened[0].id, at(502)).await, "it was refreshed");
    assert!(world.lives(foreign.id, at(502)).await);
    let (refused, _) = present(&world, &opened[1], opened[1].refresh, at(502)).await;
    assert_eq!(refused, RefreshOutcome::Refused);
}

pub(super) async fn every_kind_of_sign_in_enforces_the_session_limit(world: World) {
    let user = world.verified("ada", at(0)).await;
    let opened = fill(&world, user.id).await;

    let rehashed =
        SignIn { rehashed: Some(password("new")), ..world.right(user.id, "secret", None, at(501)) };
    assert!(matches!(
        world.sign_in(rehashed).await.unwrap().unwrap(),
        SignInOutcome::Entered(Entered::Session(_))
    ));
    assert!(!world.lives(opened[1].id, at(501)).await);
    world.enter(google("1", "ada"), at(502)).await;
    assert!(!world.lives(opened[2].id, at(502)).await);

    assert_eq!(world.list_sessions(user.id, at(503)).await.unwrap().len(), opened.len());
}

pub(super) async fn a_refused_sign_in_ends_no_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let opened = fill(&world, user.id).await;

    let wrong = world.sign_in(world.right(user.id, "wrong", None, at(501))).await.unwrap().unwrap();

    assert_eq!(wrong, SignInOutcome::Gone);
    assert!(world.lives(opened[1].id, at(501)).await);
}

pub(super) async fn ended_sessions_do_not_count_towards_the_limit(world: World) {
    let user = world.verified("ada", at(0)).await;
    let opened = fill(&world, user.id).await;
    end(&world, EndedSession::Own(user.id, opened[50].id), at(501)).await;

    world.open_session(user.id, at(502)).await;

    assert!(world.lives(opened[1].id, at(503)).await);
}

pub(super) async fn concurrent_sign_ins_respect_the_session_limit(world: World) {
    let user = world.verified("ada", at(0)).await;
    fill(&world, user.id).await;
    let opens = (0..20).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { world.open_session(user.id, at(501)).await.id })
    });
    for open in opens.collect::<Vec<_>>() {
        open.await.unwrap();
    }

    let listed = world.list_sessions(user.id, at(502)).await.unwrap();

    assert_eq!(listed.len(), MAX_LIVE_SESSIONS as usize);
    assert_eq!(listed.iter().filter(|session| session.created_at == at(501)).count(), 20);
}
