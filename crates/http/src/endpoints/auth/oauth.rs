//! `/api/auth/oauth`: sign-in through identity providers, and the providers for an admin. Built-in providers have their
//! key right behind this path, custom ones behind `custom/`.

pub mod callback;
pub mod configs;
pub mod exchange;
pub mod start;

pub use configs::{
    BuiltInConfigBody, BuiltInConfigsBody, ChangeBuiltInRequest, ChangeCustomRequest, ClientBody,
    CreateBuiltInRequest, CreateCustomRequest, CustomConfigBody, CustomConfigsBody,
};
