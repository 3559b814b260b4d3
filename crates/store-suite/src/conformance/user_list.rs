//! Cases of the filters and orders of the list of users. A model filters and sorts all users in memory.

use std::cmp::Ordering;

use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{Direction, UserFilter, UserKeyValue, UserOrder, UserSort, UserState};
use latchkey_store::{ListUsers, NewAccount, ReplaceHash, UpdateUser, UserPosition};

use super::fixtures::{World, at, days, password};
use super::oauth_acts::{google, identity};

const HOUR: i64 = 3_600;
/// Users whose password is kept as a hash from elsewhere, and their hashes: of schemes before and after argon2id in the
/// index.
const IMPORTED: [(&str, &str); 2] = [("user0", "$2b$10$hash"), ("user5", "bcrypt_sha256$$2b$10$hash")];

/// Makes users of all states, whose times of creation fall on three days, and changes some of them.
async fn mixed(world: &World) {
    for number in 0..12_i64 {
        let now = at(number * 7 * HOUR);
        let name = format!("user{number}");
        let user = match number % 4 {
            0 => world.verified(&name, now).await,
            1 => world.unverified(&name, now).await,
            2 => world.pending(&name, now).await,
            _ => world.create(NewAccount { profile: None, ..world.account(&name, now) }).await,
        };
        if number % 4 == 0 {
            let now = at(1_000 * HOUR - number);
            let session = world.open_session(user.id, now).await;
            if number == 8 {
                world.add_passkey(user.id, session.id, now).await;
            }
        }
    }
    let entered = [
        world.enter(google("1", "ada"), at(5 * HOUR)).await,
        world.enter(google("2", "bob"), at(30 * HOUR)).await,
        world.enter(identity("github", "1", Some("cay"), true), at(31 * HOUR)).await,
    ];
    let sign_in = world.with_identity(google("1", "ada"), at(100 * HOUR));
    let session = sign_in.entry.session.clone();
    world.sign_in_with_identity(sign_in).await.unwrap();
    world.link(entered[0].id, &session, google("3", "ada"), at(100 * HOUR)).await;
    world.link(entered[0].id, &session, identity("github", "2", None, false), at(100 * HOUR)).await;
    let all = everybody(world).await;
    let named = |name: &str| all.iter().find(|user| user.email.local_part() == name).unwrap().id;
    world.ban(named("user0"), at(200 * HOUR)).await;
    world.ban(named("bob"), at(200 * HOUR)).await;
    world.ban(named("user2"), at(200 * HOUR)).await;
    let unban = UpdateUser { banned: Some(false), ..world.change(named("user2"), at(201 * HOUR)) };
    world.update_user(unban).await.unwrap();
    let verify = UpdateUser { email_verified: Some(true), ..world.change(named("user1"), at(201 * HOUR)) };
    world.update_user(verify).await.unwrap();
    assert!(world.deletes_profile(named("user4"), at(202 * HOUR)).await);
    world.unlink(named("ada"), "google", Some("3"), at(203 * HOUR)).await;
    world.unlink(named("ada"), "github", None, at(203 * HOUR)).await;
    let replaced = IMPORTED.map(|(name, hash)| ReplaceHash {
        user_id: named(name),
        from: password("secret"),
        to: PasswordHash::from_phc(hash.to_owned()),
        now: at(203 * HOUR),
    });
    assert_eq!(world.replace_hashes(replaced.to_vec()).await.unwrap(), 2);
    world.delete(&[named("cay"), named("user8"), named("user11")], Vec::new()).await;
}

async fn everybody(world: &World) -> Vec<User> {
    world.users("", UserPosition::Offset(0), 1_000).await.users
}

fn is_in(user: &User, state: UserState) -> bool {
    let own = if user.is_banned() {
        UserState::Banned
    } else if user.is_in_deletion() {
        UserState::Deletion
    } else if user.is_pending {
        UserState::Pending
    } else if user.email_verified {
        UserState::Verified
    } else {
        UserState::Unverified
    };
    match state {
        UserState::NoProfile => user.profile.is_none(),
        UserState::Operator => false,
        UserState::ImportedHash => IMPORTED.iter().any(|(name, _)| *name == user.email.local_part()),
        state => state == own,
    }
}

fn passes(user: &User, filter: &UserFilter) -> bool {
    let signed_in = user.last_sign_in_at;
    filter.state.is_none_or(|state| is_in(user, state))
        && filter.signed_in_after.is_none_or(|time| signed_in.is_some_and(|at| at >= time))
        && filter.signed_in_before.is_none_or(|time| signed_in.is_none_or(|at| at < time))
        && filter.provider.as_ref().is_none_or(|key| user.providers().contains(&key.as_str()))
        && filter.created_after.is_none_or(|time| user.created_at >= time)
        && filter.created_before.is_none_or(|time| user.created_at < time)
}

fn compare(sort: UserSort, one: &User, other: &User) -> Ordering {
    let (one, other) = (sort.key_of(one), sort.key_of(other));
    let by_value = match (&one.value, &other.value) {
        (UserKeyValue::Time(one), UserKeyValue::Time(other)) => one.cmp(other),
        (UserKeyValue::Email(one), UserKeyValue::Email(other)) => one.cmp(other),
        _ => Ordering::Equal,
    };
    by_value.then(one.id.cmp(&other.id))
}

fn expected(all: &[User], filter: &UserFilter, order: UserOrder) -> Vec<User> {
    let mut users: Vec<User> = all.iter().filter(|user| passes(user, filter)).cloned().collect();
    users.sort_by(|one, other| compare(order.sort, one, other));
    if order.direction == Direction::Descending {
        users.reverse();
    }
    users
}

fn filters() -> Vec<UserFilter> {
    let mut states: Vec<Option<UserState>> = UserState::ALL.iter().copied().map(Some).collect();
    states.push(None);
    let times: [(Option<Timestamp>, Option<Timestamp>); 5] = [
        (None, None),
        (Some(at(24 * HOUR)), Some(at(48 * HOUR))),
        (Some(at(7 * HOUR)), Some(at(49 * HOUR))),
        (None, Some(at(20 * HOUR))),
        (Some(at(30 * HOUR)), Some(at(29 * HOUR))),
    ];
    let sign_ins: [(Option<Timestamp>, Option<Timestamp>); 5] = [
        (None, None),
        (Some(Timestamp::from_millis(0)), None),
        (Some(at(1)), None),
        (None, Some(at(1_000 * HOUR - 4))),
        (Some(at(1_000 * HOUR - 8)), Some(at(1_000 * HOUR))),
    ];
    let mut filters = Vec::new();
    for state in states {
        for provider in [None, Some("google"), Some("github"), Some("none"), Some("email"), Some("passkey")] {
            for (created_after, created_before) in times {
                let provider = provider.map(str::to_owned);
                let of_time =
                    UserFilter { state, provider, created_after, created_before, ..UserFilter::default() };
                for (signed_in_after, signed_in_before) in sign_ins {
                    filters.push(UserFilter { signed_in_after, signed_in_before, ..of_time.clone() });
                }
            }
        }
    }
    filters
}

fn orders() -> impl Iterator<Item = UserOrder> {
    let directions = [Direction::Ascending, Direction::Descending];
    let of = move |sort: UserSort| directions.map(|direction| UserOrder { sort, direction });
    UserSort::ALL.iter().copied().flat_map(of)
}

pub(super) async fn filters_and_orders_agree_with_a_model(world: World) {
    mixed(&world).await;
    let all = everybody(&world).await;
    assert!(all.len() > 10 && all.iter().any(|user| user.last_sign_in_at.is_some()));

    for filter in filters() {
        for order in orders() {
            let list =
                ListUsers { filter: filter.clone(), order, position: UserPosition::Offset(0), limit: 100 };
            let page = world.list_users(&list).await.unwrap();
            let users = expected(&all, &filter, order);
            assert_eq!(page.total, users.len() as u64, "{filter:?}");
            assert_eq!(page.users, users, "{filter:?} {order:?}");
        }
    }
}

pub(super) async fn pages_of_every_order_follow_one_another_both_ways(world: World) {
    mixed(&world).await;
    let all = everybody(&world).await;
    let bands =
        [UserFilter::default(), UserFilter { state: Some(UserState::Verified), ..UserFilter::default() }];

    for filter in bands {
        for order in orders() {
            let users = expected(&all, &filter, order);
            let page_at = |position| ListUsers { filter: filter.clone(), order, position, limit: 2 };
            for (number, chunk) in users.chunks(2).enumerate() {
                let first = order.sort.key_of(&chunk[0]);
                let before = world.list_users(&page_at(UserPosition::Before(first))).await.unwrap();
                let start = (2 * number).saturating_sub(2);
                assert_eq!(before.users, users[start..2 * number], "before {number} of {order:?}");
                assert_eq!(before.has_more, start > 0);
                let last = order.sort.key_of(chunk.last().unwrap());
                let after = world.list_users(&page_at(UserPosition::After(last))).await.unwrap();
                let end = users.len().min(2 * number + 4);
                let next = users.get(2 * number + 2..end).unwrap_or_default();
                assert_eq!(after.users, next, "after {number} of {order:?}");
                assert_eq!(after.total, users.len() as u64);
            }
        }
    }
}

pub(super) async fn the_last_sign_in_is_that_of_the_audit_log(world: World) {
    let ada = world.verified("ada", at(0)).await;
    assert_eq!(world.user(ada.id).await.last_sign_in_at, None);

    world.open_session(ada.id, at(7)).await;
    assert_eq!(world.user(ada.id).await.last_sign_in_at, Some(at(7)));
    world.open_session(ada.id, at(9)).await;

    assert_eq!(world.user(ada.id).await.last_sign_in_at, Some(at(9)));
    assert_eq!(world.user(ada.id).await.updated_at, ada.updated_at);
}

pub(super) async fn numbers_stay_right_after_a_purge(world: World) {
    mixed(&world).await;
    let filter = UserFilter { state: Some(UserState::Verified), ..UserFilter::default() };
    let before = world.users_by(filter.clone(), UserSort::Email, UserPosition::Offset(0), 100).await;

    world.purge(at(300 * HOUR)).await.unwrap();
    let late = world.verified("late", at(0).plus(days(13))).await;

    let after = world.users_by(filter, UserSort::Email, UserPosition::Offset(0), 100).await;
    assert_eq!(after.total, before.total + 1);
    assert!(after.users.contains(&world.user(late.id).await));
}
