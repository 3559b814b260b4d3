//! Building blocks of operations: statements in one dialect, scripts, results, and the executor that an engine
//! implements.

mod cells;
mod executor;
mod results;
mod script;
mod sql;
mod value;

pub use cells::{Cell, Cells, Row, StoredId, WrongKind};
pub use executor::{Decided, Executor, Finish, Repeat};
pub use results::{ResultSource, Results, Taken};
pub use script::{ProfileWrite, Script, Slot, Statement, TakeRequest};
pub(crate) use sql::statements;
pub use sql::{Sql, to_sqlite};
pub use value::{Value, object_text};
pub(crate) use value::{clean, values};
