//! Statements of the list of users. A page is read in one of two ways, which [`Way`] chooses by the numbers of users that
//! `user_counts` has: along the index of the order, skipping what the filter leaves out; or by collecting all matches from a
//! small set first. The total of the first way is a sum of numbers, that of the second way is counted. `user_counts` does not
//! know last sign-ins, hashes from elsewhere and passwords, so that these are counted themselves.

pub(crate) mod broad;
mod pages;
mod sets;
pub(crate) mod statements;

use std::ops::Range;

use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{EMAIL_PROVIDER, PASSKEY_PROVIDER, User};
use latchkey_domain::user_list::{
    Direction, UserFilter, UserKey, UserKeyValue, UserSearch, UserSort, UserState,
};
use latchkey_store::{ListUsers, StoreResult, UserPosition};
use uuid::Uuid;

use super::read_account;
use crate::form::{NameQuery, Results, Script, Slot, Sql, Value, values};
use statements::{
    ALL_IN_RANGE, COUNT_MATCHES, CREATED, FIND_NUMBERS, OF_PROVIDER, OF_STATE, OPERATING, Ordered, SEARCHED,
    SIGNED_IN, WALK, WITH_IMPORTED_HASH, WITH_PASSKEY, WITHOUT_PROFILE, count_few_imported_hashes,
    count_few_signed_in, count_imported_hashes, count_passwords, count_signed_in,
};

/// Place of the number of skipped users in [`page_values`].
const OFFSET: usize = 7;
/// Places of the key, the size and the number of skipped users.
const BEYOND: Range<usize> = 4..8;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// Maximum size of a set that is small, whatever the number of users.
const FEW: u64 = 20_000;
/// Number up to which a set that `user_counts` does not know is counted, to choose a way.
const ENOUGH: i64 = 20_001;

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
    Passkey,
    Operators,
    Created,
    SignedIn,
    ImportedHash,
}

/// Numbers of users, by which a [`Way`] is chosen.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    matches: u64,
    of_state: u64,
    of_provider: u64,
    of_days: u64,
    all: u64,
    /// Users whose last sign-in was in the time, and those with a hash from elsewhere; all users if they are more than [`FEW`],
    /// and `None` if the filter does not ask.
    signed_in: Option<u64>,
    imported_hash: Option<u64>,
}

/// Handles of the statements that read [`Numbers`].
pub(crate) struct FoundNumbers {
    counts: Slot,
    signed_in: Option<Slot>,
    imported_hash: Option<Slot>,
}

/// Handles of the statements that read a page and the total.
pub(crate) enum Read {
    Walk { total: Slot, page: Slot },
    Gather(Slot),
}

/// Adds the statements that read the numbers of a filter. Times count as whole days.
pub(crate) fn find_numbers(script: &mut Script, filter: &UserFilter) -> FoundNumbers {
    let (from, until) = created(filter);
    let provider = identity_provider(filter).unwrap_or_default();
    let mut values = values![state(filter), provider.to_owned()];
    values.extend(values![from, until, from.div_euclid(DAY), until.saturating_add(DAY - 1).div_euclid(DAY)]);
    let counts = script.read(&FIND_NUMBERS, values);
    let signed_in = asks_for_sign_in(filter).then(|| {
        let (from, until) = signed_in(filter);
        count_few_signed_in(script, from, until, ENOUGH)
    });
    let imported_hash = asks_for_hash(filter).then(|| count_few_imported_hashes(script, ENOUGH));
    FoundNumbers { counts, signed_in, imported_hash }
}

pub(crate) fn numbers(results: &Results<'_>, found: &FoundNumbers) -> StoreResult<Option<Numbers>> {
    let few = |slot: Option<Slot>| slot.map(|slot| total(results, slot)).transpose();
    let (signed_in, imported_hash) = (few(found.signed_in)?, few(found.imported_hash)?);
    results.find(found.counts, |cells| {
        cells.of("user_counts");
        let mut next = || Ok(u64::try_from(cells.int("total")?).unwrap_or_default());
        let (matches, of_state, of_provider) = (next()?, next()?, next()?);
        let (of_days, all) = (next()?, next()?);
        let few_or_all = |number: Option<u64>| number.map(|number| if number > FEW { all } else { number });
        let (signed_in, imported_hash) = (few_or_all(signed_in), few_or_all(imported_hash));
        Ok(Numbers { matches, of_state, of_provider, of_days, all, signed_in, imported_hash })
    })
}

impl Way {
    /// Chooses the way that reads fewer users.
    pub(crate) fn of(list: &ListUsers, numbers: Option<Numbers>) -> Self {
        let filter = &list.filter;
        if filter.state == Some(UserState::Operator) {
            return Self::Gather(Set::Operators);
        }
        if filter.provider.as_deref() == Some(PASSKEY_PROVIDER) {
            return Self::Gather(Set::Passkey);
        }
        let Some(numbers) = numbers else { return Self::Gather(Set::Created) }; // an empty time
        let state = if filter.state == Some(UserState::NoProfile) { Set::NoProfile } else { Set::State };
        let is_of_state = filter.state.is_some() && !asks_for_hash(filter);
        let sets = [
            (state, is_of_state.then_some(numbers.of_state)),
            (Set::Provider, identity_provider(filter).map(|_| numbers.of_provider)),
            (Set::Created, asks_for_creation(filter).then_some(numbers.of_days)),
            (Set::SignedIn, numbers.signed_in),
            (Set::ImportedHash, numbers.imported_hash),
        ];
        let given: Vec<_> = sets.into_iter().filter_map(|(set, number)| Some((set, number?))).collect();
        let smallest = given.iter().copied().min_by_key(|(_, number)| *number);
        let Some((set, number)) = smallest else { return Self::Walk };
        if asks_for_password(filter) {
            return Self::Gather(set); // the number of matches is not known
        }
        if numbers.signed_in.is_some() || numbers.imported_hash.is_some() {
            // Beside another filter, the number of matches is not known, so that they are collected.
            let walks = number > FEW && given.len() == 1;
            return if walks { Self::Walk } else { Self::Gather(set) };
        }
        // The counts do not know providers of users without profile.
        if filter.state == Some(UserState::NoProfile) {
            return match filter.provider {
                Some(_) => Self::Gather(Set::Provider),
                None if Self::cost_of_walk(list, numbers) < number => Self::Walk,
                None => Self::Gather(set),
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
                Set::Passkey => &WITH_PASSKEY,
                Set::Operators => &OPERATING,
                Set::Created => &CREATED,
                Set::SignedIn => &SIGNED_IN,
                Set::ImportedHash => &WITH_IMPORTED_HASH,
            };
            Read::Gather(script.read(statement(statements, list), page_values(list)))
        }
    }
}

/// Adds the statement that reads a page of a search from all its matches.
pub(crate) fn search(script: &mut Script, list: &ListUsers, search: &UserSearch, names: NameQuery) -> Read {
    let mut values = page_values(list);
    let (prefix, end) = addresses(search);
    let email = search.email.as_ref().map(|email| email.as_str().to_owned());
    values.extend(values![search.id, prefix, end, email, names.candidates, names.longest, names.others]);
    Read::Gather(script.read(statement(&SEARCHED, list), values))
}

/// Adds the statement that finds a row if every address begins with the text of a search, so that the search matches all users.
pub(crate) fn find_if_all_match(script: &mut Script, search: &UserSearch) -> Slot {
    let (prefix, end) = addresses(search);
    script.read(&ALL_IN_RANGE, values![prefix, end])
}

/// Returns the range of the addresses that begin with the text of a search. It is empty for an id.
fn addresses(search: &UserSearch) -> (String, String) {
    match search.id {
        Some(_) => (String::new(), String::new()),
        None => (search.prefix.clone(), format!("{}\u{10FFFF}", search.prefix)),
    }
}

/// Decodes users and total, in the order in which they were read.
pub(crate) fn users(results: &Results<'_>, read: &Read) -> StoreResult<(Vec<User>, u64)> {
    match read {
        Read::Walk { total, page } => {
            let users = results.list(*page, |cells| Ok(read_account(cells)?.user))?;
            Ok((users, self::total(results, *total)?))
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

fn total(results: &Results<'_>, slot: Slot) -> StoreResult<u64> {
    let total = results.find(slot, |cells| cells.of("user_counts").int("total"))?;
    Ok(total.and_then(|total| u64::try_from(total).ok()).unwrap_or_default())
}

/// Adds the statement that counts the matches of a filter for which [`Way::Walk`] was chosen.
fn count_matches(script: &mut Script, filter: &UserFilter) -> Slot {
    if asks_for_hash(filter) {
        return count_imported_hashes(script);
    }
    if asks_for_password(filter) {
        return count_passwords(script);
    }
    if asks_for_sign_in(filter) {
        let (from, until) = signed_in(filter);
        return count_signed_in(script, from, until);
    }
    let (from, until) = created(filter);
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
    values![state(filter), provider]
}

fn state(filter: &UserFilter) -> &'static str {
    filter.state.map_or("", UserState::as_str)
}

fn asks_for_password(filter: &UserFilter) -> bool {
    filter.provider.as_deref() == Some(EMAIL_PROVIDER)
}

fn identity_provider(filter: &UserFilter) -> Option<&str> {
    filter.provider.as_deref().filter(|_| !asks_for_password(filter))
}

fn asks_for_creation(filter: &UserFilter) -> bool {
    filter.created_after.is_some() || filter.created_before.is_some()
}

fn asks_for_sign_in(filter: &UserFilter) -> bool {
    filter.signed_in_after.is_some() || filter.signed_in_before.is_some()
}

fn asks_for_hash(filter: &UserFilter) -> bool {
    filter.state == Some(UserState::ImportedHash)
}

/// Returns the time of creation as a range, from the first value until before the second.
fn created(filter: &UserFilter) -> (i64, i64) {
    range(filter.created_after, filter.created_before)
}

/// Returns the time of the last sign-in as a range. Users who never signed in have the time 0, which is after none.
fn signed_in(filter: &UserFilter) -> (i64, i64) {
    let (from, until) = range(filter.signed_in_after, filter.signed_in_before);
    (if filter.signed_in_after.is_some() { from.max(1) } else { from }, until)
}

fn range(after: Option<Timestamp>, before: Option<Timestamp>) -> (i64, i64) {
    (after.map_or(0, Timestamp::as_millis), before.map_or(i64::MAX, Timestamp::as_millis))
}

fn offset(position: &UserPosition) -> i64 {
    match position {
        UserPosition::Offset(offset) => i64::try_from(*offset).unwrap_or(i64::MAX),
        UserPosition::After(_) | UserPosition::Before(_) => 0,
    }
}

/// Returns the values of the filter, of the key from which a page begins, and of its size.
fn page_values(list: &ListUsers) -> Vec<Value> {
    let (from, until) = created(&list.filter);
    let (signed_in_from, signed_in_until) = signed_in(&list.filter);
    let mut values = kind(&list.filter);
    values.extend(values![from, until]);
    let key = match &list.position {
        UserPosition::Offset(_) => start_of(list, list.order.direction),
        UserPosition::After(key) | UserPosition::Before(key) => key.clone(),
    };
    values.push(key_value(key.value));
    values.extend(values![key.id, i64::from(list.limit) + 1, offset(&list.position)]);
    values.extend(values![signed_in_from, signed_in_until]);
    values
}

fn key_value(value: UserKeyValue) -> Value {
    match value {
        UserKeyValue::Time(at) => Value::from(at),
        UserKeyValue::Email(email) => email.into(),
    }
}

/// Returns the key before the first user of the order in a direction. It narrows the index of times, too.
fn start_of(list: &ListUsers, direction: Direction) -> UserKey {
    let is_up = direction == Direction::Ascending;
    let id = if is_up { Uuid::nil() } else { Uuid::max() };
    let outside = |(from, until): (i64, i64)| {
        UserKeyValue::Time(Timestamp::from_millis(if is_up { from.saturating_sub(1) } else { until }))
    };
    let value = match list.order.sort {
        UserSort::Created => outside(created(&list.filter)),
        UserSort::LastSignIn => outside(signed_in(&list.filter)),
        UserSort::Email => UserKeyValue::Email(if is_up { String::new() } else { "\u{10FFFF}".to_owned() }),
    };
    UserKey { value, id: id.into() }
}
