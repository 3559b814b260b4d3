//! Access to the rows of PostgreSQL through the trait [`Row`].

use std::error::Error;

use latchkey_store_operations::form::{Cell, Row, WrongKind};
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

/// Adapter that reads a row received from the server as a [`Row`].
pub(crate) struct PostgresRow<'r>(pub(crate) &'r tokio_postgres::Row);

impl<'r> PostgresRow<'r> {
    fn cell<T: FromSql<'r>>(&self, at: usize) -> Cell<T> {
        self.0.try_get(at).map_err(|_| WrongKind)
    }
}

impl Row for PostgresRow<'_> {
    fn int(&self, at: usize) -> Cell<i64> {
        self.cell(at)
    }

    fn flag(&self, at: usize) -> Cell<bool> {
        self.cell(at)
    }

    fn text(&self, at: usize) -> Cell<&str> {
        self.cell(at)
    }

    fn bytes(&self, at: usize) -> Cell<&[u8]> {
        self.cell(at)
    }

    fn id(&self, at: usize) -> Cell<Uuid> {
        self.cell(at)
    }

    fn is_null(&self, at: usize) -> bool {
        matches!(self.cell::<Anything>(at), Ok(None))
    }
}

/// Target type for decoding a column of any type, to find out whether it is null.
struct Anything;

impl<'a> FromSql<'a> for Anything {
    fn from_sql(_: &Type, _: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
