//! Views of the own account: overview, profile, activity, data.

use latchkey_domain::audit::AuditKind;
use serde::Serialize;

use super::parts::{Device, Session, word};
use crate::frame::Form;
use crate::message::{Wait, When};
use crate::view::views;

/// Overview of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    pub email: String,
    pub is_verified: bool,
    /// URL at which the address can be changed, or verified if it is not; `None` if no mail can be sent.
    pub change_email: Option<String>,
    pub profile: Option<ProfileSummary>,
    pub has_password: bool,
    /// Number of passkeys; `None` if passkeys are off and there is none.
    pub passkeys: Option<u64>,
    /// True if two-step sign-in is on; `None` if it is off and the operator offers none.
    pub two_step: Option<bool>,
    pub recovery_codes_left: u64,
    /// Names of linked providers; `None` if no provider is configured.
    pub providers: Option<Vec<String>>,
    /// Some sessions, the current one first.
    pub sessions: Vec<Session>,
    /// Number of all sessions of the account.
    pub session_count: u64,
    /// Form that ends one session.
    pub end: Form,
}

/// The name under which others see the account.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileSummary {
    pub name: String,
    pub username: Option<String>,
}

/// A scheduled deletion of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Deletion {
    pub at: When,
    /// Form that cancels the deletion.
    pub keep: Form,
}

/// The form of the profile.
#[derive(Debug, Clone, Serialize)]
pub struct Profile {
    pub form: Form,
    /// Version of the profile that the form changes (`ETag`); empty for a new profile.
    pub version: String,
    pub fields: ProfileFields,
    pub longest_name: u64,
    pub longest_username: u64,
    pub longest_bio: u64,
    pub longest_avatar_url: u64,
    pub conflict: Option<Conflict>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct ProfileFields {
    pub name: String,
    pub username: String,
    pub bio: String,
    pub avatar_url: String,
}

/// Conflict with a change made elsewhere in the meantime. The page shows the stored values beside the
/// entered ones.
#[derive(Debug, Clone, Serialize)]
pub struct Conflict {
    pub stored: ProfileFields,
    /// URL of the form with the stored values.
    pub discard: String,
}

/// Security events of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Activity {
    /// Security events, newest first.
    pub events: Vec<Event>,
    /// URL of earlier events; `None` if there are none.
    pub older: Option<String>,
}

/// A security event.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    #[serde(serialize_with = "word")]
    pub kind: AuditKind,
    pub at: When,
    /// Device of the client that caused the event; `None` if the operator did.
    pub device: Option<Device>,
    /// True if the event happened in the session that shows the page.
    pub is_current: bool,
}

/// Export of the data, and deletion of the account.
#[derive(Debug, Clone, Serialize)]
pub struct AccountData {
    pub export: Form,
    /// Form that deletes the account.
    pub delete: Form,
    /// Time for which a deleted account can be restored; `None` if it is deleted at once.
    pub grace: Option<Wait>,
}

/// The account after its owner deleted it, shown to the browser that did.
#[derive(Debug, Clone, Serialize)]
pub struct Deleted {
    /// The scheduled deletion; `None` if the account is deleted for good.
    pub deletion: Option<Deletion>,
}

views! {
    Account "account.html"
    Profile "account_profile.html"
    Activity "account_activity.html"
    AccountData "account_data.html"
    Deleted "account_deleted.html"
}
