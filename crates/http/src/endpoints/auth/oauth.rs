//! `/api/auth/oauth`: sign-in through identity providers, and the providers for an admin. Built-in providers have their
//! key right behind this path, custom ones behind `custom/`.

pub mod callback;
pub mod configs;
pub mod exchange;
pub mod start;

use latchkey_domain::identity::ProviderKind;

pub use configs::{
    BuiltInConfigBody, BuiltInConfigsBody, ChangeBuiltInRequest, ChangeCustomRequest, ClientBody,
    CreateBuiltInRequest, CreateCustomRequest, CustomConfigBody, CustomConfigsBody,
};

/// The kind of provider that a path is about.
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
