//! Statements of the list of users. A page is read in one of two ways, which [`Way`] chooses by the numbers of users that
//! `user_counts` has: along the index of the order, skipping what the filter leaves out; or by collecting all matches from a
//! small set first. The total of the first way is a sum of numbers, that of the second way is counted.

pub(crate) mod statements;

use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{
    Direction, UserFilter, UserKey, UserKeyValue, UserOrder, UserSearch, UserSort, UserState,
};
use latchkey_store::{ListUsers, StoreResult, UserPosition};
use uuid::Uuid;

use super::read_account;
use crate::form::{NameQuery, Results, Script, Slot, Sql, Value, values};
use statements::{
    COUNT_MATCHES, CREATED, FIND_NUMBERS, OF_PROVIDER, OF_STATE, OPERATING, Ordered, SEARCHED, WALK,
    WITHOUT_PROFILE,
};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Way to a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Along the index of the order.
    Walk,
    /// From all users of a set.
    Gather(Set),
}

/// Set of users that a filter alone describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    State,
    NoProfile,
    Provider,
    Operators,
    Created,
}

/// Numbers of users, by which a [`Way`] is chosen.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    matches: u64,
    of_state: u64,
    of_provider: u64,
    of_days: u64,
    all: u64,
}

/// Handles of the statements that read a page and the total.
pub(crate) enum Read {
    Walk { total: Slot, page: Slot },
    Gather(Slot),
}

/// Adds the statement that reads the numbers of a filter. Times count as whole days.
pub(crate) fn find_numbers(script: &mut Script, filter: &UserFilter) -> Slot {
    let (from, until) = times(filter);
    let mut values = kind(filter);
    values.extend(values![from, until, from.div_euclid(DAY), until.saturating_add(DAY - 1).div_euclid(DAY)]);
    script.read(&FIND_NUMBERS, values)
}

pub(crate) fn numbers(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Numbers>> {
    results.find(slot, |cells| {
        cells.of("user_counts");
        let mut next = || Ok(u64::try_from(cells.int("total")?).unwrap_or_default());
        let (matches, of_state, of_provider) = (next()?, next()?, next()?);
        Ok(Numbers { matches, of_state, of_provider, of_days: next()?, all: next()? })
    })
}

impl Way {
    /// Chooses the way that reads fewer users.
    pub(crate) fn of(list: &ListUsers, numbers: Option<Numbers>) -> Self {
        let filter = &list.filter;
        if filter.state == Some(UserState::Operator) {
            return Self::Gather(Set::Operators);
        }
        let Some(numbers) = numbers else { return Self::Gather(Set::Created) }; // an empty time
        let sets = [
            (filter.state.is_some(), Set::State, numbers.of_state),
            (filter.provider.is_some(), Set::Provider, numbers.of_provider),
            (
                filter.created_after.is_some() || filter.created_before.is_some(),
                Set::Created,
                numbers.of_days,
            ),
        ];
        let smallest = sets.into_iter().filter(|(is_given, ..)| *is_given).min_by_key(|(.., number)| *number);
        let Some((_, set, number)) = smallest else { return Self::Walk };
        // The counts do not know providers of users without profile.
        if filter.state == Some(UserState::NoProfile) {
            return match filter.provider {
                Some(_) => Self::Gather(Set::Provider),
                None if Self::cost_of_walk(list, numbers) < number => Self::Walk,
                None => Self::Gather(if set == Set::State { Set::NoProfile } else { set }),
            };
        }
        if Self::cost_of_walk(list, numbers) < number { Self::Walk } else { Self::Gather(set) }
    }

    /// Estimates the number of users that a page along the index passes, if matches are spread evenly.
    fn cost_of_walk(list: &ListUsers, numbers: Numbers) -> u64 {
        let passed = if list.order.sort == UserSort::Created { numbers.of_days } else { numbers.all };
        let wanted = u64::from(list.limit) + offset(&list.position).unsigned_abs();
        wanted.saturating_mul(passed) / numbers.matches.max(1)
    }
}

/// Adds the statements that read a page without a search.
pub(crate) fn read(script: &mut Script, list: &ListUsers, way: Way) -> Read {
    match way {
        Way::Walk => {
            let total = count_matches(script, &list.filter);
            let page = script.read(statement(&WALK, list), page_values(list));
            Read::Walk { total, page }
        }
        Way::Gather(set) => {
            let statements = match set {
                Set::State => &OF_STATE,
                Set::NoProfile => &WITHOUT_PROFILE,
                Set::Provider => &OF_PROVIDER,
                Set::Operators => &OPERATING,
                Set::Created => &CREATED,
            };
            Read::Gather(script.read(statement(statements, list), page_values(list)))
        }
    }
}

/// Adds the statement that reads a page of a search; `names` are its words, if it has any.
pub(crate) fn search(
    script: &mut Script,
    list: &ListUsers,
    search: &UserSearch,
    names: Option<NameQuery>,
) -> Read {
    let mut values = page_values(list);
    let (prefix, end) = match search.id {
        Some(_) => (String::new(), String::new()),
        None => (search.prefix.clone(), format!("{}\u{10FFFF}", search.prefix)),
    };
    let email = search.email.as_ref().map(|email| email.as_str().to_owned());
    let names = names.unwrap_or_default();
    values.extend(values![search.id, prefix, end, email, names.candidates, names.longest, names.others]);
    Read::Gather(script.read(statement(&SEARCHED, list), values))
}

/// Decodes users and total, in the order in which they were read.
pub(crate) fn users(results: &Results<'_>, read: &Read) -> StoreResult<(Vec<User>, u64)> {
    match read {
        Read::Walk { total, page } => {
            let total = results.find(*total, |cells| cells.of("user_counts").int("total"))?;
            let users = results.list(*page, |cells| Ok(read_account(cells)?.user))?;
            Ok((users, u64::try_from(total.unwrap_or_default()).unwrap_or_default()))
        }
        Read::Gather(page) => {
            let mut total = 0;
            let users = results.list(*page, |cells| {
                total = cells.of("users").count("total")?;
                if cells.flag("id")? {
                    read_account(cells).map(|account| Some(account.user))
                } else {
                    Ok(None)
                }
            })?;
            Ok((users.into_iter().flatten().collect(), u64::from(total)))
        }
    }
}

fn count_matches(script: &mut Script, filter: &UserFilter) -> Slot {
    let (from, until) = times(filter);
    let first = from.saturating_add(DAY - 1).div_euclid(DAY);
    let last = until.div_euclid(DAY).max(first);
    let begin = first.saturating_mul(DAY).min(until);
    let mut values = kind(filter);
    values.extend(values![from, until, first, last, begin, last.saturating_mul(DAY).max(begin)]);
    script.read(&COUNT_MATCHES, values)
}

fn statement(way: &Ordered, list: &ListUsers) -> &'static Sql {
    let sort = match list.order.sort {
        UserSort::Created => 0,
        UserSort::LastSignIn => 1,
        UserSort::Email => 2,
    };
    let direction = match direction(list) {
        Direction::Descending => 0,
        Direction::Ascending => 1,
    };
    way[sort][direction]
}

/// Returns the direction in which the page is read. A page before a user is read backwards.
fn direction(list: &ListUsers) -> Direction {
    match list.position {
        UserPosition::Before(_) => list.order.direction.turned(),
        UserPosition::Offset(_) | UserPosition::After(_) => list.order.direction,
    }
}

/// Returns the values of state and provider.
fn kind(filter: &UserFilter) -> Vec<Value> {
    let provider = filter.provider.clone().unwrap_or_default();
    values![filter.state.map_or("", UserState::as_str), provider]
}

/// Returns the time of creation as a range, from the first value until before the second.
fn times(filter: &UserFilter) -> (i64, i64) {
    let from = filter.created_after.map_or(0, Timestamp::as_millis);
    let until = filter.created_before.map_or(i64::MAX, Timestamp::as_millis);
    (from, until)
}

fn offset(position: &UserPosition) -> i64 {
    match position {
        UserPosition::Offset(offset) => i64::try_from(*offset).unwrap_or(i64::MAX),
        UserPosition::After(_) | UserPosition::Before(_) => 0,
    }
}

/// Returns the values of the filter, of the key from which a page begins, and of its size.
fn page_values(list: &ListUsers) -> Vec<Value> {
    let (from, until) = times(&list.filter);
    let mut values = kind(&list.filter);
    values.extend(values![from, until]);
    let key = match &list.position {
        UserPosition::Offset(_) => start(list.order, from, until),
        UserPosition::After(key) | UserPosition::Before(key) => key.clone(),
    };
    values.push(match key.value {
        UserKeyValue::Time(at) => Value::from(at),
        UserKeyValue::Email(email) => email.into(),
    });
    values.extend(values![key.id, i64::from(list.limit) + 1, offset(&list.position)]);
    values
}

/// Returns the key before the first user of an order. It narrows the index of times, too.
fn start(order: UserOrder, from: i64, until: i64) -> UserKey {
    let is_up = order.direction == Direction::Ascending;
    let id = if is_up { Uuid::nil() } else { Uuid::max() };
    let time = |at: i64| UserKeyValue::Time(Timestamp::from_millis(at));
    let value = match order.sort {
        UserSort::Created if is_up => time(from.saturating_sub(1)),
        UserSort::Created => time(until),
        UserSort::LastSignIn => time(if is_up { i64::MIN } else { i64::MAX }),
        UserSort::Email => UserKeyValue::Email(if is_up { String::new() } else { "\u{10FFFF}".to_owned() }),
    };
    UserKey { value, id: id.into() }
}
