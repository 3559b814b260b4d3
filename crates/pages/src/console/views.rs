//! Views of the console: one type per page, with the values that its template shows. A field of type `Option<Form>` is an
//! act that the role of the operator may not allow.

mod entrance;
mod parts;
mod users;

pub use entrance::{Activate, ActivateStep, Confirm, ConfirmStep, ConfirmWay, Purpose, SignIn};
pub(super) use parts::word;
pub use parts::{AccountState, Choice, Column, Direction, Filter, Listing, PersonLink};
pub use users::{BulkAct, BulkOutcome, BulkResult, Chosen, ChosenRow, Outcome, UserNew, UserRow, Users};
