//! Refusals of sign-in through identity providers.

use std::time::Duration;

use super::{EMAIL_EXISTS, EMAIL_NOT_VERIFIED, FORBIDDEN, NOT_FOUND, Refusal, SERVICE_BUSY, SETTING_PINNED};
use crate::refusals;

refusals! {
    INVALID_OAUTH_CODE 400
        "The code is not valid, was used before, or does not belong to this verifier or session.",
        when "the exchange code or its verifier is wrong; the code is burnt",
        next "Start the sign-in with the provider again.";
    UNSUPPORTED_PROVIDER 400 "There is no identity provider of this name.",
        when "no identity provider has this name",
        next "Use one of the providers that the public settings list.";
    PROVIDER_NOT_CONFIGURED 400 "The identity provider is not configured.",
        when "the identity provider is known and has no credentials yet",
        next "Ask the operator to configure this provider, or use another one.";
    INVALID_ID_TOKEN 401 "The identity provider's token is not valid or was used before.",
        when "the identity provider's token does not pass its checks",
        next "Sign in with the provider again to get a new token.";
    PROVIDER_EXISTS 409 "An identity provider with this key exists.",
        when "an identity provider with this key exists",
        next "Choose another key, or update the existing provider.";
    LAST_SIGN_IN_METHOD 409 "This is the last way to sign in to this account.",
        when "unlinking would leave no way to sign in",
        next "Set a password or link another provider first.";
    IDENTITY_TAKEN 409 "This identity is linked to another account.",
        when "the identity is linked to another account",
        next "Sign in with that identity, or unlink it there first.";
}

/// The identity provider does not respond, or violates its protocol.
pub const PROVIDER_UNAVAILABLE: Refusal = Refusal {
    message: "The identity provider does not answer at the moment.",
    retry_after: Some(Duration::from_secs(10)),
    ..SERVICE_BUSY
};

/// An account with the identity's email address exists. The identity is not linked to the account and may not be linked
/// automatically.
pub const SIGN_IN_TO_LINK: Refusal = Refusal {
    message: "An account with this email exists: sign in to link this provider.",
    field: None,
    next_action: "Sign in with the account's own method, then link this provider.",
    ..EMAIL_EXISTS
};

/// A new account needs an email address, and the identity provider gives none.
pub const PROVIDER_WITHOUT_EMAIL: Refusal = Refusal {
    message: "The identity provider gives no email address.",
    next_action: "Sign up with an email address, then link this provider.",
    ..FORBIDDEN
};

/// A new account needs a verified address, and the identity provider does not assert that it is.
pub const PROVIDER_EMAIL_NOT_VERIFIED: Refusal = Refusal {
    message: "The identity provider did not verify the email address: verify it there, or sign in to link this \
              provider.",
    next_action: "Verify the address at the provider, or sign in another way and link this provider.",
    ..EMAIL_NOT_VERIFIED
};

/// An admin tries to change an identity provider that the settings file configures.
pub const PROVIDER_PINNED: Refusal =
    Refusal { message: "This identity provider is pinned by the service's configuration.", ..SETTING_PINNED };

/// No identity provider of this kind and key is configured.
pub const PROVIDER_NOT_FOUND: Refusal = Refusal { message: "Not found: identity provider.", ..NOT_FOUND };

/// No linked identity of the caller has this id.
pub const IDENTITY_NOT_FOUND: Refusal = Refusal { message: "Not found: identity.", ..NOT_FOUND };
