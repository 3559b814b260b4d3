//! Cases of refresh tokens: rotation at every use, tolerance while the successor is unused, and detection of reuse
//! afterwards.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use super::fixtures::{DAY, GRACE, World, at, client, days};
use super::numbered;
use latchkey_store::{EndedSession, LiveSession, RefreshOutcome, RefreshSession};

/// Makes a request to refresh a session. The hash of the new token takes the place of the encrypted token, so
/// that cases can read it.
pub(super) fn refresh(
    world: &World,
    session: &NewSession,
    presented: TokenHash,
    now: Timestamp,
) -> RefreshSession {
    let successor = world.token();
    let presented = numbered::presented(session, presented);
    RefreshSession {
        successor,
        sealed_successor: successor.as_bytes().to_vec(),
        idle_expires_at: now.plus(days(30)),
        client: client(2),
        ..numbered::refresh(presented, world.event(AuditKind::RefreshReused, now), now)
    }
}

/// Refreshes a session with a token. Returns the outcome, and the new token that the request offered.
pub(super) async fn present(
    world: &World,
    session: &NewSession,
    presented: TokenHash,
    now: Timestamp,
) -> (RefreshOutcome, TokenHash) {
    let refresh = refresh(world, session, presented, now);
    let offered = refresh.successor;
    (world.refresh_session(refresh).await.unwrap(), offered)
}

/// Presents a token, which must be accepted and replaced.
async fn rotate(
    world: &World,
    session: &NewSession,
    presented: TokenHash,
    now: Timestamp,
) -> (LiveSession, TokenHash) {
    match present(world, session, presented, now).await {
        (RefreshOutcome::Rotated(live), successor) => (*live, successor),
        (other, _) => panic!("{other:?}"),
    }
}

async fn is_good(world: &World, session: &NewSession, presented: TokenHash, now: Timestamp) -> bool {
    world.is_refresh_token_good(numbered::presented(session, presented), now).await.unwrap()
}

async fn signed_in(world: &World) -> NewSession {
    let user = world.verified("ada", at(0)).await;
    world.open_session(user.id, at(0)).await
}

pub(super) async fn a_session_of_level_one_ends_at_its_refresh_where_level_two_is_required(world: World) {
    let user = world.verified("ada", at(0)).await;
    let one = world.open_session(user.id, at(0)).await;
    let mut sign_in = world.right(user.id, "secret", None, at(0));
    sign_in.entry.session = world.session_of_two(at(0));
    let two = sign_in.entry.session.clone();
    world.sign_in(sign_in).await.unwrap().unwrap();
    let demanding = |session: &NewSession, now| RefreshSession {
        level_two_required: Some(world.event(AuditKind::SignedOut, now)),
        ..refresh(&world, session, session.refresh, now)
    };

    let of_two = world.refresh_session(demanding(&two, at(1))).await.unwrap();

    assert!(matches!(of_two, RefreshOutcome::Rotated(_)), "{of_two:?}");
    assert_eq!(world.refresh_session(demanding(&one, at(1))).await.unwrap(), RefreshOutcome::LevelTooLow);
    assert!(!world.lives(one.id, at(1)).await && world.lives(two.id, at(1)).await);
    let ended = world.events().await.into_iter().find(|event| event.kind == AuditKind::SignedOut).unwrap();
    assert_eq!((ended.user_id, ended.session_id), (Some(user.id), Some(one.id)));
    assert_eq!(world.refresh_session(demanding(&one, at(2))).await.unwrap(), RefreshOutcome::Refused);
}

pub(super) async fn a_refresh_replaces_the_token(world: World) {
    let session = signed_in(&world).await;

    let (live, successor) = rotate(&world, &session, session.refresh, at(DAY)).await;

    assert_eq!(
        (live.session.id, live.session.created_at, live.session.last_seen_at),
        (session.id, at(0), at(DAY))
    );
    assert_eq!(live.session.client, client(2));
    assert_eq!(live.session.methods, session.methods);
    assert_eq!(
        (live.session.idle_expires_at, live.session.absolute_expires_at),
        (at(31 * DAY), at(90 * DAY))
    );
    assert_eq!(live.user, world.user(live.user.id).await);
    assert_eq!(world.find_live_session(session.id, at(DAY)).await.unwrap(), Some(live));
    rotate(&world, &session, successor, at(2 * DAY)).await;
}

pub(super) async fn a_replaced_token_gets_the_same_successor_in_its_grace(world: World) {
    let session = signed_in(&world).await;
    let (live, successor) = rotate(&world, &session, session.refresh, at(10)).await;

    for seconds in [10, 25, 40] {
        let (outcome, _) = present(&world, &session, session.refresh, at(seconds)).await;
        let sealed = successor.as_bytes().to_vec();
        assert_eq!(
            outcome,
            RefreshOutcome::SameSuccessor { sealed, live: Box::new(live.clone()) },
            "after {seconds} s"
        );
    }

    assert_eq!(
        world.find_live_session(session.id, at(40)).await.unwrap(),
        Some(live),
        "a replay changes nothing"
    );
    rotate(&world, &session, successor, at(41)).await;
}

pub(super) async fn after_the_successors_first_use_a_replay_is_refused(world: World) {
    let session = signed_in(&world).await;
    let (_, second) = rotate(&world, &session, session.refresh, at(10)).await;
    let (_, third) = rotate(&world, &session, second, at(12)).await;

    assert_eq!(present(&world, &session, session.refresh, at(13)).await.0, RefreshOutcome::Refused);

    assert!(world.lives(session.id, at(13)).await, "a refusal in the grace ends nothing");
    rotate(&world, &session, third, at(14)).await;
}

pub(super) async fn a_late_duplicate_of_many_rotations_ago_is_refused(world: World) {
    let session = signed_in(&world).await;
    let mut token = session.refresh;
    for _ in 0..80 {
        token = rotate(&world, &session, token, at(10)).await.1;
    }

    assert_eq!(present(&world, &session, session.refresh, at(40)).await.0, RefreshOutcome::Refused);

    rotate(&world, &session, token, at(40)).await;
}

pub(super) async fn a_replay_after_the_grace_ends_the_session(world: World) {
    let session = signed_in(&world).await;
    let (_, second) = rotate(&world, &session, session.refresh, at(10)).await;
    let (_, third) = rotate(&world, &session, second, at(12)).await;
    let refresh = refresh(&world, &session, session.refresh, at(41));
    let event = refresh.reuse_event.id;

    assert_eq!(world.refresh_session(refresh).await.unwrap(), RefreshOutcome::Revoked);

    assert!(!world.lives(session.id, at(41)).await);
    assert_eq!(present(&world, &session, third, at(42)).await.0, RefreshOutcome::Refused);
    assert_eq!(present(&world, &session, session.refresh, at(42)).await.0, RefreshOutcome::Refused);
    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.kind, event.session_id), (AuditKind::RefreshReused, Some(session.id)));
    assert!(event.user_id.is_some());
}

pub(super) async fn a_response_lost_for_days_is_recovered(world: World) {
    let session = signed_in(&world).await;
    let (_, missed) = rotate(&world, &session, session.refresh, at(10)).await;

    let (live, successor) = rotate(&world, &session, session.refresh, at(20 * DAY)).await;

    assert_ne!(successor, missed);
    assert_eq!(live.session.idle_expires_at, at(50 * DAY));
    assert_eq!(world.find_live_session(session.id, at(20 * DAY)).await.unwrap(), Some(live));
    rotate(&world, &session, successor, at(20 * DAY + 1)).await;
    let events = world.events().await;
    assert!(events.iter().all(|event| event.kind != AuditKind::RefreshReused));
}

pub(super) async fn a_new_successor_has_a_grace_of_its_own(world: World) {
    let session = signed_in(&world).await;
    rotate(&world, &session, session.refresh, at(10)).await;
    let (live, second) = rotate(&world, &session, session.refresh, at(100)).await;

    let (again, _) = present(&world, &session, session.refresh, at(130)).await;

    let sealed = second.as_bytes().to_vec();
    assert_eq!(again, RefreshOutcome::SameSuccessor { sealed, live: Box::new(live) });
    let (_, third) = rotate(&world, &session, session.refresh, at(131)).await;
    rotate(&world, &session, third, at(132)).await;
    assert_eq!(present(&world, &session, session.refresh, at(133)).await.0, RefreshOutcome::Refused);
    assert!(world.lives(session.id, at(133)).await, "a late twin ends nothing");
}

pub(super) async fn a_successor_replaced_unused_ends_the_session(world: World) {
    let session = signed_in(&world).await;
    let (_, unused) = rotate(&world, &session, session.refresh, at(10)).await;
    let (_, successor) = rotate(&world, &session, session.refresh, at(41)).await;
    assert!(!is_good(&world, &session, unused, at(41)).await);
    let refresh = refresh(&world, &session, unused, at(41));
    let event = refresh.reuse_event.id;

    assert_eq!(world.refresh_session(refresh).await.unwrap(), RefreshOutcome::Revoked);

    assert!(!world.lives(session.id, at(41)).await);
    assert_eq!(present(&world, &session, successor, at(42)).await.0, RefreshOutcome::Refused);
    assert_eq!(world.event_of(event).await.unwrap().kind, AuditKind::RefreshReused);
}

pub(super) async fn a_sealed_successor_deleted_early_is_replaced(world: World) {
    let session = signed_in(&world).await;
    rotate(&world, &session, session.refresh, at(10)).await;
    world.purge(at(41)).await.unwrap(); // as if by an instance whose clock is ahead

    let (_, successor) = rotate(&world, &session, session.refresh, at(20)).await;

    rotate(&world, &session, successor, at(21)).await;
}

pub(super) async fn reuse_of_any_earlier_token_ends_the_session(world: World) {
    let session = signed_in(&world).await;
    let mut token = session.refresh;
    for day in 1..=20 {
        token = rotate(&world, &session, token, at(day * DAY)).await.1;
    }

    assert_eq!(present(&world, &session, session.refresh, at(21 * DAY)).await.0, RefreshOutcome::Revoked);

    assert_eq!(present(&world, &session, token, at(21 * DAY)).await.0, RefreshOutcome::Refused);
}

pub(super) async fn a_refresh_that_ends_nothing_writes_no_reuse(world: World) {
    let session = signed_in(&world).await;
    let (_, second) = rotate(&world, &session, session.refresh, at(10)).await;
    present(&world, &session, session.refresh, at(11)).await;
    rotate(&world, &session, second, at(12)).await;
    present(&world, &session, session.refresh, at(13)).await;

    let events = world.events().await;

    assert!(events.iter().all(|event| event.kind != AuditKind::RefreshReused));
}

pub(super) async fn an_ended_session_has_no_grace(world: World) {
    let session = signed_in(&world).await;
    let (live, successor) = rotate(&world, &session, session.refresh, at(10)).await;
    let which = EndedSession::Own(live.user.id, session.id);
    world.end_sessions(which, world.event(AuditKind::SignedOut, at(11)), at(11)).await.unwrap();

    assert_eq!(present(&world, &session, session.refresh, at(12)).await.0, RefreshOutcome::Refused);
    assert_eq!(present(&world, &session, successor, at(12)).await.0, RefreshOutcome::Refused);
    assert!(!is_good(&world, &session, session.refresh, at(12)).await);
    assert!(!is_good(&world, &session, successor, at(12)).await);
}

pub(super) async fn a_session_slides_until_it_was_idle_too_long(world: World) {
    let session = signed_in(&world).await;
    let (_, second) = rotate(&world, &session, session.refresh, at(29 * DAY)).await;
    let (_, third) = rotate(&world, &session, second, at(58 * DAY)).await;

    assert!(world.lives(session.id, at(88 * DAY - 1)).await);
    assert_eq!(present(&world, &session, third, at(88 * DAY)).await.0, RefreshOutcome::Refused);
    assert!(!is_good(&world, &session, third, at(88 * DAY)).await);
}

pub(super) async fn no_refresh_outlives_the_absolute_end(world: World) {
    let session = signed_in(&world).await;
    let mut token = session.refresh;
    for day in [29, 58, 87] {
        token = rotate(&world, &session, token, at(day * DAY)).await.1;
    }

    assert!(world.lives(session.id, at(90 * DAY - 1)).await);
    assert!(!world.lives(session.id, at(90 * DAY)).await);
    assert_eq!(present(&world, &session, token, at(90 * DAY)).await.0, RefreshOutcome::Refused);
}

pub(super) async fn a_token_of_no_session_is_refused(world: World) {
    let session = signed_in(&world).await;
    let stranger = world.session(at(0));

    assert_eq!(present(&world, &stranger, stranger.refresh, at(1)).await.0, RefreshOutcome::Refused);
    assert_eq!(present(&world, &stranger, session.refresh, at(1)).await.0, RefreshOutcome::Refused);

    assert!(!is_good(&world, &stranger, session.refresh, at(1)).await);
    assert!(world.lives(session.id, at(1)).await);
}

pub(super) async fn a_banned_user_refreshes_nothing(world: World) {
    let session = signed_in(&world).await;
    let (live, successor) = rotate(&world, &session, session.refresh, at(10)).await;
    world.ban(live.user.id, at(11)).await;

    assert_eq!(present(&world, &session, successor, at(12)).await.0, RefreshOutcome::Refused);
    assert_eq!(present(&world, &session, session.refresh, at(12)).await.0, RefreshOutcome::Refused);
    assert!(!is_good(&world, &session, successor, at(12)).await);
}

pub(super) async fn checking_a_valid_token_changes_nothing(world: World) {
    let session = signed_in(&world).await;
    assert!(is_good(&world, &session, session.refresh, at(1)).await);
    let (live, successor) = rotate(&world, &session, session.refresh, at(10)).await;

    assert!(is_good(&world, &session, successor, at(40)).await);
    assert!(is_good(&world, &session, session.refresh, at(40)).await, "just replaced");
    assert!(is_good(&world, &session, session.refresh, at(DAY)).await, "its successor was not used");

    assert_eq!(world.find_live_session(session.id, at(DAY)).await.unwrap(), Some(live));
    rotate(&world, &session, successor, at(DAY)).await;
    assert!(!is_good(&world, &session, session.refresh, at(DAY)).await, "its successor was used");
    assert!(is_good(&world, &session, successor, at(DAY)).await);
}

pub(super) async fn the_grace_window_ends_with_its_last_millisecond(world: World) {
    let session = signed_in(&world).await;
    rotate(&world, &session, session.refresh, at(0)).await;
    let last = at(0).plus(GRACE);
    let after = Timestamp::from_millis(last.as_millis() + 1);

    let in_grace = present(&world, &session, session.refresh, last).await.0;

    assert!(matches!(in_grace, RefreshOutcome::SameSuccessor { .. }), "{in_grace:?}");
    rotate(&world, &session, session.refresh, after).await;
}

pub(super) async fn an_expired_session_is_refused_and_not_revoked(world: World) {
    let session = signed_in(&world).await;
    rotate(&world, &session, session.refresh, at(10)).await;

    assert_eq!(present(&world, &session, session.refresh, at(40 * DAY)).await.0, RefreshOutcome::Refused);

    let events = world.events().await;
    assert!(events.iter().all(|event| event.kind != AuditKind::RefreshReused));
}
