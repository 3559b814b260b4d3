//! What the pages of mailed links have in common. The token of a link leaves the address at once, whether it is good or
//! not; a link that does not work is a page with the same status everywhere.

use http::StatusCode;

use crate::errors::PageError;
use crate::visit::Visit;

/// Query parameter of the page that a link leads to in place of its token: what became of it.
pub(super) const PARAMETER: &str = "link";
/// The link does not work.
pub(super) const DEAD: &str = "dead";
/// Status of the page about a link that does not work.
pub(super) const FAILED: StatusCode = StatusCode::BAD_REQUEST;

/// True if the browser was sent here by a link that does not work: one of these pages, or one that the service itself
/// answers first.
pub(super) fn has_failed(visit: &Visit) -> Result<bool, PageError> {
    let status = visit.service().site().parameter("status");
    let is = |name: &str, value| Ok::<_, PageError>(visit.query.optional(name)?.as_deref() == Some(value));
    Ok(is(&status, "error")? || is(PARAMETER, DEAD)?)
}

/// Shows the beginning of an address and its domain: `a•••@example.org`.
pub(super) fn masked(address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    format!("{}•••@{domain}", local.chars().take(1).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_address_shows_one_character_and_the_domain() {
        assert_eq!(masked("ada@example.org"), "a•••@example.org");
        assert_eq!(masked("a@example.org"), "a•••@example.org");
    }
}
