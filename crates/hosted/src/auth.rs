//! Pages below `/auth`.

pub(crate) mod forgot;
pub(crate) mod reset;
