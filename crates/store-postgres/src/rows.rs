//! From rows to the types of the domain. A value that no row may hold is [`StoreError::Corrupt`], never a panic.

use std::net::IpAddr;

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, KeyId, LeaseId, MailId, ProfileId, SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::StoreError;
use serde_json::{Map, Value};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::errors::{Fallible, Fault};

/// Reads the columns of a row in their order.
pub(crate) struct Cells<'r> {
    row: &'r Row,
    table: &'static str,
    at: usize,
}

impl<'r> Cells<'r> {
    /// Begins at the first column, which is of `table`.
    pub(crate) const fn new(row: &'r Row, table: &'static str) -> Self {
        Self { row, table, at: 0 }
    }

    /// Says of which table the next columns are.
    pub(crate) const fn of(&mut self, table: &'static str) -> &mut Self {
        self.table = table;
        self
    }

    /// That the column holds no such thing.
    pub(crate) fn corrupt(&self, column: &'static str) -> Fault {
        StoreError::Corrupt { table: self.table, column }.into()
    }

    /// The next column, null or not; of another type than asked for it is corrupt.
    fn maybe<T: FromSql<'r>>(&mut self, column: &'static str) -> Fallible<Option<T>> {
        let value = self.row.try_get::<_, Option<T>>(self.at);
        self.at += 1;
        value.map_err(|_| self.corrupt(column))
    }

    fn get<T: FromSql<'r>>(&mut self, column: &'static str) -> Fallible<T> {
        let value = self.maybe(column)?;
        value.ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn int(&mut self, column: &'static str) -> Fallible<i64> {
        self.get(column)
    }

    pub(crate) fn maybe_int(&mut self, column: &'static str) -> Fallible<Option<i64>> {
        self.maybe(column)
    }

    pub(crate) fn count(&mut self, column: &'static str) -> Fallible<u32> {
        let number: i64 = self.get(column)?;
        number.try_into().map_err(|_| self.corrupt(column))
    }

    pub(crate) fn flag(&mut self, column: &'static str) -> Fallible<bool> {
        self.get(column)
    }

    pub(crate) fn time(&mut self, column: &'static str) -> Fallible<Timestamp> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub(crate) fn maybe_time(&mut self, column: &'static str) -> Fallible<Option<Timestamp>> {
        Ok(self.maybe(column)?.map(Timestamp::from_millis))
    }

    pub(crate) fn text(&mut self, column: &'static str) -> Fallible<&'r str> {
        self.get(column)
    }

    pub(crate) fn maybe_text(&mut self, column: &'static str) -> Fallible<Option<String>> {
        self.maybe(column)
    }

    /// A text that stands for something else.
    pub(crate) fn parsed<T>(
        &mut self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Fallible<T> {
        parse(self.text(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn bytes(&mut self, column: &'static str) -> Fallible<Vec<u8>> {
        self.get(column)
    }

    pub(crate) fn maybe_bytes(&mut self, column: &'static str) -> Fallible<Option<Vec<u8>>> {
        self.maybe(column)
    }

    pub(crate) fn array<const N: usize>(&mut self, column: &'static str) -> Fallible<[u8; N]> {
        let bytes: &[u8] = self.get(column)?;
        bytes.try_into().map_err(|_| self.corrupt(column))
    }

    pub(crate) fn hash(&mut self, column: &'static str) -> Fallible<TokenHash> {
        self.array(column).map(TokenHash::from_bytes)
    }

    pub(crate) fn id<T: Id>(&mut self, column: &'static str) -> Fallible<T> {
        self.get(column).map(T::from_stored)
    }

    pub(crate) fn maybe_id<T: Id>(&mut self, column: &'static str) -> Fallible<Option<T>> {
        Ok(self.maybe(column)?.map(T::from_stored))
    }

    pub(crate) fn email(&mut self, column: &'static str) -> Fallible<Email> {
        self.parsed(column, |text| Email::parse(text).ok())
    }

    pub(crate) fn maybe_email(&mut self, column: &'static str) -> Fallible<Option<Email>> {
        let text = self.maybe_text(column)?;
        text.map(|text| Email::parse(&text).map_err(|_| self.corrupt(column))).transpose()
    }

    pub(crate) fn json(&mut self, column: &'static str) -> Fallible<Value> {
        self.parsed(column, |text| serde_json::from_str(text).ok())
    }

    pub(crate) fn object(&mut self, column: &'static str) -> Fallible<Map<String, Value>> {
        self.parsed(
            column,
            |text| if text == "{}" { Some(Map::new()) } else { serde_json::from_str(text).ok() },
        )
    }

    /// Two columns, `address` and `user_agent`.
    pub(crate) fn client(&mut self) -> Fallible<Client> {
        let client = self.maybe_client()?;
        client.ok_or_else(|| self.corrupt("address"))
    }

    /// Two columns, `address` and `user_agent`; none without an address.
    pub(crate) fn maybe_client(&mut self) -> Fallible<Option<Client>> {
        let address = self.maybe::<&str>("address")?.map(str::parse::<IpAddr>).transpose();
        let address = address.map_err(|_| self.corrupt("address"))?;
        let user_agent = self.maybe_text("user_agent")?;
        Ok(address.map(|address| Client { address: ClientAddress::new(address), user_agent }))
    }
}

/// An identifier that is kept as a UUID.
pub(crate) trait Id {
    /// Takes it back.
    fn from_stored(uuid: Uuid) -> Self;
}

macro_rules! ids {
    ($($name:ident)*) => {
        $(impl Id for $name {
            fn from_stored(uuid: Uuid) -> Self {
                Self::from_uuid(uuid)
            }
        })*
    };
}

ids!(UserId ProfileId SessionId MailId EventId LeaseId KeyId);

/// The text of a JSON object.
pub(crate) fn object_text(object: &Map<String, Value>) -> Fallible<String> {
    serde_json::to_string(object).map_err(|error| crate::errors::driver(error).into())
}
