//! OAuth 2.0 and OpenID Connect client: the provider table (data, in `providers`), the authorization request, and the
//! validation of responses. All outbound requests use one HTTP client, which is guarded against server-side request
//! forgery.
//!
//! The storage of states, codes and identities, their linking to accounts, and sessions are in the crates `store` and
//! `service`.

mod authorization;
mod cache;
mod client_auth;
mod discovery;
mod error;
mod flow;
mod id_token;
mod identity;
mod keys;
mod mapping;
pub mod outbound;
mod pkce;
mod provider;
pub mod providers;
mod secret;
mod text;
mod token;

pub use error::{IdTokenFault, ProviderError, Stage};
pub use flow::{AuthorizationRequest, Grant, IdToken, ProviderClient};
pub use identity::{ProviderIdentity, VerifiedIdToken};
pub use outbound::{InvalidOutbound, Lookup, Networks, OutboundSettings, Proxy};
pub use pkce::PkceVerifier;
pub use provider::{ClientSecret, ClientSettings, InvalidProvider, Provider};
pub use secret::SecretText;
