//! The storage contract: traits in which each method is one atomic business operation. The crate
//! `latchkey-store-operations` and the engines implement them, and `latchkey-store-suite` tests the implementations.
//! Transactions do not cross the contract, so no caller can hash a password, send mail or call the network inside one.
//! An absent row is `None`, a refusal is a variant of the outcome, and [`StoreError`] is a fault.

#![warn(missing_docs)]

mod accounts;
mod admin_users;
mod audit;
mod challenges;
mod deletions;
mod email_changes;
mod email_codes;
mod email_sign_in;
mod entry;
mod error;
mod exports;
mod factors;
mod foreign;
mod identities;
mod imported_hashes;
mod imports;
mod instances;
mod limits;
mod links;
pub mod migrations;
mod oauth_flows;
mod oauth_providers;
mod operators;
mod outbox;
mod page_sessions;
mod passkeys;
mod profiles;
mod restores;
mod retention;
mod sealed_values;
mod search_feed;
mod session_list;
mod sessions;
mod settings;
mod signing_keys;
mod statistics;
mod undo;

pub use accounts::{Accounts, BeginSignUp, CreateOutcome, NewAccount, PendingSignUp, SignUpOutcome};
pub use admin_users::{
    AccountAct, AdminUsers, ClearedProfile, ListUsers, ReplacePassword, UpdateUser, UpdateUserOutcome,
    UserPage, UserPosition,
};
pub use audit::{Audit, EVENTS_INSPECTED, EventPage, EventTotal, ListEvents, ListOwnEvents};
pub use challenges::{
    AnswerChallenge, AnswerMails, Answered, BeginReauthentication, BeginResetChallenge, Challenges,
    CompletedSignIn, Completion, FoundChallenge, PasskeyOptions, Restoral, Shown,
};
pub use deletions::{DeleteAccount, Deletions, DueDeletion, FinishedDeletion};
pub use email_changes::{
    BeginEmailChange, BegunEmailChange, ConfirmEmailChange, ConfirmedEmailChange, EmailChangeWrites,
    EmailChanges, ShownCode, SideCode,
};
pub use email_codes::{
    BeginReset, Browser, CodeAttempt, CodeLane, Consent, EmailCodes, ExchangeOutcome, LinkState, LinkStatus,
    NewCode, NewEmailCode, NewToken, OpenLink, OpenedLink, RequestEmailCode, ResetOutcome, ResetPassword,
    ResetSubject, SendEmailCode, SentEmailCode, TokenAttempt, VerifyOutcome,
};
pub use email_sign_in::{
    EmailSignIn, EmailSignIns, NewSignInLink, Newcomer, PresentedLink, RequestSignInMail, SignInLink,
};
pub use entry::{ChallengeTerms, Entered, Entry, NewChallenge};
pub use error::{GuardedResult, LimitedResult, StoreError, StoreResult, UniqueKey};
pub use exports::{
    EXPORTED_PAGE, ExportReceiver, ExportedAccount, ExportedIdentity, ExportedInstance, ExportedPage,
    ExportedTotp, Exports,
};
pub use factors::{
    AccountFactors, BeginTotp, BegunTotp, ChangeFactors, ChangedFactors, ConfirmTotp, ConfirmedTotp,
    Enroller, Factors, OwnAccount, PendingTotp, ResetFactors, SealedTotp, TurnTwoStepOn, TurnedOn,
    TurnedOnEvents, TurnedTwoStepOn,
};
pub use foreign::{
    CHUNKS_AHEAD, Chunk, ForeignRow, MOST_SIDE_ROWS, NoColumn, NoTable, NoTableId, Scope, SideTable,
    Unreadable,
};
pub use identities::{
    Identities, IdentityEvents, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity,
    SignInWithIdentity, UnlinkIdentity, UnlinkOutcome, Unlinker, UsedToken,
};
pub use imported_hashes::{HashKey, ImportedHashes, MAX_HASH_KEYS, ReplaceHash};
pub use imports::{
    BatchOutcome, BatchRecord, BeginImport, BegunImport, IMPORT_RETENTION, ImportBatch, ImportKey,
    ImportPage, ImportPosition, Imports, NewImported, NewImportedTotp, RecordResult, SeenBefore, UndoImport,
    UndoneBatch,
};
pub use instances::{Instances, LISTED_INSTANCES};
pub use limits::Limits;
pub use links::StoredLink;
pub use oauth_flows::{
    CodeVerdict, Linker, NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome,
    StoredCode, TakenCode, TakenFlow,
};
pub use oauth_providers::{FoundProvider, OAuthProviders, StoredProvider};
pub use operators::{
    ActivateOperator, ActivatedOperator, AdoptGrant, FoundConsoleSession, GrantAddress, GrantOperator,
    GrantedAddress, GrantedOperator, Operators, RenewActivation, RenewedActivation, RevokeAddress,
    RevokeOperator, RevokedOperator,
};
pub use outbox::{
    ClaimedMail, Lease, ListMails, ListedMail, MailFate, MailKey, MailPage, MailPosition, MailState, NewMail,
    Outbox, Recipient, RetryMail, StoredMail,
};
pub use page_sessions::{
    FoundPageCode, FoundPageSession, NewPageCode, OpenFromPage, OpenedFromPage, PageSessionStepUp,
    PageSessionUse, PageSessions,
};
pub use passkeys::{
    BeginPasskey, BegunPasskey, Ceremony, FoundPasskey, NewPasskey, PasskeyOwner, PasskeyRefusal,
    PasskeySignIn, Passkeys, RegisterPasskey, RegisteredPasskey, RemovePasskeyOf, ShownPasskey,
    SignInWithPasskey, VerifiablePasskey,
};
pub use profiles::{ProfileHits, Profiles, UpdateProfile, UpdateProfileOutcome};
pub use restores::{Restores, SettleRestored, SettledRestored};
pub use retention::{
    ACCOUNT_PURGE_BATCH, ANONYMOUS_FAILURE_RETENTION, DECOY_RETENTION, FEED_LIMIT, FEED_PURGE_BATCHES,
    FEED_RETENTION, FLOW_RETENTION, MAIL_RETENTION, PURGE_BATCH, RETENTION_AFTER_END, STATISTICS_RETENTION,
};
pub use sealed_values::{BeginSecretRotation, Resealed, SealedColumn, SealedRow, SealedValue, SealedValues};
pub use search_feed::{FeedPosition, FeedRead, SearchChange, SearchEntry, SearchFeed};
pub use session_list::{
    ListLiveSessions, ListedSession, SessionFilter, SessionKey, SessionList, SessionPage, SessionPosition,
};
pub use sessions::{
    BeginPasswordChange, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile, PasswordChange,
    PasswordSet, PresentedRefreshToken, RefreshOutcome, RefreshSession, Sessions, SetPassword, SignIn,
    SignInCandidate, SignInGuard, SignInOutcome, SignInSubject,
};
pub use settings::{SettingChange, Settings, StoredSettings};
pub use signing_keys::{NewSigningKey, SigningKeys, StoredSigningKey};
pub use statistics::{StatisticsStore, StoredStatistics};
pub use undo::{UndoLink, UndoLinks, UndoOutcome, UndoWrites, UseUndoLink};

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_metrics::Collect;

/// A storage engine: the implementation of every trait of the storage contract, and its metrics.
#[async_trait]
pub trait Store:
    Accounts
    + AdminUsers
    + Audit
    + Challenges
    + Deletions
    + EmailChanges
    + EmailCodes
    + EmailSignIns
    + Exports
    + Factors
    + Identities
    + Imports
    + ImportedHashes
    + Instances
    + Limits
    + OAuthFlows
    + OAuthProviders
    + Operators
    + Outbox
    + PageSessions
    + Passkeys
    + Profiles
    + Restores
    + SealedValues
    + SearchFeed
    + SessionList
    + Sessions
    + Settings
    + SigningKeys
    + StatisticsStore
    + UndoLinks
    + Collect
    + Send
    + Sync
    + 'static
{
    /// Readiness check: succeeds if the database can be read and written.
    async fn check(&self) -> StoreResult<()>;

    /// Deletes rows past their retention at `now`. Codes, changes of address, challenges, undo tokens,
    /// pending TOTP factors, used WebAuthn ceremonies, OAuth codes, used provider tokens and counters of
    /// failed attempts are deleted when they expire, and token buckets when they are full. OAuth states are
    /// retained for a day, the client networks known to an account for 30 days after their last sign-in,
    /// search feed changes for one to two days; links, reset tokens and sessions for 7 days after their end, sent
    /// mails for 30 days.
    ///
    /// Deletes at most a few thousand rows per table in one call. Returns the number of deleted rows; 0 means that
    /// nothing is left to delete.
    async fn purge(&self, now: Timestamp) -> StoreResult<u64>;
}
