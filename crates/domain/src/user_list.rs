//! The list of users as operators read it: filters, search, orders, and the keys by which its pages follow one another.

use std::str::FromStr;

use crate::email::{Email, EmailKey};
use crate::search::SearchQuery;
use crate::time::Timestamp;
use crate::user::{User, UserId};
use crate::words;

words! {
    /// Filter of the list by the state of an account. The first five exclude one another: every account is in exactly one of
    /// these states, the first that holds of banned, deletion, pending, verified and unverified.
    pub enum UserState {
        /// The address is verified.
        Verified = "verified",
        /// The address is not verified, although the account has been used.
        Unverified = "unverified",
        /// A sign-up that was never verified.
        Pending = "pending",
        /// Banned.
        Banned = "banned",
        /// The owner deleted the account, and the grace period is not over.
        Deletion = "deletion",
        /// The account has a role in the console, active or asleep.
        Operator = "operator",
        /// The account has no profile.
        NoProfile = "no-profile",
        /// The password is kept as a hash of another scheme than argon2id: it came by an import, and nobody has signed in with
        /// it since.
        ImportedHash = "imported-hash",
    }
}

words! {
    /// Sort key of the list.
    pub enum UserSort {
        /// Time of creation.
        Created = "created",
        /// Time of the last completed sign-in. Accounts that never signed in count as the oldest.
        LastSignIn = "lastSignIn",
        /// Email address, compared by its bytes.
        Email = "email",
    }
}

/// Direction of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Greatest first.
    Descending,
}

/// Order of the list. Ties are broken by id, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserOrder {
    /// Sort key.
    pub sort: UserSort,
    /// Direction, of ties too.
    pub direction: Direction,
}

/// Place of a user in an order: its sort key and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserKey {
    /// Sort key of the user.
    pub value: UserKeyValue,
    /// Tie-break.
    pub id: UserId,
}

/// Sort key of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserKeyValue {
    /// A time; the epoch for an account that never signed in.
    Time(Timestamp),
    /// An address as it is compared.
    Email(String),
}

/// Filter of the list. `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// Search by id, address, name or username.
    pub search: Option<UserSearch>,
    /// State of the account.
    pub state: Option<UserState>,
    /// One of [`User::providers`](crate::user::User::providers).
    pub provider: Option<String>,
    /// Created at this time or later.
    pub created_after: Option<Timestamp>,
    /// Created before this time.
    pub created_before: Option<Timestamp>,
    /// Last signed in at this time or later.
    pub signed_in_after: Option<Timestamp>,
    /// Last signed in before this time, or never.
    pub signed_in_before: Option<Timestamp>,
}

/// A search for users. A user matches if one of its readings matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSearch {
    /// A user id. A text that is one has no other reading.
    pub id: Option<UserId>,
    /// Beginning of an address, in lower case.
    pub prefix: String,
    /// A whole address, as it is compared.
    pub email: Option<EmailKey>,
    /// Words that must all occur in name or username, as in the profile search. `None` if the text has none, or is too long.
    pub name: Option<SearchQuery>,
}

impl UserSearch {
    /// Reads the text of a search field; `None` if it is blank.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let id = UserId::from_str(text).ok();
        let has_others = id.is_none();
        Some(Self {
            id,
            prefix: text.to_lowercase(),
            email: Email::parse(text).ok().map(|email| email.key().clone()),
            name: SearchQuery::parse(text).ok().filter(|_| has_others),
        })
    }

    /// Returns the longest word and the other distinct words, all of which must occur in the folded name or username. There, a
    /// space precedes each word. A short word matches only at the start of a word, so a space precedes it here too.
    #[must_use]
    pub fn words(&self) -> (String, Vec<String>) {
        let words = self.name.iter().flat_map(SearchQuery::words);
        let mut words: Vec<String> = words
            .map(|word| if SearchQuery::is_short(word) { format!(" {word}") } else { word.to_owned() })
            .collect();
        words.sort_unstable_by(|one, other| one.len().cmp(&other.len()).then(one.cmp(other)));
        words.dedup();
        (words.pop().unwrap_or_default(), words)
    }
}

impl UserSort {
    /// Returns the usual order by this key: the newest and latest first, addresses from A to Z.
    #[must_use]
    pub const fn order(self) -> UserOrder {
        let direction = match self {
            Self::Created | Self::LastSignIn => Direction::Descending,
            Self::Email => Direction::Ascending,
        };
        UserOrder { sort: self, direction }
    }

    /// Returns the place of a user in an order by this key.
    #[must_use]
    pub fn key_of(self, user: &User) -> UserKey {
        let value = match self {
            Self::Created => UserKeyValue::Time(user.created_at),
            Self::LastSignIn => UserKeyValue::Time(user.last_sign_in_at.unwrap_or(Timestamp::from_millis(0))),
            Self::Email => UserKeyValue::Email(user.email.key().as_str().to_owned()),
        };
        UserKey { value, id: user.id }
    }
}

impl UserKey {
    /// Writes the key as text, for cursors. The text is opaque to clients.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.value {
            UserKeyValue::Time(at) => format!("{}.{}", at.as_millis(), self.id),
            UserKeyValue::Email(email) => format!("{email}.{}", self.id),
        }
    }

    /// Reads a key that [`UserKey::to_text`] wrote for this sort; `None` if it is another text.
    #[must_use]
    pub fn parse(sort: UserSort, text: &str) -> Option<Self> {
        let (value, id) = text.rsplit_once('.')?;
        let value = match sort {
            UserSort::Created | UserSort::LastSignIn => {
                UserKeyValue::Time(Timestamp::from_millis(value.parse().ok()?))
            }
            UserSort::Email => {
                let email = Email::parse(value).ok()?;
                UserKeyValue::Email(email.key().as_str().to_owned())
            }
        };
        Some(Self { value, id: id.parse().ok()? })
    }
}

impl Direction {
    /// Returns the opposite direction.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_id_has_no_other_reading() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let search = UserSearch::parse(id).unwrap();
        assert_eq!(search.id.unwrap().to_string(), id);
        assert_eq!(search.name, None);
    }

    #[test]
    fn an_address_is_read_as_it_is_compared() {
        let search = UserSearch::parse(" Ada@Bücher.example ").unwrap();
        assert_eq!(search.email.unwrap().as_str(), "ada@xn--bcher-kva.example");
        assert_eq!(search.prefix, "ada@bücher.example");
    }

    #[test]
    fn short_words_begin_a_word() {
        let (longest, others) = UserSearch::parse("Lo Adam lo").unwrap().words();
        assert_eq!((longest.as_str(), others), ("adam", vec![" lo".to_owned()]));
    }

    #[test]
    fn a_blank_text_is_no_search() {
        assert_eq!(UserSearch::parse(" \t "), None);
    }

    #[test]
    fn a_key_is_read_back_for_its_own_sort() {
        let id: UserId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let keys = [
            (UserSort::Created, UserKeyValue::Time(Timestamp::from_millis(7))),
            (UserSort::Email, UserKeyValue::Email("a.b@example.org".to_owned())),
        ];
        for (sort, value) in keys {
            let key = UserKey { value, id };
            assert_eq!(UserKey::parse(sort, &key.to_text()), Some(key));
        }
        for value in ["7", "\0@example.org", "ada@example.org\u{1}", "ada@@example.org"] {
            assert_eq!(UserKey::parse(UserSort::Email, &format!("{value}.{id}")), None);
        }
        assert_eq!(UserKey::parse(UserSort::Created, "7"), None);
    }
}
