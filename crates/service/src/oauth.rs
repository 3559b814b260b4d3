//! Signing in through identity providers (RFC 6749 with PKCE, OpenID Connect). How a provider is talked to is in
//! `latchkey-oauth`; who may open which account is decided in [`latchkey_domain::identity`].
//!
//! | Verb | File |
//! |---|---|
//! | signInWithOAuth, link | [`start`] |
//! | the browser comes back from the provider | [`callback`] |
//! | the app exchanges the code | [`exchange`] |
//! | a native app brings an `id_token` | [`id_token`] |
//! | the owner lists and unlinks identities | [`identities`] |
//! | an admin configures providers | [`provider_configs`] |
//! | which providers there are now | [`providers`] |

pub mod callback;
mod draft;
pub mod exchange;
pub mod id_token;
pub mod identities;
pub mod provider_configs;
pub mod providers;
mod sign_in;
pub mod start;

pub use latchkey_oauth::SecretText;
