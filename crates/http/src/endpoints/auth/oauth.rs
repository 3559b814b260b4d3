//! `/api/auth/oauth`: sign-in through identity providers, and their configuration by an admin. Paths of a built-in
//! provider continue with its key, those of a custom provider with `custom/` and its key.

pub mod callback;
pub mod configs;
pub mod exchange;
pub mod start;

use latchkey_domain::identity::ProviderKind;

pub use configs::{
    BuiltInConfigBody, BuiltInConfigsBody, ChangeBuiltInRequest, ChangeCustomRequest, ClientBody,
    CreateBuiltInRequest, CreateCustomRequest, CustomConfigBody, CustomConfigsBody,
};

/// Kind of provider in a path. Handlers are generic over this trait, so one handler serves the paths of both kinds.
pub(crate) trait PathKind: Send + Sync + 'static {
    const KIND: ProviderKind;
}

/// Built-in providers: `/api/auth/oauth/{provider}/…`.
pub(crate) struct BuiltIn;

/// Custom providers: `/api/auth/oauth/custom/{key}/…`.
pub(crate) struct Custom;

impl PathKind for BuiltIn {
    const KIND: ProviderKind = ProviderKind::BuiltIn;
}

impl PathKind for Custom {
    const KIND: ProviderKind = ProviderKind::Custom;
}
