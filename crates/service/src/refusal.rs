//! Refusals: every answer of a use case that is the caller's to act on. Each is one row: code, status, message, next
//! action, condition. The HTTP answers, `docs/errors.md` and the `OpenAPI` document follow from the rows.

mod accounts;
mod admin;
mod general;
mod mailbox;
mod oauth;
mod outbox;
mod passwords;
mod profiles;
mod search;
mod sessions;

use std::time::Duration;

pub use accounts::*;
pub use admin::*;
pub use general::*;
pub use mailbox::*;
pub use oauth::*;
pub use outbox::*;
pub use passwords::*;
pub use profiles::*;
pub use search::*;
pub use sessions::*;

/// The rows with a code of their own, by room. The documents list codes by status, then in this order.
pub const ROOMS: &[&[&Refusal]] = &[
    search::ROWS,
    passwords::ROWS,
    mailbox::ROWS,
    sessions::ROWS,
    accounts::ROWS,
    profiles::ROWS,
    admin::ROWS,
    oauth::ROWS,
    outbox::ROWS,
    general::ROWS,
];

/// One row: a refusal with its words. Rows of the same code differ in message, next action or wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The code, for programs. Stable.
    pub name: &'static str,
    /// The HTTP status that always goes with the code.
    pub status: u16,
    /// One sentence for people. Never the value of a field, never anything internal.
    pub message: &'static str,
    /// The field of the request that is wrong, if it is always the same.
    pub field: Option<&'static str>,
    /// The time after which a repetition may succeed.
    pub retry_after: Option<Duration>,
    /// The condition for the documents: a phrase about the code, not the row.
    pub when: &'static str,
    /// The remedy, for people.
    pub next_action: &'static str,
}

/// Declares rows with a code of their own, and `ROWS`, the list of them. A further row of the same code is a constant
/// beside it: `Refusal { message: "…", ..OTHER }`.
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

        /// The rows with a code of their own.
        pub(crate) const ROWS: &[&$crate::refusal::Refusal] = &[$(&$name),+];
    };
}
