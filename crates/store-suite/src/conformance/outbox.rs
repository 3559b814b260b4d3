//! Cases of the outbox: a worker claims mails under a lease, only the lease's holder reports their delivery,
//! and mails that failed too often are given up.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::{LeaseId, MailId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::profile::Name;

use super::fixtures::{MINUTE, World, at, email, key, mac};
use super::profiles::{named, update};
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{
    ClaimedMail, Lease, ListMails, ListedMail, MailFate, MailKey, MailPosition, MailState, RetryMail,
};

/// Creates an account with `count` mails, one per second from `at(1)` on.
async fn write_mails(world: &World, count: i64) {
    world.verified("Ada", at(0)).await;
    for seconds in 1..=count {
        world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(seconds)).await;
    }
}

async fn claim(world: &World, limit: u32, seconds: i64) -> (LeaseId, Vec<ClaimedMail>) {
    let lease = world.lease(at(seconds));
    (lease.id, world.claim_mails(lease, &MailSchedule::default(), limit, at(seconds)).await.unwrap())
}

async fn settle(world: &World, id: MailId, lease: LeaseId, fate: MailFate, seconds: i64) -> bool {
    world.settle_mail(id, lease, fate, at(seconds)).await.unwrap()
}

fn retry(seconds: i64) -> MailFate {
    MailFate::RetryAt { at: at(seconds), error: "451 try later".to_owned() }
}

fn dead() -> MailFate {
    MailFate::Dead { error: "550 no such box".to_owned() }
}

async fn only_mail(world: &World) -> ListedMail {
    let mut mails = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
    assert_eq!(mails.len(), 1);
    mails.remove(0)
}

pub(super) async fn mails_are_claimed_oldest_first(world: World) {
    write_mails(&world, 5).await;

    let (_, first) = claim(&world, 3, 10).await;
    let (_, second) = claim(&world, 3, 10).await;

    let times: Vec<_> = first.iter().chain(&second).map(|mail| mail.created_at).collect();
    assert_eq!(times, (1..=5).map(at).collect::<Vec<_>>());
    assert_eq!((first.len(), second.len()), (3, 2));
}

pub(super) async fn a_claimed_mail_is_whole(world: World) {
    let user = world.verified("Ada", at(0)).await;
    let request =
        world.request(&key("ada"), Purpose::ResetPassword, super::acts::email_code(mac(1), at(1)), at(1));
    let mail = request.mail.clone();
    world.request_email_code(request).await.unwrap().unwrap();

    let (_, claimed) = claim(&world, 10, 2).await;

    assert_eq!(
        (claimed[0].id, &claimed[0].sealed, claimed[0].kind),
        (mail.id, &mail.sealed, MailKind::Reset)
    );
    assert_eq!((claimed[0].created_at, claimed[0].attempts), (at(1), 0));
    let recipient = &claimed[0].recipient;
    assert_eq!((recipient.user_id, &recipient.email), (Some(user.id), &email("Ada")));
    assert_eq!((recipient.name.as_ref().map(Name::as_str), recipient.is_contested), (Some("Ada"), false));
}

pub(super) async fn the_name_is_the_one_at_the_time_of_the_claim(world: World) {
    write_mails(&world, 1).await;
    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();
    world.update_profile(update(user.id, named("Augusta"))).await.unwrap();
    let (_, named) = claim(&world, 10, 6).await;
    assert_eq!(named[0].recipient.name.as_ref().map(Name::as_str), Some("Augusta"));

    assert!(world.deletes_profile(user.id, at(7)).await);

    let (_, nameless) = claim(&world, 10, 2 * MINUTE).await;
    assert_eq!(nameless[0].recipient.name, None);
}

pub(super) async fn a_mail_under_a_living_lease_is_claimed_by_nobody_else(world: World) {
    write_mails(&world, 2).await;
    assert_eq!(claim(&world, 10, 10).await.1.len(), 2);

    assert!(claim(&world, 10, 10).await.1.is_empty());
    assert!(claim(&world, 10, 69).await.1.is_empty());
}

pub(super) async fn a_mail_is_claimed_again_after_its_lease(world: World) {
    write_mails(&world, 1).await;
    let (first, mails) = claim(&world, 10, 10).await;

    let (second, again) = claim(&world, 10, 71).await;

    assert_eq!((again.len(), again[0].id, &again[0].sealed), (1, mails[0].id, &mails[0].sealed));
    let listed = only_mail(&world).await;
    for fate in [MailFate::Sent, retry(500), dead()] {
        assert!(!settle(&world, mails[0].id, first, fate, 72).await, "the first lease is stale");
        assert_eq!(only_mail(&world).await, listed);
    }
    assert!(settle(&world, mails[0].id, second, MailFate::Sent, 73).await);
}

pub(super) async fn a_sent_mail_is_sent_once(world: World) {
    write_mails(&world, 1).await;
    let (lease, mails) = claim(&world, 10, 10).await;

    assert!(settle(&world, mails[0].id, lease, MailFate::Sent, 11).await);

    assert!(!settle(&world, mails[0].id, lease, retry(12), 12).await, "a settled mail has no lease");
    assert!(claim(&world, 10, 10 * MINUTE).await.1.is_empty());
    assert_eq!(world.next_mail_due().await.unwrap(), None);
    let retry = RetryMail { id: mails[0].id, event: world.event(AuditKind::MailRetried, at(12)) };
    assert_eq!(world.retry_mails(vec![retry], at(12)).await.unwrap(), 0);
    assert_eq!(only_mail(&world).await.state, MailState::Sent);
}

pub(super) async fn an_unknown_mail_is_not_settled(world: World) {
    write_mails(&world, 1).await;
    let (lease, mails) = claim(&world, 10, 10).await;
    let (other_mail, other_lease) = (world.mail_id(at(10)), world.lease_id(at(10)));

    for fate in [MailFate::Sent, retry(500), dead()] {
        assert!(!settle(&world, other_mail, lease, fate.clone(), 11).await);
        assert!(!settle(&world, mails[0].id, other_lease, fate, 11).await);
    }

    assert_eq!(only_mail(&world).await.state, MailState::Queued);
}

pub(super) async fn a_mail_waits_for_its_retry(world: World) {
    write_mails(&world, 1).await;
    let (lease, mails) = claim(&world, 10, 10).await;

    assert!(settle(&world, mails[0].id, lease, retry(MINUTE), 11).await);

    let listed = only_mail(&world).await;
    assert_eq!((listed.state, listed.attempts, listed.next_attempt_at), (MailState::Queued, 1, at(MINUTE)));
    assert_eq!(listed.last_error.as_deref(), Some("451 try later"));
    assert_eq!(world.next_mail_due().await.unwrap(), Some(at(MINUTE)));
    assert!(claim(&world, 10, MINUTE - 1).await.1.is_empty());
    let (_, again) = claim(&world, 10, MINUTE).await;
    assert_eq!((again[0].id, again[0].attempts, &again[0].sealed), (mails[0].id, 1, &mails[0].sealed));
}

pub(super) async fn a_new_mail_of_a_clock_that_ran_ahead_is_due_at_once(world: World) {
    write_mails(&world, 1).await;
    assert!(claim(&world, 10, 0).await.1.is_empty(), "another instance may be a little ahead");

    let (_, mails) = claim(&world, 10, -60 * MINUTE).await;

    assert_eq!(mails.len(), 1);
}

pub(super) async fn a_lease_of_a_clock_that_ran_ahead_has_ended(world: World) {
    write_mails(&world, 1).await;
    claim(&world, 10, 10).await;
    assert!(claim(&world, 10, 5).await.1.is_empty(), "another instance may be a little ahead");

    let (_, mails) = claim(&world, 10, -60 * MINUTE).await;

    assert_eq!(mails.len(), 1);
}

pub(super) async fn a_retry_of_a_clock_that_ran_ahead_is_due_at_once(world: World) {
    write_mails(&world, 1).await;
    for (try_at, wait) in [(10, 5), (15, 10), (25, 20)] {
        let (lease, mails) = claim(&world, 10, try_at).await;
        assert!(settle(&world, mails[0].id, lease, retry(try_at + wait), try_at).await);
    }
    assert!(claim(&world, 10, 44).await.1.is_empty(), "its backoff is not over");

    let (_, mails) = claim(&world, 10, -2 * MINUTE).await;

    assert_eq!(mails.len(), 1);
}

pub(super) async fn a_dead_mail_stays_and_is_not_claimed(world: World) {
    write_mails(&world, 1).await;
    let (lease, mails) = claim(&world, 10, 10).await;

    assert!(settle(&world, mails[0].id, lease, dead(), 11).await);

    let listed = only_mail(&world).await;
    assert_eq!((listed.state, listed.last_error.as_deref()), (MailState::Dead, Some("550 no such box")));
    assert!(claim(&world, 10, 60 * MINUTE).await.1.is_empty());
    assert_eq!(world.next_mail_due().await.unwrap(), None);
}

pub(super) async fn dead_mails_are_tried_again_on_demand(world: World) {
    write_mails(&world, 3).await;
    let (lease, mails) = claim(&world, 10, 10).await;
    for mail in &mails {
        settle(&world, mail.id, lease, dead(), 11).await;
    }

    let retry = |id| RetryMail { id, event: world.event(AuditKind::MailRetried, at(12)) };
    assert_eq!(world.retry_mails(vec![retry(world.mail_id(at(12)))], at(12)).await.unwrap(), 0);
    assert_eq!(world.retry_mails(vec![retry(mails[1].id)], at(12)).await.unwrap(), 1);
    assert_eq!(world.retry_mails(vec![retry(mails[1].id)], at(12)).await.unwrap(), 0, "it is queued already");
    let (_, one) = claim(&world, 10, 12).await;
    assert_eq!((one.len(), one[0].id, &one[0].sealed), (1, mails[1].id, &mails[1].sealed));

    let all = mails.iter().map(|mail| retry(mail.id)).collect();
    assert_eq!(world.retry_mails(all, at(13)).await.unwrap(), 2);
    assert_eq!(claim(&world, 10, 13).await.1.len(), 2);
    let events = world.events().await.into_iter();
    let retried: Vec<_> = events.filter(|event| event.kind == AuditKind::MailRetried).collect();
    assert_eq!(retried.len(), 3);
    assert!(retried.iter().all(|event| event.user_id == mails[0].recipient.user_id), "{retried:?}");
}

pub(super) async fn a_mail_is_found_with_its_content_until_it_is_sent(world: World) {
    write_mails(&world, 3).await;
    let (lease, mails) = claim(&world, 2, 10).await;
    settle(&world, mails[0].id, lease, MailFate::Sent, 11).await;
    settle(&world, mails[1].id, lease, dead(), 11).await;

    let found = async |id| world.find_mail(id).await.unwrap().map(|found| (found.mail.state, found.sealed));

    assert_eq!(found(mails[0].id).await, Some((MailState::Sent, None)));
    assert_eq!(found(mails[1].id).await, Some((MailState::Dead, Some(mails[1].sealed.clone()))));
    assert_eq!(found(world.mail_id(at(12))).await, None);
    let dead = world.list_dead_mails(None, 10).await.unwrap();
    assert_eq!(dead.iter().map(|found| found.mail.id).collect::<Vec<_>>(), [mails[1].id]);
    let after = Some(MailKey { created_at: mails[1].created_at, id: mails[1].id });
    assert!(world.list_dead_mails(after, 10).await.unwrap().is_empty());
}

pub(super) async fn the_code_or_link_of_a_mail_works_until_it_is_replaced_or_used(world: World) {
    world.verified("eve", at(0)).await;
    world.send_code(&key("eve"), Purpose::ResetPassword, mac(1), at(5)).await;
    world.send_link(&key("eve"), Purpose::VerifyEmail, at(6)).await;
    let works = async || {
        let listed = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
        let mut works = Vec::new();
        for mail in listed.iter().rev() {
            works.push(world.find_mail(mail.id).await.unwrap().unwrap().has_live_secret);
        }
        works
    };
    let before = works().await;
    assert!(before[0], "{before:?}");

    world.send_code(&key("eve"), Purpose::ResetPassword, mac(2), at(7)).await;

    let after = works().await;
    assert_eq!((after[0], after.last()), (false, Some(&true)), "{after:?}");
}

pub(super) async fn the_next_due_mail_is_the_earliest_queued_or_leased(world: World) {
    assert_eq!(world.next_mail_due().await.unwrap(), None);
    write_mails(&world, 2).await;
    assert_eq!(world.next_mail_due().await.unwrap(), Some(at(1)));

    let lease = Lease { id: world.lease_id(at(10)), until: at(10).plus(Duration::from_mins(1)) };
    let mails = world.claim_mails(lease, &MailSchedule::default(), 10, at(10)).await.unwrap();
    assert_eq!(world.next_mail_due().await.unwrap(), Some(at(70)));

    settle(&world, mails[0].id, lease.id, retry(20), 11).await;
    assert_eq!(world.next_mail_due().await.unwrap(), Some(at(20)));
}

pub(super) async fn mails_are_listed_newest_first_and_by_state(world: World) {
    write_mails(&world, 4).await;
    let (lease, mails) = claim(&world, 2, 10).await;
    settle(&world, mails[0].id, lease, MailFate::Sent, 11).await;
    settle(&world, mails[1].id, lease, dead(), 11).await;
    world.send_code(&key("nobody"), Purpose::ResetPassword, mac(1), at(12)).await;

    let times = |mails: Vec<ListedMail>| mails.into_iter().map(|mail| mail.created_at).collect::<Vec<_>>();
    let listed = async |state, limit| {
        let page = world.list_mails(&ListMails::newest(state, limit)).await.unwrap();
        assert_eq!((page.queued, page.dead), (2, 1));
        (times(page.mails), page.total, page.has_more)
    };

    assert_eq!(listed(None, 10).await, (vec![at(4), at(3), at(2), at(1)], 4, false));
    assert_eq!(listed(None, 2).await, (vec![at(4), at(3)], 4, true));
    assert_eq!(listed(Some(MailState::Queued), 2).await, (vec![at(4), at(3)], 2, false));
    assert_eq!(listed(Some(MailState::Sent), 10).await, (vec![at(1)], 1, false));
    assert_eq!(listed(Some(MailState::Dead), 10).await, (vec![at(2)], 1, false));
    assert_eq!(listed(Some(MailState::Decoy), 10).await, (vec![], 0, false));
}

pub(super) async fn mails_are_listed_page_by_page(world: World) {
    write_mails(&world, 5).await;
    let (lease, mails) = claim(&world, 2, 10).await;
    settle(&world, mails[1].id, lease, dead(), 11).await;

    for state in [None, Some(MailState::Queued)] {
        let whole = world.list_mails(&ListMails::newest(state, 10)).await.unwrap().mails;
        let mut paged = Vec::new();
        loop {
            let position = paged.last().map_or(MailPosition::First, |mail| MailPosition::After(key_of(mail)));
            let list = ListMails { position, ..ListMails::newest(state, 2) };
            let page = world.list_mails(&list).await.unwrap();
            assert_eq!(page.total, whole.len() as u64);
            paged.extend(page.mails);
            if !page.has_more {
                break;
            }
        }
        assert_eq!(paged, whole, "{state:?}");

        let position = MailPosition::Before(key_of(&whole[3]));
        let list = ListMails { position, ..ListMails::newest(state, 2) };
        let page = world.list_mails(&list).await.unwrap();
        assert_eq!((page.mails, page.has_more), (whole[1..3].to_vec(), true), "{state:?}");
        let list = ListMails { limit: 3, ..list };
        let page = world.list_mails(&list).await.unwrap();
        assert_eq!((page.mails, page.has_more), (whole[..3].to_vec(), false), "{state:?}");
    }
}

fn key_of(mail: &ListedMail) -> MailKey {
    MailKey { created_at: mail.created_at, id: mail.id }
}

pub(super) async fn mails_are_listed_by_address(world: World) {
    write_mails(&world, 2).await;
    world.verified("Eve", at(0)).await;
    world.send_code(&key("eve"), Purpose::ResetPassword, mac(1), at(5)).await;

    let listed = async |name, state| {
        let page = world
            .list_mails(&ListMails { to: Some(email(name)), ..ListMails::newest(state, 1) })
            .await
            .unwrap();
        (page.mails.len(), page.total, page.has_more)
    };

    assert_eq!(listed("ADA", None).await, (1, 2, true));
    assert_eq!(listed("eve", Some(MailState::Queued)).await, (1, 1, false));
    assert_eq!(listed("eve", Some(MailState::Dead)).await, (0, 0, false));
    assert_eq!(listed("nobody", None).await, (0, 0, false));
}

pub(super) async fn a_listed_mail_has_all_fields_for_the_operator(world: World) {
    write_mails(&world, 1).await;

    let listed = only_mail(&world).await;

    assert_eq!((listed.kind, listed.email, listed.state), (MailKind::Reset, email("Ada"), MailState::Queued));
    assert_eq!((listed.attempts, listed.created_at, listed.next_attempt_at), (0, at(1), at(1)));
    assert_eq!(listed.last_error, None);
}

pub(super) async fn mails_are_deleted_with_their_user(world: World) {
    write_mails(&world, 2).await;
    let user = world.find_user_by_email(&key("ada")).await.unwrap().unwrap();

    world.delete(&[user.id], vec![world.event(AuditKind::UserDeleted, at(9))]).await;

    assert!(claim(&world, 10, 10).await.1.is_empty());
    assert!(world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails.is_empty());
}
