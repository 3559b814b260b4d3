//! Search, filters, order and place of the list of users, as they stand in the address.

use latchkey_domain::time::Timestamp;
use latchkey_domain::user_list::{UserFilter, UserKey, UserOrder, UserSearch, UserSort, UserState};
use url::form_urlencoded;

use crate::console::keyset::Place;
use crate::console::stop::Stop;
use crate::console::visit::ConsoleVisit;

/// Search, filters and order as they were typed.
pub(super) struct Typed {
    pub(super) search: String,
    pub(super) state: String,
    pub(super) provider: String,
    /// First and last day of creation, in UTC.
    pub(super) created_after: String,
    pub(super) created_before: String,
    /// First and last day of the last sign-in, in UTC.
    pub(super) signed_in_after: String,
    pub(super) signed_in_before: String,
    /// Sort key, after `-` if the order is turned around; empty for the newest first.
    pub(super) sort: String,
    pub(super) order: UserOrder,
}

impl Typed {
    pub(super) fn of(visit: &ConsoleVisit) -> Result<Self, Stop> {
        let text = |name: &str| -> Result<String, Stop> {
            Ok(visit.query.optional(name)?.unwrap_or_default().trim().to_owned())
        };
        let sort = text("sort")?;
        let order = order(&sort).unwrap_or(UserSort::Created.order());
        Ok(Self {
            search: text("q")?,
            state: text("state")?,
            provider: text("provider")?,
            created_after: text("created_after")?,
            created_before: text("created_before")?,
            signed_in_after: text("signed_in_after")?,
            signed_in_before: text("signed_in_before")?,
            sort: written(order),
            order,
        })
    }

    /// Returns the filter; `None` if a value cannot be met by any user, such as a state that does not exist.
    pub(super) fn filter(&self) -> Option<UserFilter> {
        let day = |text: &str, parse: fn(&str) -> Option<Timestamp>| {
            if text.is_empty() { Some(None) } else { parse(text).map(Some) }
        };
        Some(UserFilter {
            search: UserSearch::parse(&self.search),
            state: match self.state.as_str() {
                "" => None,
                text => Some(UserState::parse(text)?),
            },
            provider: Some(self.provider.clone()).filter(|key| !key.is_empty()),
            created_after: day(&self.created_after, Timestamp::parse)?,
            created_before: day(&self.created_before, Timestamp::parse_end)?,
            signed_in_after: day(&self.signed_in_after, Timestamp::parse)?,
            signed_in_before: day(&self.signed_in_before, Timestamp::parse_end)?,
        })
    }

    /// Returns the place that the address names. A key of another order begins anew.
    pub(super) fn place(&self, visit: &ConsoleVisit) -> Result<Place<UserKey>, Stop> {
        Place::of(visit, |text| UserKey::parse(self.order.sort, text))
    }

    /// True if something narrows the list.
    pub(super) fn is_filtered(&self) -> bool {
        self.filters().iter().any(|(_, value)| !value.is_empty())
    }

    /// Returns search and filters with their names.
    pub(super) fn filters(&self) -> [(&'static str, &str); 7] {
        [
            ("q", &self.search),
            ("state", &self.state),
            ("provider", &self.provider),
            ("created_after", &self.created_after),
            ("created_before", &self.created_before),
            ("signed_in_after", &self.signed_in_after),
            ("signed_in_before", &self.signed_in_before),
        ]
    }

    /// Returns the address of a page with these filters and this order.
    pub(super) fn address(&self, path: &str) -> String {
        self.address_with(path, &self.sort, None)
    }

    pub(super) fn address_sorted(&self, path: &str, order: UserOrder) -> String {
        self.address_with(path, &written(order), None)
    }

    /// Returns the address of another page, with a parameter that names its place.
    pub(super) fn address_at(&self, path: &str, name: &str, place: String) -> String {
        self.address_with(path, &self.sort, Some((name, place)))
    }

    fn address_with(&self, path: &str, sort: &str, place: Option<(&str, String)>) -> String {
        let given = self.filters().into_iter().chain([("sort", sort)]);
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(given.filter(|(_, value)| !value.is_empty()));
        if let Some((name, key)) = place {
            query.append_pair(name, &key);
        }
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

/// Reads an order: a sort key in its usual direction, or after `-` in the other one.
fn order(text: &str) -> Option<UserOrder> {
    let (key, is_turned) = text.strip_prefix('-').map_or((text, false), |key| (key, true));
    let UserOrder { sort, direction } = UserSort::parse(key)?.order();
    Some(UserOrder { sort, direction: if is_turned { direction.turned() } else { direction } })
}

/// Writes an order as [`order`] reads it; empty for that of a list without one.
fn written(order: UserOrder) -> String {
    let usual = order.sort.order();
    match order.sort {
        _ if order.direction != usual.direction => format!("-{}", order.sort),
        UserSort::Created => String::new(),
        sort => sort.to_string(),
    }
}
