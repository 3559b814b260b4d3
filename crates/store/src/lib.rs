//! The storage contract: one async method per atomic business fact. The contract is written here and checked by
//! the conformance suite in `latchkey-store-suite`; the implementation is the engine's own. No transaction leaves
//! a store, so no caller can hash a password, send mail or make a network call inside one. Absent rows are
//! `Option`; refusals that belong to the business are variants of an outcome.

#![warn(missing_docs)]

mod accounts;
mod admin;
mod audit;
mod email_codes;
mod error;
mod identities;
mod limits;
mod links;
pub mod migrations;
mod oauth_flows;
mod oauth_providers;
mod outbox;
mod profiles;
mod retention;
mod search_feed;
mod sessions;
mod settings;
mod signing_keys;

pub use accounts::{Accounts, BeginSignUp, CreateOutcome, NewAccount, PendingSignUp, SignUpOutcome};
pub use admin::{AdminUsers, ListUsers, UpdateUser, UpdateUserOutcome, UserPage, UserPosition};
pub use audit::{Audit, EventPage};
pub use email_codes::{
    BeginReset, Browser, CodeAttempt, CodeLane, Consent, EmailCodes, ExchangeOutcome, LinkState, LinkStatus,
    NewCode, NewEmailCode, NewToken, OpenLink, OpenedLink, RefreshCookie, RequestEmailCode, ResetPassword,
    ResetSubject, TokenAttempt, VerifyOutcome,
};
pub use error::{StoreError, StoreResult, UniqueKey};
pub use identities::{
    Identities, IdentityEvents, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity,
    SignInWithIdentity, UnlinkIdentity, UnlinkOutcome, UsedToken,
};
pub use limits::{LimitedResult, Limits};
pub use links::StoredLink;
pub use oauth_flows::{
    CodeVerdict, Linker, NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome,
    StoredCode, TakenCode, TakenFlow,
};
pub use oauth_providers::{FoundProvider, OAuthProviders, StoredProvider};
pub use outbox::{ClaimedMail, Lease, ListedMail, MailFate, MailState, NewMail, Outbox, Recipient};
pub use profiles::{ProfileHits, Profiles, UpdateProfile, UpdateProfileOutcome};
pub use retention::{
    ANONYMOUS_FAILURE_RETENTION, DECOY_RETENTION, FEED_LIMIT, FEED_PURGE_BATCHES, FEED_RETENTION,
    FLOW_RETENTION, PURGE_BATCH, RETENTION_AFTER_END, SIGN_UP_PURGE_BATCH,
};
pub use search_feed::{FeedPosition, FeedRead, SearchChange, SearchEntry, SearchFeed};
pub use sessions::{
    BeginPasswordChange, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile, RefreshOutcome,
    RefreshSession, Sessions, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
};
pub use settings::{SettingChange, Settings, StoredSettings};
pub use signing_keys::{NewSigningKey, SigningKeys, StoredSigningKey};

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;

/// A storage engine: all parts of the contract.
#[async_trait]
pub trait Store:
    Accounts
    + AdminUsers
    + Audit
    + EmailCodes
    + Identities
    + Limits
    + OAuthFlows
    + OAuthProviders
    + Outbox
    + Profiles
    + SearchFeed
    + Sessions
    + Settings
    + SigningKeys
    + Send
    + Sync
    + 'static
{
    /// Readiness check: succeeds if the storage can read and write.
    async fn check(&self) -> StoreResult<()>;

    /// Deletes rows past their retention at `now`: expired codes; links, reset tokens, sent mails and sessions 7
    /// days after their end; OAuth states a day after expiry, OAuth codes and used provider tokens at expiry;
    /// full token buckets and expired failure counters; known clients after 30 days; changes in the search feed
    /// after one or two days.
    ///
    /// Deletes at most a few thousand rows per table in one call. Returns the number of deleted rows, 0 if
    /// nothing is left.
    async fn purge(&self, now: Timestamp) -> StoreResult<u64>;
}
