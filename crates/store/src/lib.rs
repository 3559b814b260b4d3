//! The storage contract: one async method per atomic business fact. What an engine must keep is said here and shown
//! by the suite of `latchkey-store-suite`; how it keeps it is its own business. No transaction leaves a store, so nobody can hash,
//! send mail or call out inside one. Absent rows are `Option`; refusals that are part of the business are variants.

mod accounts;
mod admin;
mod audit;
mod challenges;
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
pub use challenges::{
    BeginReset, Browser, Challenges, CodeAttempt, CodeLane, Consent, ExchangeOutcome, LinkState, LinkStatus,
    NewChallenge, NewCode, NewToken, OpenLink, OpenedLink, RefreshCookie, RequestChallenge, RequestOutcome,
    ResetPassword, ResetSubject, TokenAttempt, VerifyOutcome,
};
pub use error::{StoreError, StoreResult, UniqueKey};
pub use identities::{
    Identities, IdentityEvents, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity,
    SignInWithIdentity, UnlinkIdentity, UnlinkOutcome, UsedToken,
};
pub use limits::Limits;
pub use links::StoredLink;
pub use oauth_flows::{
    CodeVerdict, Linker, NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome,
    StoredCode, TakenCode, TakenFlow,
};
pub use oauth_providers::{FoundProvider, OAuthProviders, StoredProvider};
pub use outbox::{ClaimedMail, Lease, ListedMail, MailFate, MailKind, MailState, NewMail, Outbox, Recipient};
pub use profiles::{ProfileHits, Profiles, UpdateProfile, UpdateProfileOutcome};
pub use retention::{
    CHANGE_PURGES, CHANGES_KEPT, DECOYS_KEPT, FAILURES_OF_NOBODY_KEPT, FLOWS_KEPT, KEPT_AFTER_END,
    MOST_CHANGES_KEPT, PURGED_AT_ONCE, SIGN_UPS_PURGED_AT_ONCE,
};
pub use search_feed::{FeedPosition, FeedRead, SearchChange, SearchEntry, SearchFeed};
pub use sessions::{
    BeginPasswordChange, BeginSignIn, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile,
    RefreshOutcome, RefreshSession, Sessions, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
};
pub use settings::{SettingChange, Settings, StoredSettings};
pub use signing_keys::{NewSigningKey, SigningKeys, StoredSigningKey};

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;

/// Everything an engine must keep.
#[async_trait]
pub trait Store:
    Accounts
    + AdminUsers
    + Audit
    + Challenges
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
    /// Answers when the storage can read and write: readiness.
    async fn check(&self) -> StoreResult<()>;

    /// Deletes what is past its use at `now`: expired codes; links, reset tokens and sent mails 7 days after their
    /// end; sessions 7 days after theirs; OAuth states a day after theirs, OAuth codes and used provider tokens at
    /// theirs; full buckets and forgotten failures; sign-in addresses of over 30 days; changes of what search shows
    /// after a day or two.
    /// At most a few thousand rows of each at a call; answers how many it deleted, 0 when nothing is left.
    async fn purge(&self, now: Timestamp) -> StoreResult<u64>;
}
