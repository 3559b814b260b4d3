//! Identity providers from the settings file and from the database. The use cases are in the module `oauth`.

mod draft;
mod in_force;

pub(crate) use draft::Draft;
pub use in_force::{ConfiguredProvider, KnownProvider, OAuthParts, ProviderDescription, ProviderInput};
pub(crate) use in_force::{ProviderRegistry, kind_of};
