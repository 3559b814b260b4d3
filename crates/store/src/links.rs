//! Status of a stored link or reset token, decided by one rule for all engines.

use latchkey_domain::codes::Purpose;
use latchkey_domain::time::Timestamp;

use crate::email_codes::LinkStatus;

/// Columns of a mailed link or reset token that determine its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredLink {
    /// Purpose of the link: verification, password reset or sign-in.
    pub purpose: Purpose,
    /// True if the account still has the address that the link was mailed to, and is not banned.
    pub is_of_account: bool,
    /// Expiry of the link, exclusive.
    pub expires_at: Timestamp,
    /// Time of first use; `None` if unused.
    pub used_at: Option<Timestamp>,
    /// Time at which a newer link or a change of the account invalidated the link; `None` if neither did.
    pub superseded_at: Option<Timestamp>,
}

impl StoredLink {
    /// Returns the status at `now`. A used verification link is valid until it expires; all other links and tokens are
    /// invalid once they are used.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        if self.purpose != Purpose::VerifyEmail && self.used_at.is_some() {
            LinkStatus::Used
        } else if self.superseded_at.is_some() || !self.is_of_account {
            LinkStatus::Superseded
        } else if now >= self.expires_at {
            LinkStatus::Expired
        } else {
            LinkStatus::Good
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    const fn link(purpose: Purpose) -> StoredLink {
        StoredLink { purpose, is_of_account: true, expires_at: at(10), used_at: None, superseded_at: None }
    }

    #[test]
    fn a_link_is_good_until_it_expires() {
        assert_eq!(link(Purpose::VerifyEmail).status(at(9)), LinkStatus::Good);
        assert_eq!(link(Purpose::VerifyEmail).status(at(10)), LinkStatus::Expired);
    }

    #[test]
    fn a_used_verify_link_stays_good_and_others_do_not() {
        let used = |purpose| StoredLink { used_at: Some(at(1)), ..link(purpose) };
        assert_eq!(used(Purpose::VerifyEmail).status(at(9)), LinkStatus::Good);
        assert_eq!(used(Purpose::VerifyEmail).status(at(10)), LinkStatus::Expired);
        assert_eq!(used(Purpose::ResetPassword).status(at(9)), LinkStatus::Used);
        assert_eq!(used(Purpose::ResetPassword).status(at(10)), LinkStatus::Used);
        assert_eq!(used(Purpose::SignIn).status(at(9)), LinkStatus::Used);
    }

    #[test]
    fn what_was_replaced_or_lost_its_account_is_superseded() {
        let replaced = StoredLink { superseded_at: Some(at(1)), ..link(Purpose::VerifyEmail) };
        assert_eq!(replaced.status(at(9)), LinkStatus::Superseded);
        let orphan = StoredLink { is_of_account: false, ..link(Purpose::ResetPassword) };
        assert_eq!(orphan.status(at(9)), LinkStatus::Superseded);
    }
}
