//! Operations of the storage contract, grouped by concept: those that are long, or that share steps with
//! others. Short operations are in [`crate::engine`].

pub(crate) mod answer_challenge;
pub(crate) mod begin_challenge;
pub(crate) mod begin_email_change;
pub(crate) mod change_factors;
pub(crate) mod change_passkeys;
pub(crate) mod change_password;
pub(crate) mod code_attempts;
pub(crate) mod code_lanes;
pub(crate) mod confirm_email_change;
pub(crate) mod delete_account;
pub(crate) mod enroll_totp;
pub(crate) mod enrolling;
pub(crate) mod entry;
pub(crate) mod factors;
pub(crate) mod guards;
pub(crate) mod identities;
pub(crate) mod link_identity;
pub(crate) mod mail_links;
pub(crate) mod open_from_page;
pub(crate) mod prove_mailbox;
pub(crate) mod refresh;
pub(crate) mod register_passkey;
pub(crate) mod request_code;
pub(crate) mod request_sign_in_mail;
pub(crate) mod reset_password;
pub(crate) mod second_factor_guard;
pub(crate) mod sign_in;
pub(crate) mod sign_in_by_mail;
pub(crate) mod sign_in_with_identity;
pub(crate) mod sign_in_with_passkey;
pub(crate) mod sign_up;
pub(crate) mod takes;
pub(crate) mod undo;
pub(crate) mod unlink_identity;
pub(crate) mod verify_code;
