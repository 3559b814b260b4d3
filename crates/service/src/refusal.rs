//! Refusals: the error responses of use cases that the caller can act on. Each is a constant with code, HTTP
//! status, message, next step of the user, and the condition that causes it. The HTTP error responses,
//! `docs/errors.md` and the `OpenAPI` document are generated from these constants.

mod accounts;
mod admin;
mod factors;
mod general;
mod imports;
mod mailbox;
mod oauth;
mod operators;
mod outbox;
mod passkeys;
mod passwords;
mod profiles;
mod search;
mod sessions;

use std::time::Duration;

pub use accounts::*;
pub use admin::*;
pub use factors::*;
pub use general::*;
pub use imports::*;
pub use mailbox::*;
pub use oauth::*;
pub use operators::*;
pub use outbox::*;
pub use passkeys::*;
pub use passwords::*;
pub use profiles::*;
pub use search::*;
pub use sessions::*;

/// All error codes, one list per module of use cases. The generated documents sort the codes by status, then
/// by this order.
pub const CAPABILITIES: &[&[&Refusal]] = &[
    search::ROWS,
    passwords::ROWS,
    mailbox::ROWS,
    sessions::ROWS,
    factors::ROWS,
    passkeys::ROWS,
    accounts::ROWS,
    profiles::ROWS,
    admin::ROWS,
    imports::ROWS,
    operators::ROWS,
    oauth::ROWS,
    outbox::ROWS,
    general::ROWS,
];

/// A refusal: an error response with its documentation. Several constants may have the same code; they differ
/// in message, next step or waiting time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The machine-readable code. It never changes.
    pub name: &'static str,
    /// The HTTP status. Each code has exactly one.
    pub status: u16,
    /// One sentence for the user, without field values or internals.
    pub message: &'static str,
    /// The request field that is invalid, if it is the same for every request.
    pub field: Option<&'static str>,
    /// The value of `Retry-After`, if a later repetition may succeed.
    pub retry_after: Option<Duration>,
    /// The condition under which the code is returned, for the generated documents. It covers all constants
    /// with this code.
    pub when: &'static str,
    /// The user's next step, as a sentence.
    pub next_action: &'static str,
}

/// Declares one refusal per error code, and `ROWS`, the list of them. A further refusal with the same code is
/// a constant outside the macro: `Refusal { message: "…", ..OTHER }`.
#[macro_export]
macro_rules! refusals {
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    ($($name:ident $status:literal $message:literal
        $(, field $field:literal)? $(, retry $seconds:literal)?, when $when:literal, next $next:literal;)+) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: ", $when, ".")]
            pub const $name: $crate::refusal::Refusal = $crate::refusal::Refusal {
                name: stringify!($name),
                status: $status,
                message: $message,
                field: $crate::refusals!(@option $($field)?),
                retry_after: $crate::refusals!(@option $(::std::time::Duration::from_secs($seconds))?),
                when: $when,
                next_action: $next,
            };
        )+

        /// The refusals of this module, one per error code.
        pub(crate) const ROWS: &[&$crate::refusal::Refusal] = &[$(&$name),+];
    };
}
