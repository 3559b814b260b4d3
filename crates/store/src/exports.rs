//! Contract for the export of all accounts.

use async_trait::async_trait;
use latchkey_domain::identity::{Issuer, ProviderKey};
use latchkey_domain::ids::FactorId;
use latchkey_domain::locale::Locale;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;

use crate::error::StoreResult;
use crate::imported_hashes::HashKey;
use crate::oauth_providers::FoundProvider;
use crate::passkeys::VerifiablePasskey;
use crate::settings::StoredSettings;

/// Number of accounts of a page. Some pages are in memory at a time, each in several forms, and an account may have some
/// hundred kilobytes.
pub const EXPORTED_PAGE: u32 = 100;

/// An account with everything that an export has of it.
#[derive(Debug, Clone)]
pub struct ExportedAccount {
    /// The account.
    pub user: User,
    /// Hash of its password; `None` without one.
    pub password: Option<PasswordHash>,
    /// True if the password is known to come from the mailbox's owner.
    pub has_proven_password: bool,
    /// Time at which an address of it was first verified; `None` if none ever was.
    pub first_verified_at: Option<Timestamp>,
    /// Language of its mails; `None` if no request named one.
    pub locale: Option<Locale>,
    /// Profile; `None` without one.
    pub profile: Option<Profile>,
    /// Linked identities.
    pub identities: Vec<ExportedIdentity>,
    /// Confirmed TOTP factors.
    pub totp: Vec<ExportedTotp>,
    /// Passkeys.
    pub passkeys: Vec<VerifiablePasskey>,
}

/// A linked identity in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedIdentity {
    /// Key of the provider.
    pub provider: ProviderKey,
    /// Issuer of the subject.
    pub issuer: Issuer,
    /// Id of the user at the provider.
    pub subject: String,
    /// Email address that the provider reported; `None` if it reported none.
    pub email: Option<String>,
}

/// A TOTP factor in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedTotp {
    /// Id of the factor, to which the sealed secret is bound.
    pub id: FactorId,
    /// Name of the factor.
    pub name: String,
    /// The sealed secret.
    pub sealed: Vec<u8>,
}

/// What an export has beside the accounts.
#[derive(Debug, Clone, Default)]
pub struct ExportedInstance {
    /// Keys that hashes name.
    pub hash_keys: Vec<HashKey>,
    /// Identity providers.
    pub providers: Vec<FoundProvider>,
    /// Settings that an admin changed.
    pub settings: StoredSettings,
}

/// Page of an export.
#[derive(Debug, Clone)]
pub enum ExportedPage {
    /// The first page: what there is beside the accounts.
    Instance(ExportedInstance),
    /// The next accounts, in the order of their ids.
    Accounts(Vec<ExportedAccount>),
}

/// Receiver of the pages of an export.
#[async_trait]
pub trait ExportReceiver: Send {
    /// Takes the next page. Returns false if no further one is wanted.
    async fn take(&mut self, page: ExportedPage) -> bool;
}

/// Export of all accounts.
#[async_trait]
pub trait Exports {
    /// Reads what there is beside the accounts, and all of them but pending ones, in the order of their ids and from one
    /// snapshot, and hands them over page by page. With `since`, only those that were created or changed, or whose profile
    /// was, at that time or later.
    async fn export_accounts(
        &self,
        since: Option<Timestamp>,
        receiver: Box<dyn ExportReceiver>,
    ) -> StoreResult<()>;
}
