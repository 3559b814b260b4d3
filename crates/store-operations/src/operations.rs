//! Operations: one file per business fact.

pub(crate) mod accounts;
pub(crate) mod admin_users;
pub(crate) mod audit;
pub(crate) mod change_password;
pub(crate) mod claim_mails;
pub(crate) mod guards;
pub(crate) mod identities;
pub(crate) mod link_identity;
pub(crate) mod mail_links;
pub(crate) mod oauth_flows;
pub(crate) mod oauth_providers;
pub(crate) mod outbox;
pub(crate) mod profiles;
pub(crate) mod prove_mailbox;
pub(crate) mod refresh;
pub(crate) mod request_code;
pub(crate) mod reset_password;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod sign_in_with_identity;
pub(crate) mod sign_up;
pub(crate) mod signing_keys;
pub(crate) mod takes;
pub(crate) mod unlink_identity;
pub(crate) mod verify_code;
