//! Building blocks of operations: SQL statements, scripts of statements, their results, and the [`Executor`] that an
//! engine implements.

mod cells;
mod erased;
mod executor;
mod metered;
mod name_query;
mod results;
mod script;
mod sql;
mod value;

pub use cells::{Cell, Cells, Row, WrongKind};
pub use executor::{Decided, Executor, Finish, Pages, Receiver, Repeat};
pub use metered::Metered;
pub use name_query::NameQuery;
pub use results::{ResultSource, Results, Taken};
pub use script::{ManyValues, ProfileWrite, Script, Slot, Statement, TakeRequest};
pub(crate) use sql::statements;
pub use sql::{Sql, to_sqlite};
pub use value::{Value, object_text};
pub(crate) use value::{clean, stored_id, values};
