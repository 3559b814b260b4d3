//! Identity providers: those of the settings file and those of the database.

mod draft;
mod in_force;

pub(crate) use draft::Draft;
pub use in_force::{ConfiguredProvider, KnownProvider, OAuthParts, ProviderDescription, ProviderInput};
pub(crate) use in_force::{ProviderRegistry, kind_of};
