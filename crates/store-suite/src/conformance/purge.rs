//! Cases of the purge: expired rows are deleted, all others are kept.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::limits::{LimitKey, Take};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::time::Timestamp;
use serde_json::json;

use super::acts::known;
use super::fixtures::{DAY, HOUR, MINUTE, World, at, key, mac, take};
use super::guards::{fail, guard};
use super::oauth_acts::google;
use super::refresh::present;
use super::signing_keys::new_key;
use latchkey_store::{
    Entered, IdentityOutcome, LinkStatus, ListMails, MailFate, MailState, OpenedLink, RefreshOutcome,
    SettingChange, SignInOutcome, SignInWithIdentity, StateOutcome, UsedToken,
};

use Purpose::{ResetPassword, VerifyEmail};

/// Purges until no expired rows are left. Returns the number of deleted rows.
async fn purge(world: &World, now: Timestamp) -> u64 {
    let mut deleted = 0;
    for _ in 0..100 {
        match world.purge(now).await.unwrap() {
            0 => return deleted,
            some => deleted += some,
        }
    }
    panic!("a purge must come to an end");
}

pub(super) async fn a_fresh_store_has_nothing_to_purge(world: World) {
    assert_eq!(world.purge(at(0)).await.unwrap(), 0);
}

pub(super) async fn live_rows_are_not_purged(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    let before =
        (world.user(user.id).await, world.find_profile(user.id).await.unwrap(), world.events().await);

    purge(&world, at(9 * MINUTE)).await;

    let after = (world.user(user.id).await, world.find_profile(user.id).await.unwrap(), world.events().await);
    assert_eq!(after, before);
    assert!(world.lives(session.id, at(9 * MINUTE)).await);
    assert!(world.can_reset(link, at(9 * MINUTE)).await);
    assert_eq!(world.mails(at(9 * MINUTE)).await.len(), 2);
    assert!(world.verifies(&key("ada"), mac(1), at(9 * MINUTE)).await);
}

pub(super) async fn accounts_settings_keys_and_audit_are_never_purged(world: World) {
    let user = world.pending("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    let change = SettingChange { key: "a".to_owned(), value: Some(json!(1)) };
    world.save_settings(&[change], world.event(AuditKind::SettingsChanged, at(0)), at(0)).await.unwrap();
    let signing = world.ensure_signing_key(new_key(&world, at(0))).await.unwrap();
    let before = (world.load_settings().await.unwrap(), world.events().await);

    purge(&world, at(1_000 * DAY)).await;

    assert_eq!((world.load_settings().await.unwrap(), world.events().await), before);
    assert_eq!(world.list_signing_keys(at(1_000 * DAY)).await.unwrap(), [signing]);
    assert_eq!(world.user(user.id).await, user);
    assert!(world.find_user_by_email(&key("eve")).await.unwrap().is_some());
    assert_eq!(world.user(user.id).await.profile, user.profile);
}

pub(super) async fn expired_and_used_links_keep_their_status_for_seven_days(world: World) {
    world.unverified("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    let verify = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let used = world.send_link(&key("eve"), ResetPassword, at(0)).await;
    assert!(world.reset(used, "fresh", at(1)).await.is_some());

    purge(&world, at(6 * DAY)).await;
    assert_eq!(world.open_link(verify, at(6 * DAY)).await, known(LinkStatus::Expired));
    assert_eq!(world.look(used, ResetPassword, at(6 * DAY)).await, known(LinkStatus::Used));

    assert!(purge(&world, at(9 * DAY)).await > 0);
    assert_eq!(world.open_link(verify, at(9 * DAY)).await, OpenedLink::Unknown);
    assert_eq!(world.look(used, ResetPassword, at(9 * DAY)).await, OpenedLink::Unknown);
}

pub(super) async fn sent_mails_are_kept_for_thirty_days_and_dead_ones_longer(world: World) {
    world.verified("ada", at(0)).await;
    for seconds in 0..3 {
        world.send_code(&key("ada"), ResetPassword, mac(1), at(seconds)).await;
    }
    let lease = world.lease(at(9));
    let mails = world.claim_mails(lease, &MailSchedule::default(), 2, at(9)).await.unwrap();
    assert!(world.settle_mail(mails[0].id, lease.id, MailFate::Sent, at(9)).await.unwrap());
    let dead = MailFate::Dead { error: "550".to_owned() };
    assert!(world.settle_mail(mails[1].id, lease.id, dead, at(9)).await.unwrap());

    purge(&world, at(29 * DAY)).await;
    assert_eq!(world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails.len(), 3);

    purge(&world, at(31 * DAY)).await;
    let states: Vec<_> = world
        .list_mails(&ListMails::newest(None, 10))
        .await
        .unwrap()
        .mails
        .iter()
        .map(|mail| mail.state)
        .collect();
    assert_eq!(states, [MailState::Queued, MailState::Dead]);
}

pub(super) async fn ended_sessions_are_purged_after_seven_days(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    assert!(matches!(present(&world, &session, session.refresh, at(1)).await.0, RefreshOutcome::Rotated(_)));
    world.end_sessions_of(user.id, at(2)).await;
    purge(&world, at(6 * DAY)).await;
    assert_eq!(present(&world, &session, session.refresh, at(6 * DAY)).await.0, RefreshOutcome::Refused);

    assert_eq!(world.purge(at(8 * DAY)).await.unwrap(), 1);

    assert_eq!(present(&world, &session, session.refresh, at(8 * DAY)).await.0, RefreshOutcome::Refused);
}

pub(super) async fn decoys_are_purged(world: World) {
    world.send_code(&key("nobody"), VerifyEmail, mac(1), at(0)).await;
    world.send_link(&key("nobody"), ResetPassword, at(0)).await;
    assert!(!world.verifies(&key("nobody"), mac(1), at(0)).await);

    assert!(purge(&world, at(40 * DAY)).await >= 4, "two email codes and two mails");

    assert_eq!(purge(&world, at(400 * DAY)).await, 0, "nothing of it may stay");
}

pub(super) async fn a_bucket_that_is_not_full_yet_is_kept(world: World) {
    let limits: [Take; 1] = [take("a", 2)];
    assert!(world.take(&limits, at(0)).await.unwrap().is_ok());
    assert!(world.take(&limits, at(0)).await.unwrap().is_ok());

    purge(&world, at(20)).await;
    assert!(world.take(&limits, at(20)).await.unwrap().is_err());

    assert_eq!(purge(&world, at(HOUR)).await, 1);
    assert!(world.take(&limits, at(HOUR)).await.unwrap().is_ok());
}

pub(super) async fn failures_that_count_are_kept(world: World) {
    let home = guard("ada", "home");
    for _ in 0..9 {
        fail(&world, &home, at(0)).await;
    }

    purge(&world, at(14 * MINUTE)).await;
    fail(&world, &home, at(14 * MINUTE)).await;
    purge(&world, at(14 * MINUTE + 1)).await;

    let begun = world.begin_sign_in(&key("ada"), &[], Some(&home), at(14 * MINUTE + 2)).await.unwrap();
    assert!(begun.is_err(), "{begun:?}");
    assert!(purge(&world, at(30 * DAY)).await > 0);
}

pub(super) async fn the_attempts_of_an_hour_are_kept(world: World) {
    world.unverified("ada", at(0)).await;
    for _ in 0..10 {
        assert!(!world.verifies(&key("ada"), mac(99), at(0)).await);
    }
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(50 * MINUTE)).await;

    purge(&world, at(50 * MINUTE)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(50 * MINUTE)).await);
}

pub(super) async fn a_known_client_stays_known_for_thirty_days(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    let opened = world.sign_in(world.right(user.id, "secret", Some(&home), at(0))).await.unwrap().unwrap();
    assert!(matches!(opened, SignInOutcome::Entered(Entered::Session(_))));

    purge(&world, at(29 * DAY)).await;
    for client in 0..12 {
        for _ in 0..9 {
            fail(&world, &guard("ada", &client.to_string()), at(29 * DAY)).await;
        }
    }

    let begun = world.begin_sign_in(&key("ada"), &[], Some(&home), at(29 * DAY + 1)).await.unwrap();
    assert!(begun.is_ok(), "{begun:?}");
}

pub(super) async fn a_cleared_failure_survives_a_purge(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let (outcome, successor) = present(&world, &session, session.refresh, at(1)).await;
    assert!(matches!(outcome, RefreshOutcome::Rotated(_)));

    purge(&world, at(20)).await;

    let again = present(&world, &session, session.refresh, at(20)).await.0;
    assert!(
        matches!(&again, RefreshOutcome::SameSuccessor { sealed, .. } if sealed == successor.as_bytes()),
        "{again:?}"
    );
}

pub(super) async fn a_purge_deletes_a_few_thousand_rows_per_call(world: World) {
    let rate = take("many", 1).rate;
    let key = |number: usize| LimitKey::new("many", &[&number.to_string()]);
    let limits: Vec<_> = (0..6_000).map(|number| Take { key: key(number), rate, limit: "many" }).collect();
    assert!(world.take(&limits, at(0)).await.unwrap().is_ok());

    let first = world.purge(at(HOUR)).await.unwrap();

    assert!((1..6_000).contains(&first), "{first}");
    assert_eq!(first + purge(&world, at(HOUR)).await, 6_000);
}

pub(super) async fn states_are_purged_after_a_day_and_codes_at_their_expiry(world: World) {
    let (flow, code) = (world.flow(None, at(0)), world.oauth_code(google("1", "ada"), None, at(0)));
    let token = Some(UsedToken { hash: world.token(), expires_at: at(HOUR) });
    let sign_in = || SignInWithIdentity { token, ..world.with_identity(google("1", "ada"), at(0)) };
    world.begin_flow(flow.clone()).await.unwrap();
    world.save_oauth_code(code.clone()).await.unwrap();
    world.sign_in_with_identity(sign_in()).await.unwrap();

    assert_eq!(purge(&world, at(59)).await, 0);
    assert_eq!(purge(&world, at(HOUR - 1)).await, 1, "the code");
    assert_eq!(world.sign_in_with_identity(sign_in()).await.unwrap(), IdentityOutcome::Replayed);
    assert_eq!(purge(&world, at(HOUR)).await, 1, "the token");
    assert!(matches!(world.take_flow(flow.state, at(DAY)).await.unwrap(), StateOutcome::Taken(_)));
    assert_eq!(purge(&world, at(DAY + 10 * MINUTE)).await, 1, "the state");
    assert_eq!(world.take_flow(flow.state, at(DAY + 10 * MINUTE)).await.unwrap(), StateOutcome::Unknown);
}
