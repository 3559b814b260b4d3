//! Pages of a list by keyset: the place of a page as it stands in the address, and the links to the pages around it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::stop::Stop;
use super::visit::ConsoleVisit;

/// Query parameters with the key of the row after or before which the page stands.
const AFTER: &str = "after";
const BEFORE: &str = "before";

/// Place of a page in a list: the first page, or the one after or before the row with a key.
pub(super) enum Place<K> {
    First,
    After(K),
    Before(K),
}

/// Links to the pages around a page.
pub(super) struct Around {
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
}

impl<K> Place<K> {
    /// Returns the place that the address names. A malformed key begins anew.
    pub(super) fn of(visit: &ConsoleVisit, parse: impl Fn(&str) -> Option<K>) -> Result<Self, Stop> {
        let key = |name: &str| -> Result<Option<K>, Stop> {
            let text = visit.query.optional(name)?;
            let bytes = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            Ok(text.and_then(|text| parse(&text)))
        };
        if let Some(after) = key(AFTER)? {
            return Ok(Self::After(after));
        }
        Ok(key(BEFORE)?.map_or(Self::First, Self::Before))
    }

    /// True if the page before a row is the first one. It would be short, so the first page is read in place of it.
    pub(super) const fn is_start(&self, has_more: bool) -> bool {
        matches!(self, Self::Before(_)) && !has_more
    }

    /// Returns the links from the keys of the first and last row. `address` returns the address with a parameter.
    pub(super) fn around(
        &self,
        has_more: bool,
        (first, last): (Option<String>, Option<String>),
        address: impl Fn(&str, String) -> String,
    ) -> Around {
        let (has_previous, has_next) = match self {
            Self::First => (false, has_more),
            Self::After(_) => (true, has_more),
            Self::Before(_) => (has_more, true),
        };
        let link = |name, key: Option<String>| key.map(|key| address(name, URL_SAFE_NO_PAD.encode(key)));
        Around {
            previous: link(BEFORE, first).filter(|_| has_previous),
            next: link(AFTER, last).filter(|_| has_next),
        }
    }
}
