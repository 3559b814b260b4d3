//! Views of the own account: overview, profile, activity, data.

use latchkey_domain::audit::AuditKind;
use serde::{Serialize, Serializer};

use super::parts::{Device, Session};
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// Overview of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    pub email: String,
    pub is_verified: bool,
    /// Address that verifies, while the address is not.
    pub verify: Option<String>,
    pub profile: Option<ProfileSummary>,
    pub has_password: bool,
    /// Number of passkeys; `None` if passkeys are off and there is none.
    pub passkeys: Option<u64>,
    pub has_two_step: bool,
    pub recovery_codes_left: u64,
    /// Names of linked providers; `None` if no provider is configured.
    pub providers: Option<Vec<String>>,
    /// Some sessions, the current one first.
    pub sessions: Vec<Session>,
    /// Number of all sessions.
    pub session_count: u64,
    /// Ends one session.
    pub end: Form,
    pub deletion: Option<Deletion>,
}

/// The public name of an account.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileSummary {
    pub name: String,
    pub username: Option<String>,
}

/// A deletion that was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Deletion {
    pub at: When,
    /// Keeps the account.
    pub keep: Form,
}

/// The form of the profile.
#[derive(Debug, Clone, Serialize)]
pub struct Profile {
    pub form: Form,
    /// Version that the form changes (`ETag`); empty for a new profile.
    pub version: String,
    pub fields: ProfileFields,
    pub longest_bio: u64,
    pub conflict: Option<Conflict>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ProfileFields {
    pub name: String,
    pub username: String,
    pub bio: String,
    pub avatar_url: String,
}

/// The profile was changed elsewhere in the meantime: the stored version stands beside the typed one.
#[derive(Debug, Clone, Serialize)]
pub struct Conflict {
    pub stored: ProfileFields,
    /// Address of the form with the stored version.
    pub discard: String,
}

/// Security events of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Activity {
    /// Newest first.
    pub events: Vec<Event>,
    /// Address of earlier events.
    pub older: Option<String>,
}

/// A security event.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    #[serde(serialize_with = "word")]
    pub kind: AuditKind,
    pub at: When,
    /// `None` for an act of the operator.
    pub device: Option<Device>,
    /// True if this session did it.
    pub is_current: bool,
}

/// Export and deletion.
#[derive(Debug, Clone, Serialize)]
pub struct AccountData {
    pub export: Form,
    /// Deletes the account; `None` in the grace period.
    pub delete: Option<Form>,
    /// Days in which the account can be restored; 0 if it is deleted at once.
    pub grace_days: u64,
    pub deletion: Option<Deletion>,
}

views! {
    Account "account.html"
    Profile "account_profile.html"
    Activity "account_activity.html"
    AccountData "account_data.html"
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn word<S: Serializer>(kind: &AuditKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}
