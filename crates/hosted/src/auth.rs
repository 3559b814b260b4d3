//! Pages below `/auth`.

pub(crate) mod account;
pub(crate) mod challenge;
pub(crate) mod continuing;
pub(crate) mod error;
pub(crate) mod forgot;
pub(crate) mod mail_code;
mod mailed_link;
pub(crate) mod passkey_options;
pub(crate) mod provider;
pub(crate) mod reset;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod sign_up;
mod tokens;
pub(crate) mod verified;
pub(crate) mod verify;
