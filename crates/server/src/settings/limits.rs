//! Section `limits`: how often is too often.

use std::time::Duration;

use latchkey_domain::limits::{FailurePolicy, Rate};

use super::problem::Problems;
use super::reader::Reader;

/// Section `limits`. "Per address" counts IPv6 addresses by their /64.
#[derive(Debug)]
pub struct LimitSettings {
    /// Off is for load tests alone.
    pub enabled: bool,
    /// Failed sign-ins of one account from one address.
    pub sign_in_per_account_and_address: FailurePolicy,
    /// Failed sign-ins of one account from all addresses.
    pub sign_in_per_account: Rate,
    /// How recent a sign-in makes an address known, which is heard above that limit.
    pub sign_in_known_address_age: Duration,
    /// Sign-in attempts from one address.
    pub sign_in_per_address: Rate,
    /// Sign-ups from one address.
    pub sign_up_per_address: Rate,
    /// Pause between two mails of one purpose to one recipient, as a rate of one.
    pub mail_pause_per_recipient: Rate,
    /// Mails of one purpose to one recipient.
    pub mail_per_recipient: Rate,
    /// Mails caused from one address.
    pub mail_per_address: Rate,
    /// Codes and links tried from one address.
    pub verification_per_address: Rate,
    /// Refreshes from one address.
    pub refresh_per_address: Rate,
    /// Searches and public profiles from one address.
    pub search_per_address: Rate,
    /// CSRF tokens of the cookie for one address.
    pub csrf_per_address: Rate,
    /// Sign-ins through providers that one address begins or ends.
    pub oauth_per_address: Rate,
    /// Wrong admin keys from one address.
    pub admin_failures_per_address: Rate,
}

impl LimitSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        let free = reader.rate("limits.sign_in_per_account_and_address");
        Self {
            enabled: reader.flag("limits.enabled"),
            sign_in_per_account_and_address: FailurePolicy {
                threshold: free.burst,
                window: free.window,
                first_delay: reader.duration("limits.sign_in_first_delay"),
                longest_delay: reader.duration("limits.sign_in_longest_delay"),
            },
            sign_in_per_account: reader.rate("limits.sign_in_per_account"),
            sign_in_known_address_age: reader.duration("limits.sign_in_known_address_age"),
            sign_in_per_address: reader.rate("limits.sign_in_per_address"),
            sign_up_per_address: reader.rate("limits.sign_up_per_address"),
            mail_pause_per_recipient: Rate {
                burst: 1,
                window: reader.duration("limits.mail_pause_per_recipient"),
            },
            mail_per_recipient: reader.rate("limits.mail_per_recipient"),
            mail_per_address: reader.rate("limits.mail_per_address"),
            verification_per_address: reader.rate("limits.verification_per_address"),
            refresh_per_address: reader.rate("limits.refresh_per_address"),
            search_per_address: reader.rate("limits.search_per_address"),
            csrf_per_address: reader.rate("limits.csrf_per_address"),
            oauth_per_address: reader.rate("limits.oauth_per_address"),
            admin_failures_per_address: reader.rate("limits.admin_failures_per_address"),
        }
    }

    pub(super) fn check(&self, problems: &mut Problems) {
        let policy = &self.sign_in_per_account_and_address;
        if policy.first_delay > policy.longest_delay {
            let longest = "limits.sign_in_longest_delay";
            let sentence = format!("it is longer than {longest}; delays grow, they do not shrink");
            problems.rule(&["limits.sign_in_first_delay", longest], sentence);
        }
    }
}
