//! Lifetimes and section `limits`. The rooms of the service own the values; `wiring` hands them out.

use std::time::Duration;

use latchkey_domain::limits::{FailurePolicy, Rate};
use latchkey_settings::{Kind, settings};

settings! {
    /// Lifetimes of tokens, codes, links, keys and audit events.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LifetimeSettings {
        /// The life of an access token (JWT). Sign-out and bans act at once at this service; another service
        /// that only checks signatures trusts a token until it ends.
        "auth.access_token_ttl" => access_token: Duration = "15m";
        /// A session ends when its refresh token was not used for so long (sliding), and at the latest so
        /// long after sign-in (absolute).
        "auth.refresh_idle_ttl" => refresh_idle: Duration = "30d";
        "auth.refresh_absolute_ttl" => refresh_absolute: Duration = "90d";
        /// For so long the refresh token that was just replaced still gives the same successor: two tabs, a
        /// lost answer. Later it gives a new one, if the first was never used; the first is dead then. Once
        /// the successor was used, the token is refused, and after the grace it ends the whole session. "0s"
        /// switches the grace off.
        "auth.refresh_grace" => refresh_grace: Duration [Kind::DurationOrZero] = "30s";
        /// How often a new signing key takes over. The one before stays in the key set until its last token
        /// has expired. "0s" leaves rotation to `latchkey keys rotate`.
        "auth.key_rotation_interval" => signing_key: Option<Duration> = "90d";
        /// How long a six-digit code lives.
        "auth.code_ttl" => code: Duration = "10m";
        /// How long the emailed links live, and the token that a reset code is exchanged for.
        "auth.verify_link_ttl" => verify_link: Duration = "24h";
        "auth.reset_link_ttl" => reset_link: Duration = "30m";
        "auth.reset_token_ttl" => exchanged_reset: Duration = "15m";
        /// How long an account waits for the first proof of its mailbox, from the last sign-up for its address;
        /// then it is removed, and the address is free again. As long, the password of a sign-up for a taken
        /// address is remembered (as a hash), so that a sign-in with it answers as for a free one.
        "auth.pending_ttl" => pending: Duration = "30d";
        /// How long the browser may stay at the provider, and how long the app may take to exchange the code that
        /// came back.
        "oauth.state_ttl" => oauth_state: Duration = "10m";
        "oauth.code_ttl" => oauth_code: Duration = "60s";
        /// How long events of the audit trail are kept. Failures that are about no account (wrong passwords for
        /// unknown addresses, refused admin keys) go after 30 days.
        "audit.retention" => audit_event: Duration = "400d";
    }
}

settings! {
    /// Rate limits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LimitSettings {
        /// Token buckets: a count at once, refilled evenly over the duration. A refusal is 429 with
        /// Retry-After and names the limit. IPv6 addresses count by their /64.
        /// Off is for load tests alone.
        "limits.enabled" => enabled: bool = true;
        /// Failed sign-ins of one account from one address. After the last free one a delay begins with
        /// sign_in_first_delay and doubles with each further failure up to sign_in_longest_delay.
        "limits.sign_in_per_account_and_address" => sign_in_pair: Rate = "10/15m";
        "limits.sign_in_first_delay" => sign_in_first_delay: Duration = "30s";
        "limits.sign_in_longest_delay" => sign_in_longest_delay: Duration = "15m";
        /// Failed sign-ins of one account from all addresses. Above it, only addresses from which the account
        /// signed in during the last sign_in_known_address_age are heard.
        "limits.sign_in_per_account" => sign_in_account: Rate = "100/1h";
        "limits.sign_in_known_address_age" => known_client: Duration = "30d";
        /// Sign-in attempts from one address.
        "limits.sign_in_per_address" => sign_in_address: Rate = "30/5m";
        /// Sign-ups from one address.
        "limits.sign_up_per_address" => sign_up_address: Rate = "20/1h";
        /// Mails to one recipient, for verification and reset each: the pause between two to one address, and
        /// how many to one mailbox, which is the address without its plus-tag: ada+shop@example.org counts as
        /// ada@example.org.
        "limits.mail_pause_per_recipient" => mail_recipient_pause: Duration = "60s";
        "limits.mail_per_recipient" => mail_recipient: Rate = "5/1h";
        /// Mails caused from one address.
        "limits.mail_per_address" => mail_address: Rate = "20/1h";
        /// Codes and links tried from one address.
        "limits.verification_per_address" => verification_address: Rate = "30/15m";
        /// Refreshes from one address.
        "limits.refresh_per_address" => refresh_address: Rate = "300/5m";
        /// Searches and public profiles from one address.
        "limits.search_per_address" => public_read_address: Rate = "600/1m";
        /// CSRF tokens of the refresh cookie (GET /api/auth/csrf) for one address.
        "limits.csrf_per_address" => csrf_address: Rate = "600/1m";
        /// Sign-ins through identity providers that one address begins or ends.
        "limits.oauth_per_address" => oauth_address: Rate = "300/5m";
        /// Wrong admin keys from one address.
        "limits.admin_failures_per_address" => admin_address: Rate = "10/15m";
    }
}

impl LimitSettings {
    /// The guess limit of an account, from one client or from all.
    #[must_use]
    pub const fn failures(&self, free: Rate) -> FailurePolicy {
        FailurePolicy {
            threshold: free.burst,
            window: free.window,
            first_delay: self.sign_in_first_delay,
            longest_delay: self.sign_in_longest_delay,
        }
    }
}
