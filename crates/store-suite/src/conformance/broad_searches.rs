//! Cases of searches that many users match, whose pages are read along the order. The numbers of users are chosen so that this
//! way costs less than collecting all matches.

use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{Direction, UserFilter, UserOrder, UserSearch, UserSort};
use latchkey_store::{ListUsers, NewAccount, UserPosition};

use super::fixtures::{World, at};
use super::profiles::{named, update};

/// Creates users of six kinds, some with equal creation times, and returns them with whether "mar" finds them.
async fn people(world: &World) -> Vec<(User, bool)> {
    let mut users = Vec::new();
    for number in 0..60 {
        let now = at(number / 2);
        let user = match number % 6 {
            0 | 1 => renamed(world, &format!("mara{number}"), "Mara Bianchi", number).await,
            2 => renamed(world, &format!("maria{number}"), "Nobody", number).await,
            3 => renamed(world, &format!("zoe{number}"), "Zoe Di Marino", number).await,
            4 => renamed(world, &format!("quentin{number}"), "Quentin", number).await,
            _ => {
                let account = world.account(&format!("mark{number}"), now);
                world.create(NewAccount { profile: None, ..account }).await
            }
        };
        if number == 27 {
            world.ban(user.id, at(100)).await; // hidden from the profile search
        }
        if number == 40 {
            world.purge(at(41)).await.unwrap(); // brings the index up to date
        }
        users.push((world.user(user.id).await, number % 6 != 4));
    }
    users
}

async fn renamed(world: &World, address: &str, name: &str, number: i64) -> User {
    let user = world.verified(address, at(number / 2)).await;
    world.update_profile(update(user.id, named(name))).await.unwrap();
    user
}

fn list(search: &str, order: UserOrder, position: UserPosition) -> ListUsers {
    let filter = UserFilter { search: UserSearch::parse(search), ..UserFilter::default() };
    ListUsers { filter, order, position, limit: 3 }
}

/// Reads all pages, forwards and then backwards, and compares them with the users expected.
async fn check_pages(world: &World, search: &str, order: UserOrder, expected: &[User]) {
    let of = (search, order);
    let (mut position, mut found) = (UserPosition::Offset(0), Vec::new());
    loop {
        let page = world.list_users(&list(search, order, position)).await.unwrap();
        assert_eq!(page.total, expected.len() as u64, "{of:?}");
        found.extend(page.users);
        if !page.has_more {
            break;
        }
        position = UserPosition::After(order.sort.key_of(found.last().unwrap()));
    }
    assert_eq!(found, expected, "{of:?}");
    let last = order.sort.key_of(&found.pop().unwrap());
    let before = world.list_users(&list(search, order, UserPosition::Before(last))).await.unwrap();
    assert_eq!(before.users, found[found.len() - 3..], "{of:?}");
    let skipping = world.list_users(&list(search, order, UserPosition::Offset(4))).await.unwrap();
    assert_eq!(skipping.users, expected[4..7], "{of:?}");
}

pub(super) async fn a_search_that_many_match_is_paged_in_every_order(world: World) {
    let people = people(&world).await;
    let marked = |matches: &dyn Fn(&User, bool) -> bool| -> Vec<User> {
        people.iter().filter(|(user, is_mar)| matches(user, *is_mar)).map(|(user, _)| user.clone()).collect()
    };
    let begins = |user: &User, text: &str| user.email.as_typed().starts_with(text);
    for (search, expected) in [
        ("mar", marked(&|_, is_mar| is_mar)),
        ("ma", marked(&|_, is_mar| is_mar)),
        ("mar di", marked(&|user, is_mar| is_mar && begins(user, "zoe"))),
        ("mara", marked(&|user, _| begins(user, "mara"))),
        ("ma bi", marked(&|user, _| begins(user, "mara"))),
        ("mari", marked(&|user, is_mar| is_mar && !begins(user, "mark") && !begins(user, "mara"))),
    ] {
        assert!(expected.len() >= 10, "{search}");
        for sort in [UserSort::Created, UserSort::LastSignIn, UserSort::Email] {
            for direction in [Direction::Ascending, Direction::Descending] {
                let mut expected = expected.clone();
                expected.sort_by_key(|user| (key(sort, user), user.id));
                if direction == Direction::Descending {
                    expected.reverse();
                }
                check_pages(&world, search, UserOrder { sort, direction }, &expected).await;
            }
        }
    }
}

/// Returns the key of a sort, as text that compares like it.
fn key(sort: UserSort, user: &User) -> String {
    match sort {
        UserSort::Created => format!("{:020}", user.created_at.as_millis()),
        UserSort::LastSignIn => format!("{:020}", user.last_sign_in_at.map_or(0, Timestamp::as_millis)),
        UserSort::Email => user.email.key().as_str().to_owned(),
    }
}

pub(super) async fn matches_that_lie_far_apart_are_found(world: World) {
    let mut expected = Vec::new();
    for number in 0..30 {
        expected.push(renamed(&world, &format!("n{number}"), "Mara", 0).await);
    }
    for number in 0..50 {
        world.verified(&format!("o{number}"), at(9)).await;
    }
    world.purge(at(10)).await.unwrap(); // brings the index up to date
    expected.sort_by_key(|user| std::cmp::Reverse(user.id));

    let page = world.users("mara", UserPosition::Offset(0), 3).await;

    assert_eq!((page.total, page.has_more), (30, true));
    let ids: Vec<_> = page.users.iter().map(|user| user.id).collect();
    assert_eq!(ids, expected.iter().take(3).map(|user| user.id).collect::<Vec<_>>());
}
