//! The outbound half of OAuth 2.0 and OpenID Connect: which providers there are (data, in `providers`), how a person is
//! sent to one, and how what comes back is proved. Every request to the outside goes through one guarded client.
//!
//! Not here: states, codes and identities in the database, linking, sessions. Those belong to the store and to the use
//! cases of the service.

mod authorization;
mod cache;
mod client_proof;
mod discovery;
mod error;
mod flow;
mod id_token;
mod identity;
mod keys;
pub mod outbound;
mod pkce;
mod provider;
pub mod providers;
mod reading;
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
