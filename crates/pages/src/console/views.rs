//! Views of the console: one type per page, with the values that its template shows. A field of type `Option<Form>` is an
//! act that the role of the operator may not allow.

mod entrance;
mod events;
mod import;
mod mails;
mod operators;
mod other;
mod overview;
mod parts;
mod settings;
mod user;
mod users;

pub(super) use crate::views::word;
pub use entrance::{Activate, ActivateStep, Confirm, ConfirmStep, ConfirmWay, Purpose, SignIn};
pub use events::{Audit, By, Detail, EventRow, EventTotal};
pub use import::{Export, ImportNew, ImportPage, ImportRow, Imports, ProblemCount, ReportRow};
pub use mails::{MailFate, MailRow, Mails};
pub use operators::{
    ActivationLink, Grant, KeyState, OperatorRow, Operators, Signing, SigningKey, WaitingRow, WaitingState,
};
pub use other::{Again, ErrorCause, ErrorPage, Irreversible, IrreversibleAct, SessionRow, Sessions};
pub use overview::{Check, Database, Day, Hashing, InstanceRow, Numbers, Overview, System, Warning};
pub use parts::{AccountState, Choice, ClientShown, Column, Direction, Filter, Listing, PersonLink};
pub use settings::{
    Adjusted, DiffKind, DiffLine, Provider, ProviderTest, Providers, RedirectOutcome, RedirectTester,
    Setting, SettingChange, SettingField, SettingGroup, Settings, Source, ThemePage,
};
pub use user::{
    Avatar, ChangeAddress, FactorRow, IdentityRow, LimitRow, Obstacle, OperatorMark, PublicProfile,
    SetPassword, UserActs, UserPage, UserSession, Ways, limit_name,
};
pub use users::{BulkAct, BulkOutcome, BulkResult, Chosen, ChosenRow, Outcome, UserNew, UserRow, Users};
