//! Cases of the admin's list of users, and of deletion.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::UserId;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{UserFilter, UserSearch, UserSort, UserState};

use super::fixtures::{World, at, key, mac};
use super::profiles::{named, update};
use latchkey_store::{NewAccount, UserPage, UserPosition};

fn ids(page: &UserPage) -> Vec<UserId> {
    page.users.iter().map(|user| user.id).collect()
}

fn after(user: &User) -> UserPosition {
    UserPosition::After(UserSort::Created.key_of(user))
}

/// Creates users, some with equal creation times, and returns them in the order of the list.
async fn people(world: &World, count: usize) -> Vec<User> {
    let mut users = Vec::new();
    for number in 0..count {
        users.push(world.verified(&format!("p{number}"), at(i64::try_from(number / 2).unwrap())).await);
    }
    users.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(b.id.cmp(&a.id)));
    users
}

pub(super) async fn users_are_listed_newest_first(world: World) {
    let users = people(&world, 5).await;

    let page = world.users("", UserPosition::Offset(0), 10).await;

    assert_eq!(page, UserPage { users, total: 5, has_more: false });
}

pub(super) async fn pages_by_offset_and_by_cursor_are_the_same(world: World) {
    let users = people(&world, 7).await;
    let mut cursor = UserPosition::Offset(0);

    for (page_number, expected) in users.chunks(3).enumerate() {
        let offset = UserPosition::Offset(u64::try_from(3 * page_number).unwrap());
        let (by_offset, by_cursor) =
            (world.users("", offset, 3).await, world.users("", cursor.clone(), 3).await);

        assert_eq!(by_offset, by_cursor, "page {page_number}");
        assert_eq!(by_offset, UserPage { users: expected.to_vec(), total: 7, has_more: page_number < 2 });
        let last = expected.last().unwrap();
        cursor = after(last);
    }
}

pub(super) async fn a_last_full_page_has_no_more(world: World) {
    let users = people(&world, 4).await;
    let after = after(&users[1]);

    for position in [UserPosition::Offset(2), after] {
        let page = world.users("", position, 2).await;
        assert_eq!((ids(&page), page.has_more), (vec![users[2].id, users[3].id], false));
    }
    let beyond = world.users("", UserPosition::Offset(1_000_000), 2).await;
    assert_eq!((beyond.users.len(), beyond.total, beyond.has_more), (0, 4, false));
}

pub(super) async fn a_cursor_stays_right_while_users_come_and_go(world: World) {
    let users = people(&world, 6).await;
    let after = after(&users[2]);

    world.verified("newcomer", at(100)).await;
    world.delete(&[users[0].id, users[2].id], vec![deletion(&world), deletion(&world)]).await;

    let page = world.users("", after, 10).await;
    assert_eq!(ids(&page), [users[3].id, users[4].id, users[5].id]);
}

pub(super) async fn users_are_searched_by_address_name_and_id(world: World) {
    let ada = world.verified("Ada.Lovelace", at(1)).await;
    let eve = world.verified("eve", at(2)).await;
    world.update_profile(update(eve.id, named("Evelyn 100% Love_ly"))).await.unwrap();
    let bare = world.create(NewAccount { profile: None, ..world.account("lovis", at(3)) }).await;

    for (search, found) in [
        ("ada.lovelace@example.org", vec![ada.id]),
        ("ADA.love", vec![ada.id]),
        ("love", vec![eve.id, ada.id]),
        ("lov", vec![bare.id, eve.id, ada.id]),
        ("@example.org", vec![]),
        ("ev", vec![eve.id]),
        ("lo ev", vec![eve.id]),
        ("velyn", vec![eve.id]),
        ("0% love", vec![]), // a short word begins a word
        ("100% love", vec![eve.id]),
        ("_ly", vec![eve.id]),
        ("%", vec![]),
        ("l_v", vec![]),
        ("l%v", vec![]),
        ("'", vec![]),
        ("\"", vec![]),
        ("\\", vec![]),
        ("nobody", vec![]),
    ] {
        let page = world.users(search, UserPosition::Offset(0), 10).await;
        assert_eq!(
            (ids(&page), page.total),
            (found.clone(), u64::try_from(found.len()).unwrap()),
            "{search}"
        );
    }
    let id = ada.id.to_string();
    assert_eq!(ids(&world.users(&id, UserPosition::Offset(0), 10).await), [ada.id]);
    assert!(
        world.users(&id[..8], UserPosition::Offset(0), 10).await.users.is_empty(),
        "only a whole id counts"
    );
}

pub(super) async fn a_search_is_paged_like_the_whole(world: World) {
    people(&world, 5).await;
    let other = world.verified("other", at(9)).await;
    let first = world.users("p", UserPosition::Offset(0), 100).await;
    let found: Vec<_> = first.users.iter().filter(|user| user.id != other.id).cloned().collect();
    assert_eq!((found.len(), first.total), (5, u64::try_from(first.users.len()).unwrap()));

    let after = after(&found[1]);
    let page = world.users("p", after, 2).await;

    assert_eq!((ids(&page), page.has_more), (vec![found[2].id, found[3].id], true));
    assert_eq!(page.total, first.total);
}

pub(super) async fn a_search_that_begins_every_address_finds_all(world: World) {
    for (number, name) in ["ada", "adam", "adele"].into_iter().enumerate() {
        world.verified(name, at(i64::try_from(number).unwrap())).await;
    }
    world.pending("adrian", at(9)).await;
    let pending = UserFilter {
        search: UserSearch::parse("ad"),
        state: Some(UserState::Pending),
        ..UserFilter::default()
    };
    let all = world.users("AD", UserPosition::Offset(0), 2).await;
    assert_eq!((all.users.len(), all.total), (2, 4));
    assert_eq!(world.users("ada", UserPosition::Offset(0), 10).await.total, 2);
    assert_eq!(world.users_by(pending.clone(), UserSort::Email, UserPosition::Offset(0), 10).await.total, 1);

    world.verified("zoe", at(10)).await;

    assert_eq!(world.users("ad", UserPosition::Offset(0), 10).await.total, 4);
    assert_eq!(world.users_by(pending, UserSort::Email, UserPosition::Offset(0), 10).await.total, 1);
}

fn deletion(world: &World) -> latchkey_domain::audit::AuditEvent {
    world.event(AuditKind::UserDeleted, at(50))
}

pub(super) async fn deleted_users_are_gone_with_all_that_is_theirs(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let (session, kept) = (world.open_session(ada.id, at(0)).await, world.open_session(eve.id, at(0)).await);
    let eve = world.user(eve.id).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(1)).await;
    let (unknown, events) = (world.user_id(at(1)), [deletion(&world), deletion(&world)]);

    let deleted = world.delete(&[unknown, ada.id], events.to_vec()).await;

    assert_eq!(deleted, 1, "unknown ids are skipped");
    assert_eq!(world.find_user(ada.id).await.unwrap(), None);
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), None);
    assert_eq!(world.find_profile(ada.id).await.unwrap(), None);
    assert!(!world.lives(session.id, at(2)).await);
    assert!(world.mails(at(2)).await.is_empty());
    assert_eq!(world.event_of(events[0].id).await, None);
    assert_eq!(world.event_of(events[1].id).await.unwrap().user_id, Some(ada.id));
    assert_eq!(world.user(eve.id).await, eve);
    assert!(world.lives(kept.id, at(2)).await);
}

pub(super) async fn a_freed_address_begins_anew(world: World) {
    let first = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;
    world.delete(&[first.id], vec![deletion(&world)]).await;

    let second = world.unverified("ada", at(1)).await;

    assert_ne!(second.id, first.id);
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert_eq!(world.reset(link, "evil", at(2)).await, None);
    assert!(world.list_sessions(second.id, at(2)).await.unwrap().is_empty());
}

pub(super) async fn an_empty_list_deletes_no_user(world: World) {
    world.verified("ada", at(0)).await;

    assert_eq!(world.delete(&[], Vec::new()).await, 0);

    assert_eq!(world.users("", UserPosition::Offset(0), 10).await.total, 1);
}

pub(super) async fn an_admin_deletes_a_profile_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let delete = world.act(user.id, AuditKind::ProfileDeleted, at(1));
    let event = delete.event.clone();

    assert_eq!(world.delete_profile(delete).await.unwrap(), Ok(true));
    assert!(!world.deletes_profile(user.id, at(2)).await);
    assert!(!world.deletes_profile(world.user_id(at(2)), at(2)).await);

    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
    assert_eq!(world.user(user.id).await.profile, None);
    assert_eq!(world.event_of(event.id).await.unwrap().user_id, Some(user.id));
}
